import { strToU8, zipSync } from 'fflate'
import mammoth from 'mammoth'
import PostalMime from 'postal-mime'
import { type ExtractInput, type Extraction, ExtractionError } from '../../../extracted.ts'
import { decodeHtml } from '../../decode-text.ts'
import { htmlToMarkdown } from '../../html/html-to-markdown.ts'
import { escapeText } from '../../markdown/escape-markdown.ts'
import { descendants, escapeXml, scanXml } from '../../xml.ts'
import { OfficePackage, type Relationship } from '../office-package.ts'
import { shownRuns } from '../shown-runs.ts'
import { embeddedContent, withChunks } from './docx-embedded.ts'
import { ListNumbers, withListStarts } from './docx-numbering.ts'
import { rewritePart } from './docx-rewrite.ts'
import { type ParagraphStyles, paragraphStyles } from './docx-styles.ts'

const headBytes = 1024

/** Maximum characters of HTML that are converted at a time: a syntax tree takes many times as much memory. */
const pieceSize = 2 ** 16

const unread =
  /(?:theme|glossary|customXml|embeddings|media)\/|diagrams\/(?!data)|(?:comments\w+|settings|fontTable|webSettings)\.xml$/i
/** Maximum depth of documents within documents. */
const maxChunkDepth = 3
const unreadChunk = 'A document within the document could not be read: open it in Word, and save it anew.'
/** Minimum words of headers and footers that are worth a warning: fewer are page numbers and the like. */
const fewestWords = 5
const relationshipTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
/** Styles that mammoth's own list lacks. */
const styleMap = [
  ...styled('p', ['Source Code', 'HTML Preformatted', 'Preformatted Text'], "pre:separator('\\n')"),
  ...styled('p', ['Quote', 'Intense Quote', 'Block Text', 'Quotations'], 'blockquote > p:fresh'),
  ...styled('r', ['Verbatim Char', 'HTML Code', 'Source Text'], 'code'),
]

/**
 * Reads a text document (ECMA-376 Part 1, WordprocessingML) in its accepted state. Nothing outside of it is loaded.
 * @throws {ExtractionError}
 */
export async function extractDocx({ file }: ExtractInput): Promise<Extraction> {
  const extracted = await readDocx(file)
  if (extracted.markdown === '') throw new ExtractionError('empty', 'The document has no text.')
  return extracted
}

async function readDocx(file: string | Buffer, depth = 0): Promise<Extraction> {
  const document = await OfficePackage.open(file, (name) => !unread.test(name))
  const chunks: (Buffer | undefined)[] = []
  const main = document.main()
  const stylesName = document.relationships(main).find(({ type }) => type === 'styles')?.target ?? ''
  const styles = paragraphStyles(document.xml(stylesName))
  const html = await convert(rewriteDocument(document, styles, chunks))
  const shown = [shownRuns(document, main, styles.contents)]
  const doubts = new Set<string>()
  const nested = async (part: Buffer) => {
    if (depth === maxChunkDepth)
      throw new ExtractionError('too-large', 'Documents are nested too deeply in each other.')
    const inner = await readDocx(part, depth + 1)
    for (const doubt of inner.doubts ?? []) doubts.add(doubt)
    shown.push(inner.shown ?? '')
    return inner.markdown
  }
  const texts: string[] = []
  for (const part of chunks) {
    const text = await chunkMarkdown(part, nested).catch(() => undefined)
    if (text === undefined) doubts.add(unreadChunk)
    texts.push(text ?? '')
  }
  return {
    title: document.title() ?? firstHeading(html),
    markdown: withChunks(docxHtmlToMarkdown(html), texts).trim(),
    anchors: [],
    warnings: leftOut(document),
    doubts: [...doubts],
    shown: shown.join('\n'),
  }
}

/** Returns warnings about text outside the body, such as headers and comments. */
function leftOut(document: OfficePackage): string[] {
  const links = document.relationships(document.main()).filter(({ external }) => !external)
  const parts = (...types: string[]) =>
    links.filter(({ type }) => types.includes(type)).map(({ target }) => document.xml(target))
  const texts = parts('header', 'footer').flatMap((part) => descendants(part, 't').map(({ text }) => text))
  const words = texts.join(' ').match(/\p{L}{2,}/gu)?.length ?? 0
  const comments = parts('comments').flatMap((part) => descendants(part, 'comment')).length
  return [
    ...(words >= fewestWords ? [`Headers and footers were left out: ${words} words.`] : []),
    ...(comments > 0 ? [`Comments were left out: ${comments}.`] : []),
  ]
}

