import { atxHeading } from '../../rules/text/atx-heading.ts'
import { closesFence } from '../../rules/text/fence.ts'
import { quotable, withoutHtmlComments } from './shown-text.ts'

/** A block of Markdown that an answer can quote: a paragraph on one line, a list item, a table row, or code. */
export type AnswerBlock = {
  kind: 'paragraph' | 'item' | 'row' | 'code'
  /** Markdown without block markup; the content of a code fence. */
  text: string
  /** Marker before each quotation: `- `, `3. `; the language of code. */
  marker: string
  /** Headings inside the chunk above the block, outermost first: short sections share a chunk. */
  headings: readonly string[]
}

const fence = /^\s*(`{3,}|~{3,})\s*([\w+-]*)[^`]*$/
const item = /^\s*(?:([-*+])|(\d{1,9})[.)])\s+(?:\[[ xX]\]\s+)?/
/** Matches a definition in a definition list: `: A folder.` below `vault`. */
const definition = /^\s{0,3}:\s+(?=\S)/
const underline = /^\s{0,3}(?:=+|-+)\s*$/
const rule = /^\s{0,3}(?:[-*_]\s*){3,}$/
/** Matches a bar between cells. */
const bar = /\S\s*(?<!\\)\|\s*\S/
const separatorRow = /^[\s|:-]*-[\s|:-]*$/
/** Matches one of several lines with a fact each: `Developed by: Ada`. */
const fact = /^\s{0,3}[*_]{0,2}\p{L}[\p{L}\p{N} '’()/-]{0,40}(?::[*_]{0,2}|[*_]{1,2}:)\s+\S/u
/**
 * Matches the start or end of a box or a tab: `!!! note "Before you begin"` and `=== "Linux"` of MkDocs, `:::caution` of
 * Docusaurus, `{{< hint >}}` of Hugo, `{% note %}` of Jekyll.
 */
const container =
  /^\s*(?:(?:!!!|\?\?\?\+?|===)(?:\s+[\w-]+)*(?:\s+"[^"]*")?|:::+\s*[\w-]*(?:\s.*)?|\{\{[<%].*[>%]\}\}|\{%.*%\})\s*$/s
/** Matches a line of MDX that shows nothing: `import Note from './note'`. */
const moduleLine = /^(?:import\s.*\sfrom\s+|import\s+)['"][^'"]+['"];?\s*$/
const quote = /^\s{0,3}>\s?(?:\[![\w-]+\][-+]?\s*)?/

/** Returns the blocks of a chunk, without its headings. The reading is approximate: whatever is misread is still text of the chunk. */
export function blocksOf(content: string): AnswerBlock[] {
  const blocks: AnswerBlock[] = []
  const lines = withoutHtmlComments(content).split(/\r\n|[\r\n]/)
  let open: AnswerBlock | undefined
  let header: string[] | undefined
  let headings: { depth: number; text: string }[] = []
  const under = () => headings.map(({ text }) => text)
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? '').replace(quote, '')
    const [, mark, language = ''] = fence.exec(line) ?? []
    const [marker, bullet, number] = item.exec(line) ?? []
    const title = atxHeading(line)
    if (mark !== undefined) {
      const end = closingLine(lines, at, mark)
      blocks.push({ kind: 'code', text: dedent(lines.slice(at + 1, end)), marker: language, headings: under() })
      at = end
      open = undefined
    } else if (open?.kind === 'paragraph' && underline.test(line)) {
      headings = [{ depth: line.includes('=') ? 1 : 2, text: quotable(open.text) }]
      blocks.pop()
      open = undefined
    } else if (title !== undefined) {
      const { level: depth, text } = title
      headings = [...headings.filter((above) => above.depth < depth), { depth, text: quotable(text) }]
      open = undefined
    } else if (line.trim() === '' || rule.test(line) || container.test(line) || moduleLine.test(line)) {
      open = undefined
    } else if (definition.test(line) && defined(blocks.at(-1), lines[at - 1])) {
      open = define(blocks, line.replace(definition, '').trim())
    } else if (marker !== undefined) {
      const text = line.slice(marker.length)
      open = add(blocks, {
        kind: 'item',
        text,
        marker: bullet === undefined ? `${number}. ` : '- ',
        headings: under(),
      })
    } else if (isRow(line, [lines[at - 1], lines[at + 1]], header !== undefined)) {
      const cells = cellsOf(line)
      if (header === undefined && separatorRow.test(lines[at + 1] ?? '')) header = cells
      else if (!separatorRow.test(line))
        blocks.push({ kind: 'row', text: rowText(header ?? [], cells), marker: '- ', headings: under() })
      open = undefined
      continue
    } else if (fact.test(line) && [lines[at - 1], lines[at + 1]].some((beside = '') => fact.test(beside))) {
      open = add(blocks, { kind: 'item', text: line.trim(), marker: '- ', headings: under() })
    } else if (open !== undefined) {
      open.text += ` ${line.trim()}`
    } else {
      open = add(blocks, { kind: 'paragraph', text: line.trim(), marker: '', headings: under() })
    }
    header = undefined
  }
  return blocks.map((block) => (block.kind === 'code' ? block : { ...block, text: quotable(block.text) }))
}

/**
 * True if a line is a table row. It needs no leading bar below a separator row, or beside lines with bars: the rest of a long
 * table is a chunk without its header.
 */
function isRow(line: string, beside: readonly (string | undefined)[], isInTable: boolean): boolean {
  if (line.trimStart().startsWith('|')) return true
  return isInTable ? line.includes('|') : bar.test(line) && beside.some((other = '') => bar.test(other))
}

function add(blocks: AnswerBlock[], block: AnswerBlock): AnswerBlock {
  blocks.push(block)
  return block
}

/** True if the line before, a term in a definition list, is a block of its own. */
function defined(last: AnswerBlock | undefined, before = ''): last is AnswerBlock {
  return last?.kind === 'paragraph' && last.text.endsWith(before.trim()) && before.trim() !== ''
}

/** Turns the last block and its definition into an item. */
function define(blocks: AnswerBlock[], text: string): AnswerBlock | undefined {
  const term = blocks.pop()
  return term && add(blocks, { ...term, kind: 'item', marker: '- ', text: `${term.text}: ${text}` })
}

function closingLine(lines: readonly string[], start: number, mark: string): number {
  for (let at = start + 1; at < lines.length; at++) {
    if (closesFence((lines[at] ?? '').trim(), mark)) return at
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
  return cells.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Writes a row as text: `Severity: SEV1; First response: 15 minutes`. */
function rowText(header: readonly string[], cells: readonly string[]): string {
  const named = cells.map((cell, index) => (header[index] ? `${header[index]}: ${cell}` : cell))
  return named.filter((cell) => !/^(?:.*:)?\s*$/.test(cell)).join('; ')
}
