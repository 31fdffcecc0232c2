import jschardet from 'jschardet'
import { ExtractionError } from '../extracted.ts'

const boms: [number[], string][] = [
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]
const patternBytes = 4096
const guessedBytes = 64 * 1024
/** Characters; what is text so far is taken for text. */
const checkedLength = 2 ** 20
const minConfidence = 0.2
/** Of a text's characters, what may be control characters. */
const maxControlShare = 0.005

/**
 * The text of a file whose encoding is found out: by its byte order mark, its pattern of NULs (UTF-16), `declared`, strict UTF-8, its
 * statistics, and else windows-1252. Line ends become `\n`.
 * @throws {ExtractionError} `wrong-type` where the bytes are no text.
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const text = decodeMarked(bytes) ?? decodeDeclared(bytes, declared) ?? decodeUtf8(bytes) ?? decodeGuessed(bytes)
  checkIsText(text)
  return text.replace(/\r\n?/g, '\n')
}

function decodeMarked(bytes: Uint8Array): string | undefined {
  const [mark, encoding] = boms.find(([mark]) => mark.every((byte, index) => bytes[index] === byte)) ?? []
  if (encoding?.startsWith('utf-32')) return decodeUtf32(bytes.subarray(4), encoding.endsWith('le'))
  if (mark && encoding) return new TextDecoder(encoding).decode(bytes)
  const byNuls = utf16ByNuls(bytes.subarray(0, patternBytes))
  return byNuls && new TextDecoder(byNuls).decode(bytes)
}

/** In UTF-16 of most texts every other byte is NUL; in other encodings none is. */
function utf16ByNuls(bytes: Uint8Array): string | undefined {
  const nuls = [0, 0]
  for (const [index, byte] of bytes.entries()) if (byte === 0) nuls[index % 2] = (nuls[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = nuls
  const many = bytes.length * 0.2
  if (odd > many && even < odd / 20) return 'utf-16le'
  return even > many && odd < even / 20 ? 'utf-16be' : undefined
}

function decodeUtf32(bytes: Uint8Array, isLittleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: string[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, isLittleEndian)
    parts.push(point <= 0x10ffff ? String.fromCodePoint(point) : '\uFFFD')
  }
  return parts.join('')
}

function decodeDeclared(bytes: Uint8Array, declared: string | undefined): string | undefined {
  // Whoever declares UTF-16 in a page that can be read as ASCII is wrong.
  return declared === undefined || /^utf-?(?:8|16|32)/i.test(declared) ? undefined : decodeAs(bytes, declared)
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  return decodeAs(bytes, 'utf-8')
}

function decodeGuessed(bytes: Uint8Array): string {
  const firstSpecial = bytes.findIndex((byte) => byte > 127)
  const sample = Buffer.from(bytes.subarray(Math.max(0, firstSpecial - 1024), firstSpecial + guessedBytes))
  const { encoding, confidence } = jschardet.detect(sample)
  const guess = encoding !== null && confidence >= minConfidence ? decodeAs(bytes, encoding) : undefined
  return guess ?? new TextDecoder('windows-1252').decode(bytes)
}

/** `undefined` for what is not wholly in that encoding, or an encoding that is not known. */
function decodeAs(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function checkIsText(text: string): void {
  const start = text.slice(0, checkedLength)
  let controls = 0
  for (const { 0: run } of start.matchAll(/[^\P{Cc}\s\b\u{80}-\u{9F}]+/gu)) controls += run.length
  if (controls > start.length * maxControlShare) {
    throw new ExtractionError('wrong-type', 'The document is not text, whatever its extension says.')
  }
}
