import { quotable, withoutHtmlComments } from './shown-text.ts'

/** A block of Markdown that an answer can quote: a paragraph on one line, an item of a list, a row of a table, or code. */
export type Block = {
  kind: 'paragraph' | 'item' | 'row' | 'code'
  /** Markdown without block markup; of code, what is in the fence. */
  text: string
  /** What goes before each quotation of it: `- `, `3. `; of code, its language. */
  marker: string
}

const fence = /^\s*(`{3,}|~{3,})\s*([\w+-]*)[^`]*$/
const item = /^\s*(?:([-*+])|(\d{1,9})[.)])\s+(?:\[[ xX]\]\s+)?/
const heading = /^\s{0,3}#{1,6}(?:\s|$)/
const underline = /^\s{0,3}(?:=+|-+)\s*$/
const rule = /^\s{0,3}(?:[-*_]\s*){3,}$/
const separatorRow = /^[\s|:-]*-[\s|:-]*$/
/** One of several lines that each say one thing: `Developed by: Ada`. */
const fact = /^\s{0,3}[*_]{0,2}\p{L}[\p{L}\p{N} '’()/-]{0,40}(?::[*_]{0,2}|[*_]{1,2}:)\s+\S/u
const quote = /^\s{0,3}>\s?(?:\[![\w-]+\][-+]?\s*)?/

/** The blocks of a chunk, without its headings. A rough reading: whatever it takes wrongly is still text of the chunk. */
export function blocksOf(content: string): Block[] {
  const blocks: Block[] = []
  const lines = withoutHtmlComments(content).split(/\r\n|[\r\n]/)
  let open: Block | undefined
  let header: string[] | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? '').replace(quote, '')
    const [, mark, language = ''] = fence.exec(line) ?? []
    const [marker, bullet, number] = item.exec(line) ?? []
    if (mark !== undefined) {
      const end = closingLine(lines, at, mark)
      blocks.push({ kind: 'code', text: dedent(lines.slice(at + 1, end)), marker: language })
      at = end
      open = undefined
    } else if (open?.kind === 'paragraph' && underline.test(line)) {
      blocks.pop()
      open = undefined
    } else if (line.trim() === '' || heading.test(line) || rule.test(line)) {
      open = undefined
    } else if (marker !== undefined) {
      const text = line.slice(marker.length)
      open = add(blocks, { kind: 'item', text, marker: bullet === undefined ? `${number}. ` : '- ' })
    } else if (line.trimStart().startsWith('|')) {
      const cells = cellsOf(line)
      if (header === undefined && separatorRow.test(lines[at + 1] ?? '')) header = cells
      else if (!separatorRow.test(line)) blocks.push({ kind: 'row', text: rowText(header ?? [], cells), marker: '- ' })
      open = undefined
      continue
    } else if (fact.test(line) && [lines[at - 1], lines[at + 1]].some((beside = '') => fact.test(beside))) {
      open = add(blocks, { kind: 'item', text: line.trim(), marker: '- ' })
    } else if (open !== undefined) {
      open.text += ` ${line.trim()}`
    } else {
      open = add(blocks, { kind: 'paragraph', text: line.trim(), marker: '' })
    }
    header = undefined
  }
  return blocks.map((block) => (block.kind === 'code' ? block : { ...block, text: quotable(block.text) }))
}

function add(blocks: Block[], block: Block): Block {
  blocks.push(block)
  return block
}

function closingLine(lines: readonly string[], start: number, mark: string): number {
  for (let at = start + 1; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim()
    if (line.startsWith(mark) && line === mark.charAt(0).repeat(line.length)) return at
  }
  return lines.length
}

function dedent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const indent = Math.min(...indents, 20)
  return lines.map((line) => line.slice(indent)).join('\n')
}

function cellsOf(row: string): string[] {
  const cells = row.trim().replace(/^\||\|$/g, '')
  return cells.split(/(?<!\\)\|/).map((cell) => cell.trim())
}

/** `Severity: SEV1; First response: 15 minutes`. */
function rowText(header: readonly string[], cells: readonly string[]): string {
  const named = cells.map((cell, index) => (header[index] ? `${header[index]}: ${cell}` : cell))
  return named.filter((cell) => !/^(?:.*:)?\s*$/.test(cell)).join('; ')
}
