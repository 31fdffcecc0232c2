import { getDocumentProxy } from 'unpdf'
import { hasBrokenWords, joinPiece } from '../../broken-words.ts'
import { collapse } from '../html/hast.ts'

export type Bookmark = {
  title: string
  /** Level in the outline, 1 at the top. */
  depth: number
  /** Page number, from 1. */
  page: number
}

/** Facts about a document from a second reader, PDF.js, which the first one does not report. */
type PdfFacts = { title: string | undefined; bookmarks: Bookmark[] }

type Document = Awaited<ReturnType<typeof getDocumentProxy>>
type OutlineItem = NonNullable<Awaited<ReturnType<Document['getOutline']>>>[number]

const maxBookmarks = 2000
const maxTitle = 300

/** Reads the document's properties and outline; empty if PDF.js cannot read it. */
export async function pdfFacts(bytes: Buffer): Promise<PdfFacts> {
  const none: PdfFacts = { title: undefined, bookmarks: [] }
  return (await withDocument(bytes, factsOf).catch(() => none)) ?? none
}

/** Returns the plain text of each page, or of the requested pages, as PDF.js reads it. @throws {Error} */
export async function plainPages(
  bytes: Buffer,
  maxPages: number,
  isWanted: (number: number) => boolean = () => true,
): Promise<string[]> {
  return withDocument(bytes, async (document) => {
    const pages: string[] = []
    for (let number = 1; number <= Math.min(document.numPages, maxPages); number++) {
      if (!isWanted(number)) {
        pages.push('')
        continue
      }
      const { items } = await (await document.getPage(number)).getTextContent()
      const pieces = items.filter((item) => 'str' in item)
      const textOf = (change: (text: string) => string) =>
        pieces.map(({ str, hasEOL }) => change(str) + (hasEOL ? '\n' : '')).join('')
      const text = textOf((piece) => piece)
      pages.push(hasBrokenWords(text) ? textOf(joinPiece) : text)
    }
    return pages
  })
}

async function withDocument<T>(bytes: Buffer, use: (document: Document) => Promise<T>): Promise<T> {
  // A copy, since PDF.js takes the memory for itself.
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  try {
    return await use(document)
  } finally {
    await document.cleanup()
  }
}

async function factsOf(document: Document): Promise<PdfFacts> {
  const { info } = await document.getMetadata()
  const title: unknown = 'Title' in info ? info.Title : undefined
  const bookmarks: Bookmark[] = []
  await addBookmarks(document, (await document.getOutline()) ?? [], 1, bookmarks)
  return { title: typeof title === 'string' ? usefulTitle(title) : undefined, bookmarks }
}

async function addBookmarks(document: Document, items: readonly OutlineItem[], depth: number, bookmarks: Bookmark[]) {
  for (const item of items) {
    if (bookmarks.length >= maxBookmarks) return
    const page = await pageOf(document, item.dest).catch(() => undefined)
    const title = cleanTitle(item.title)
    if (page !== undefined && title !== '') bookmarks.push({ title, depth, page })
    await addBookmarks(document, item.items, depth + 1, bookmarks)
  }
}

async function pageOf(document: Document, dest: OutlineItem['dest']): Promise<number | undefined> {
  const target: unknown[] | null = typeof dest === 'string' ? await document.getDestination(dest) : dest
  const place = target?.[0]
  if (typeof place === 'number') return place + 1
  return isReference(place) ? (await document.getPageIndex(place)) + 1 : undefined
}

function isReference(value: unknown): value is { num: number; gen: number } {
  return typeof value === 'object' && value !== null && 'num' in value && 'gen' in value
}

function cleanTitle(title: string): string {
  return collapse(title.replace(/[\p{Cc}\p{Cf}]/gu, ' ')).slice(0, maxTitle)
}

/** Returns the title without a program's name and an extension; undefined if it is useless, since many programs set the file name. */
function usefulTitle(title: string): string | undefined {
  const clean = cleanTitle(title)
    .replace(/^Microsoft \w+ - /i, '')
    .replace(/\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|ps|pdf|odt|rtf)$/i, '')
  return clean === '' || /^(?:untitled|document\d*|slide \d+)$/i.test(clean) ? undefined : clean
}
