import { asInlineMarkdown, plainLine } from '../markdown/as-inline-markdown.ts'
import { markdownTable } from '../markdown/markdown-table.ts'
import { child, descendants, type XmlElement } from '../xml.ts'
import { drawingText } from './drawing-text.ts'

/** Points beyond which a chart is data and no longer text. */
const maxPoints = 200

export type ChartTable = {
  title: string
  /** Plain text; the first row names the series. */
  rows: string[][]
  /** References to the cells that the values come from, such as `Sheet1!$B$2:$B$5`. */
  references: string[]
}

/** The title of a chart and its values, as they were when it was saved last, with a column for each series. */
export function chartTable(chart: XmlElement): ChartTable {
  const title = descendants(child(chart, 'chart', 'title'), 'p')
    .map(drawingText)
    .join(' ')
    .trim()
  const elements = descendants(child(chart, 'chart', 'plotArea'), 'ser')
  const series = elements.map((each) => ({
    name: points(child(each, 'tx')).get(0) ?? '',
    categories: points(child(each, 'cat') ?? child(each, 'xVal')),
    values: points(child(each, 'val') ?? child(each, 'yVal')),
  }))
  const categories = series.find((each) => each.categories.size > 0)?.categories ?? new Map<number, string>()
  const total = Math.max(0, ...series.map(({ values }) => values.total))
  const count = total > maxPoints ? maxPoints - 1 : total
  const rows = Array.from({ length: count }, (_, at) =>
    [categories.get(at), ...series.map(({ values }) => values.get(at))].map((value) => value ?? ''),
  )
  if (total > count) rows.push([`… and ${total - count} more points`, ...series.map(() => '')])
  return {
    title,
    rows: count > 0 ? [['', ...series.map(({ name }) => name)], ...rows] : [],
    references: elements.flatMap((each) =>
      descendants(child(each, 'val') ?? child(each, 'yVal'), 'f').map(({ text }) => text),
    ),
  }
}

export function chartBlocks({ title, rows }: ChartTable): string[] {
  const table = rows.length > 0 ? [markdownTable(rows.map((row) => row.map(asInlineMarkdown)))] : []
  return [...(title === '' ? [] : [plainLine(title)]), ...table]
}

/** The cached values by their index, of the innermost level where there are several, and how many places there are. */
function points(data: XmlElement | undefined): Map<number, string> & { total: number } {
  const level = descendants(data, 'lvl')[0] ?? data
  const all = descendants(level, 'pt')
  const values = all
    .slice(0, maxPoints)
    .map((point): [number, string] => [Number(point.attributes.idx), child(point, 'v')?.text.trim() ?? ''])
  return Object.assign(new Map(values), { total: Number(all.at(-1)?.attributes.idx ?? -1) + 1 })
}
