import { htmlToMarkdown } from '../../html/html-to-markdown.ts'

/** Characters of HTML that are converted at a time: their syntax tree takes many times as much memory. */
const pieceSize = 2 ** 16

/** Converts the HTML that mammoth writes to Markdown, piece by piece. Notes follow the piece that refers to them. */
export function docxHtmlToMarkdown(html: string): string {
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

/** Cut between two elements that are in no other. */
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
