import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import { type ChangeSpec, type EditorState, type Extension, Prec } from '@codemirror/state'
import { type Command, EditorView, keymap } from '@codemirror/view'

/** Range of a cell in the text, without surrounding blanks. */
type Range = { from: number; to: number }
type Row = Range & { cells: Range[]; isRule: boolean }
type Table = { from: number; rows: Row[] }

/** Maximum characters of a line in an aligned table. A longer one would wrap, so the table stays as typed. */
const widest = 120
/** Maximum characters that are parsed to find the end of a table, and milliseconds. */
const ahead = { length: 20_000, time: 50 }
const wide = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u

/** Aligns the source of tables in columns: after an edit, once the caret leaves the table, and with Tab, which moves to the next cell. */
export function alignedTables(): Extension {
  let edited: number | undefined
  const finish = (view: EditorView) => {
    const table = edited === undefined ? undefined : tableAt(view.state, edited)
    edited = undefined
    if (table) align(view, table)
  }
  return [
    EditorView.domEventHandlers({ blur: (_, view) => finish(view) }),
    EditorView.updateListener.of(({ view, state, changes, docChanged, selectionSet, transactions }) => {
      if (!docChanged && !selectionSet) return
      const here = tableAt(state, state.selection.main.head)
      if (edited !== undefined) {
        edited = changes.mapPos(edited)
        if (tableAt(state, edited)?.from !== here?.from) finish(view)
      }
      const isTyped = transactions.some((each) => each.isUserEvent('input') || each.isUserEvent('delete'))
      if (docChanged && isTyped && here) edited = state.selection.main.head
    }),
    // Has a lower priority than the key that accepts a suggestion.
    Prec.low(keymap.of([{ key: 'Tab', run: toCell(1), shift: toCell(-1) }])),
  ]
}

/** Selects the next cell. From the last cell and the first one, the keys leave the text. */
function toCell(step: 1 | -1): Command {
  return (view) => {
    const { head } = view.state.selection.main
    const table = tableAt(view.state, head)
    const cells = cellsOf(table)
    const at = step > 0 ? cells.findLastIndex(({ from }) => from <= head) : cells.findIndex(({ to }) => head <= to)
    const next = (at < 0 && step < 0 ? cells.length : at) + step
    if (table === undefined || cells[next] === undefined) return false
    align(view, table)
    const { from: anchor, to } = cellsOf(tableAt(view.state, table.from))[next] ?? { from: head, to: head }
    view.dispatch({ selection: { anchor, head: to }, scrollIntoView: true })
    return true
  }
}

function cellsOf(table: Table | undefined): Range[] {
  return table?.rows.flatMap(({ cells, isRule }) => (isRule ? [] : cells)) ?? []
}

function tableAt(state: EditorState, at: number): Table | undefined {
  const tree = ensureSyntaxTree(state, Math.min(state.doc.length, at + ahead.length), ahead.time) ?? syntaxTree(state)
  for (const side of [1, -1] as const) {
    let node = tree.resolveInner(at, side)
    while (node.name !== 'Table' && node.parent !== null) node = node.parent
    if (node.name !== 'Table') continue
    const rows: Row[] = []
    for (let row = node.firstChild; row !== null; row = row.nextSibling) {
      const { from, to } = row
      const isRule = row.name === 'TableDelimiter'
      const bars = isRule
        ? [...state.sliceDoc(from, to).matchAll(/\|/g)].map(({ index }) => from + index)
        : row.getChildren('TableDelimiter').map((bar) => bar.from)
      rows.push({ from, to, isRule, cells: cellsBetween(state, [from - 1, ...bars, to]) })
    }
    return { from: node.from, rows }
  }
  return undefined
}

function cellsBetween(state: EditorState, bars: readonly number[]): Range[] {
  const cells = bars.slice(1).map((to, at) => {
    const from = (bars[at] ?? 0) + 1
    const text = state.sliceDoc(from, to)
    const said = text.trim()
    const start = said === '' ? Math.min(from + 1, to) : from + text.indexOf(said)
    return { from: start, to: start + said.length, isOutside: said === '' && (at === 0 || at === bars.length - 2) }
  })
  return cells.filter(({ isOutside }) => !isOutside)
}

function align(view: EditorView, { rows }: Table): void {
  const { state } = view
  const texts = rows.map(({ cells }) => cells.map(({ from, to }) => state.sliceDoc(from, to)))
  const rule = texts[rows.findIndex(({ isRule }) => isRule)] ?? []
  const spoken = texts.filter((_, at) => rows[at]?.isRule === false)
  const widths = Array.from({ length: Math.max(...texts.map(({ length }) => length)) }, (_, column) =>
    Math.max(3, ...spoken.map((cells) => widthOf(cells[column] ?? ''))),
  )
  if (widths.reduce((sum, width) => sum + width + 3, 1) > widest) return
  const changes = rows.flatMap(({ from, to, isRule }, at): ChangeSpec[] => {
    const cells = texts[at] ?? []
    const filled = [...cells, ...rule.slice(cells.length).map(() => '')]
    const padded = filled.map((text, column) => {
      const [width = 0, marks = ''] = [widths[column], rule[column]]
      return isRule ? dashes(text, width) : pad(text, width - widthOf(text), marks)
    })
    const insert = `| ${padded.join(' | ')} |`
    return insert === state.sliceDoc(from, to) ? [] : [{ from, to, insert }]
  })
  // Can be undone separately.
  if (changes.length > 0) view.dispatch({ changes, userEvent: 'format' })
}

function dashes(marks: string, width: number): string {
  const [start, end] = [marks.startsWith(':') ? ':' : '-', marks.endsWith(':') ? ':' : '-']
  return start + '-'.repeat(width - 2) + end
}

/** Pads a cell with blanks. @param marks cell of the delimiter row, which aligns the column */
function pad(text: string, blanks: number, marks: string): string {
  const before = !marks.endsWith(':') ? 0 : marks.startsWith(':') ? Math.floor(blanks / 2) : blanks
  return ' '.repeat(before) + text + ' '.repeat(blanks - before)
}

/** Returns the number of columns that a text takes. */
function widthOf(text: string): number {
  const letters = [...new Intl.Segmenter().segment(text)]
  return letters.reduce((sum, { segment }) => sum + (wide.test(segment) ? 2 : 1), 0)
}
