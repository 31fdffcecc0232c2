import PostalMime from 'postal-mime'
import { decodeHtml } from '../../encoding/read-text.ts'
import { htmlToMarkdown } from '../../html/html-to-markdown.ts'
import { escapeText } from '../../markdown/escape-text.ts'

const headBytes = 1024

/**
 * Returns the Markdown of a document that is a part of another one: HTML, HTML in a message (RFC 2557), plain text, or a text document,
 * which `readDocx` reads. Undefined for other formats.
 */
export async function chunkMarkdown(
  part: Buffer | undefined,
  readDocx: (bytes: Buffer) => Promise<string>,
): Promise<string | undefined> {
  const head = part?.toString('latin1', 0, headBytes) ?? ''
  if (part === undefined || head.startsWith('{\\rtf') || head.includes('<pkg:package')) return undefined
  if (head.startsWith('PK')) return readDocx(part)
  if (/^(?:mime-version|content-type|from)\s*:/im.test(head)) {
    const { html, text = '' } = await PostalMime.parse(part)
    return html === undefined ? plainText(text) : htmlToMarkdown(html)
  }
  const { text } = decodeHtml(part)
  return /<[a-z!]/i.test(text) ? htmlToMarkdown(text) : plainText(text)
}

function plainText(text: string): string {
  return text.split(/\r?\n/).map(escapeText).join('\n').trim()
}