/** Returns a small document of the parts that are read, each checked and reduced before a library parses it. */
function rewriteDocument(document: OfficePackage, styles: ParagraphStyles, chunks: (Buffer | undefined)[]): Buffer {
  const main = document.main()
  const links = document.relationships(main)
  const nameOf = (type: string) => links.find((link) => link.type === type && !link.external)?.target ?? ''
  const isOutward = (link: Relationship) => link.type === 'hyperlink' && link.external
  const numbers = new ListNumbers(document.xml(nameOf('numbering')))
  const context = { styles, numbers, embedded: embeddedContent(document, links, chunks) }
  const root = { id: 'main', type: 'officeDocument', target: 'word/document.xml', external: false }
  const parts: Record<string, Uint8Array> = { '_rels/.rels': relationshipsPart([root]) }
  const written: Relationship[] = []
  for (const type of ['document', 'footnotes', 'endnotes', 'styles', 'numbering']) {
    const name = type === 'document' ? main : nameOf(type)
    const original = document.part(name)
    if (original === undefined) continue
    const isText = type !== 'styles' && type !== 'numbering'
    if (!isText) scanXml(original, { open: () => {}, text: () => {}, close: () => {} })
    const xml = isText ? rewritePart(original, context) : undefined
    if (type === 'document' && !xml?.includes('<w:document')) {
      throw new ExtractionError('wrong-type', 'The file is an Office document, but no text document.')
    }
    parts[`word/${type}.xml`] = xml === undefined ? original : strToU8(xml)
    if (type === 'document') continue
    written.push({ id: `part-${type}`, type, target: `${type}.xml`, external: false })
    if (isText) parts[`word/_rels/${type}.xml.rels`] = relationshipsPart(document.relationships(name).filter(isOutward))
  }
  parts['word/_rels/document.xml.rels'] = relationshipsPart([...written, ...links.filter(isOutward)])
  return Buffer.from(zipSync(parts, { level: 0 }))
}

function relationshipsPart(links: readonly Relationship[]): Uint8Array {
  const written = links.map(({ id, type, target, external }) => {
    const mode = external ? ' TargetMode="External"' : ''
    return `<Relationship Id="${escapeXml(id)}" Type="${relationshipTypes}/${type}" Target="${escapeXml(target)}"${mode}/>`
  })
  const namespace = 'http://schemas.openxmlformats.org/package/2006/relationships'
  return strToU8(`<Relationships xmlns="${namespace}">${written.join('')}</Relationships>`)
}

function styled(element: 'p' | 'r', styles: readonly string[], html: string): string[] {
  return styles.map((style) => `${element}[style-name='${style}'] => ${html}`)
}

async function convert(buffer: Buffer): Promise<string> {
  try {
    const options = { styleMap, externalFileAccess: false, includeEmbeddedStyleMap: false }
    return withListStarts((await mammoth.convertToHtml({ buffer }, options)).value)
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new ExtractionError('too-large', 'The document is nested too deeply to be read.', { cause })
    }
    throw new ExtractionError('corrupt', 'The document is damaged: its text cannot be read.', { cause })
  }
}

function firstHeading(html: string): string | undefined {
  const heading = /<h1>.*?<\/h1>/s.exec(html)?.[0] ?? /<h[2-6]>.*?<\/h[2-6]>/s.exec(html)?.[0]
  return heading === undefined
    ? undefined
    : htmlToMarkdown(heading.replace(/h[1-6]>/g, 'p>')).slice(0, 300) || undefined
}

/** Converts the HTML that mammoth writes to Markdown, piece by piece. Notes follow the piece that refers to them. */
function docxHtmlToMarkdown(html: string): string {
  const start = html.search(/<ol><li id="(?:foot|end)note-/)
  const body = start < 0 ? html : html.slice(0, start)
  const items = start < 0 ? [] : html.slice(start + '<ol>'.length).split(/(?=<li id="(?:foot|end)note-)/)
  const notes = new Map(
    items.map((item) => [/^<li id="([^"]*)"/.exec(item)?.[1] ?? '', item.replace(/<\/ol>.*$/s, '')]),
  )
  return piecesOf(body)
    .map((piece) => htmlToMarkdown(piece + notesOf(piece, notes)))
    .filter((markdown) => markdown !== '')
    .join('\n\n')
}

function notesOf(piece: string, notes: ReadonlyMap<string, string>): string {
  const ids = new Set(Array.from(piece.matchAll(/href="#((?:foot|end)note-[^"]*)"/g), ([, id]) => id ?? ''))
  const items = [...ids].flatMap((id) => notes.get(id) ?? [])
  return items.length === 0 ? '' : `<ol>${items.join('')}</ol>`
}

/** Splits HTML between outermost elements. */
function piecesOf(html: string): string[] {
  const pieces: string[] = []
  let depth = 0
  let start = 0
  for (const { 0: tag, index } of html.matchAll(/<[^>]*>/g)) {
    if (!tag.endsWith('/>')) depth += tag.startsWith('</') ? -1 : 1
    const end = index + tag.length
    if (depth === 0 && end - start >= pieceSize) {
      pieces.push(html.slice(start, end))
      start = end
    }
  }
  return [...pieces, html.slice(start)]
}

/**
 * Returns the Markdown of a document that is a part of another one: HTML, HTML in a message (RFC 2557), plain text, or a text document,
 * which `readDocx` reads. Undefined for other formats.
 */
async function chunkMarkdown(
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
