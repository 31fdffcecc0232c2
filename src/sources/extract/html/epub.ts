import { posix } from 'node:path'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { decodeText } from '../encoding/decode-text.ts'
import { child, descendants, parseXml, type XmlElement } from '../xml.ts'
import { readZip } from '../zip-guard.ts'
import { collapse } from './hast.ts'
import { htmlToMarkdown } from './html-to-markdown.ts'

const maxChapters = 5_000
const text = /\.(?:xhtml|html?|xml|opf)$/i
/** Fonts are obscured in books that are not protected. */
const fontObfuscation = /(?:idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC)$/

/** A book (EPUB 2 and 3): its chapters in the order of its spine. Protected ones are refused. */
export const extractEpub: Extractor = async ({ file }) => {
  const parts = await readZip(file, (name) => text.test(name))
  refuseProtected(parts)
  const name = child(xmlOf(parts, 'META-INF/container.xml'), 'rootfiles', 'rootfile')?.attributes['full-path']
  const book = name === undefined ? undefined : xmlOf(parts, name)
  if (name === undefined || book === undefined) throw new ExtractionError('wrong-type', 'The file is no EPUB book.')
  const lines: string[] = []
  const missing: string[] = []
  for (const chapter of chaptersOf(book, posix.dirname(name))) {
    const part = parts.get(chapter)
    if (part === undefined) missing.push(posix.basename(chapter))
    else {
      const markdown = htmlToMarkdown(decodeText(part).text)
      if (markdown !== '') lines.push(...markdown.split('\n'), '')
    }
  }
  if (lines.length === 0) throw new ExtractionError('empty', 'The book has no text.')
  return {
    title: collapse(child(book, 'metadata', 'title')?.text ?? '') || undefined,
    markdown: lines.join('\n').trimEnd(),
    anchors: [],
    warnings: missing.length > 0 ? [`Chapters that the file lacks: ${missing.slice(0, 20).join(', ')}.`] : [],
  }
}

function xmlOf(parts: ReadonlyMap<string, Buffer>, name: string): XmlElement | undefined {
  const part = parts.get(name)
  return part && parseXml(part)
}

function refuseProtected(parts: ReadonlyMap<string, Buffer>): void {
  const methods = descendants(xmlOf(parts, 'META-INF/encryption.xml'), 'EncryptionMethod')
  if (
    parts.has('META-INF/rights.xml') ||
    methods.some(({ attributes }) => !fontObfuscation.test(attributes.Algorithm ?? ''))
  ) {
    throw new ExtractionError('encrypted', 'The book is protected (DRM), and cannot be read.')
  }
}

/** Names of the parts of the spine; notes and the like that stand outside of it are left out. */
function chaptersOf(book: XmlElement, folder: string): string[] {
  const items = new Map(child(book, 'manifest')?.children.map(({ attributes }) => [attributes.id, attributes]))
  const spine = child(book, 'spine')?.children ?? []
  if (spine.length > maxChapters)
    throw new ExtractionError('too-large', `The book has more than ${maxChapters} chapters.`)
  return spine.flatMap(({ attributes }) => {
    const { href, properties = '' } = items.get(attributes.idref) ?? {}
    if (href === undefined || /\bnav\b/.test(properties)) return []
    return [posix.join(folder, decodePath(href.replace(/#.*$/, '')))]
  })
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
