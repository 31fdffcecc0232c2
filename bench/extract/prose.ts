import { generateNotes } from '../support/notes.ts'

export type Block =
  | { kind: 'heading'; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; items: string[] }
  | { kind: 'table'; rows: string[][] }

/** Returns the blocks of a document of this many characters, made from a seed: sections of prose with lists and small tables. */
export function blocksOf(characters: number): Block[] {
  const blocks: Block[] = []
  let size = 0
  for (const { title, text } of generateNotes(Math.ceil(characters / 800))) {
    if (size >= characters) break
    const body = text.slice(text.indexOf('\n---\n') + 5).trim()
    for (const part of [`# ${title}`, ...body.split('\n\n')]) {
      const block = blockOf(plain(part))
      blocks.push(block)
      size += part.length
    }
  }
  return blocks
}

/** Links and emphasis are left out, since each format has its own. */
function plain(markdown: string): string {
  return markdown.replace(/\[\[(?:[^|\]]*\|)?([^\]]*)\]\]/g, '$1').replace(/\*\*|`+(?:ts\n)?/g, '')
}

function blockOf(text: string): Block {
  const lines = text.trim().split('\n')
  const first = lines[0] ?? ''
  if (first.startsWith('#')) return { kind: 'heading', text: first.replace(/^#+ /, '') }
  if (first.startsWith('- ')) return { kind: 'list', items: lines.map((line) => line.slice(2)) }
  if (!first.startsWith('|')) return { kind: 'paragraph', text: lines.join(' ') }
  const rows = lines.filter((_, at) => at !== 1).map((line) => line.slice(1, -1).split('|'))
  return { kind: 'table', rows: rows.map((row) => row.map((cell) => cell.trim())) }
}
