/** Matches an encoded word (RFC 2047), also one with a question mark in it, or without its end. */
const encodedWord = /=\?([\w.:-]{1,40})(?:\*[\w-]{0,20})?\?([BQ])\?(.{0,1000}?)(?:\?=|$)/gis
/** Programs that encode a subject again wrap encoded words in others. */
const maxPasses = 2

/**
 * Decodes the encoded words of a header, which mail programs also leave in names of files and titles of printed mails. Neighbouring
 * words of one character set are decoded together: some programs cut a letter in two.
 */
export function decodeEncodedWords(text: string): string {
  let decoded = text
  for (let pass = 0; pass < maxPasses && decoded.includes('=?'); pass++) decoded = decodeOnce(decoded)
  return decoded
}

function decodeOnce(text: string): string {
  const parts: string[] = []
  let open: { charset: string; bytes: Buffer[] } | undefined
  let at = 0
  const close = () => {
    if (open !== undefined) parts.push(decodeBytes(Buffer.concat(open.bytes), open.charset).replace(/\p{Cc}+/gu, ' '))
    open = undefined
  }
  for (const { 0: whole, 1: charset = '', 2: encoding = '', 3: content = '', index } of text.matchAll(encodedWord)) {
    const gap = text.slice(at, index)
    const continues = open !== undefined && gap.trim() === ''
    if (!continues || open?.charset !== charset.toLowerCase()) close()
    if (!continues) parts.push(gap)
    open ??= { charset: charset.toLowerCase(), bytes: [] }
    open.bytes.push(/b/i.test(encoding) ? Buffer.from(content, 'base64') : quotedBytes(content))
    at = index + whole.length
  }
  close()
  return parts.join('') + text.slice(at)
}

function quotedBytes(content: string): Buffer {
  const bytes = Array.from(content.replaceAll('_', ' ').matchAll(/=([0-9A-F]{2})|([\s\S])/giu), ([, code, sign]) =>
    code === undefined ? Buffer.from(sign ?? '') : Buffer.from(code, 'hex'),
  )
  return Buffer.concat(bytes)
}

/** Decodes bytes. An unknown character set is taken for UTF-8 if possible. An incomplete character at the end is dropped. */
function decodeBytes(bytes: Buffer, charset: string): string {
  for (const label of [charset, 'utf-8']) {
    try {
      return new TextDecoder(label, { fatal: label !== charset }).decode(bytes).replace(/\uFFFD+$/, '')
    } catch {}
  }
  return new TextDecoder('windows-1252').decode(bytes)
}
