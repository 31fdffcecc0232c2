import { markdownTable } from './office-table.ts'
import { inlineText, plainLine } from './office-text.ts'
import { child, descendants, type XmlElement } from './office-xml.ts'
import { plainText } from './pptx-text.ts'

/** Points beyond which a chart is data and no longer text. */
const maxPoints = 200

/** The title of a chart and its values, as they were when it was saved last, with a column for each series. */
export function chartBlocks(chart: XmlElement): string[] {
  const title = descendants(child(chart, 'chart', 'title'), 'p')
    .map(plainText)
    .join(' ')
    .trim()
  const series = descendants(child(chart, 'chart', 'plotArea'), 'ser').map((each) => ({
    name: points(child(each, 'tx')).get(0) ?? '',
    categories: points(child(each, 'cat') ?? child(each, 'xVal')),
    values: points(child(each, 'val') ?? child(each, 'yVal')),
  }))
  const categories = series.find((each) => each.categories.size > 0)?.categories ?? new Map<number, string>()
  const count = Math.min(series.reduce((most, { values }) => Math.max(most, ...values.keys(), -1), -1) + 1, maxPoints)
  const header = ['', ...series.map(({ name }) => inlineText(name))]
  const rows = Array.from({ length: count }, (_, at) =>
    [categories.get(at), ...series.map(({ values }) => values.get(at))].map((value) => inlineText(value ?? '')),
  )
  return [...(title === '' ? [] : [plainLine(title)]), ...(count > 0 ? [markdownTable([header, ...rows])] : [])]
}

/** The cached values by their index, of the innermost level where there are several. */
function points(data: XmlElement | undefined): Map<number, string> {
  const level = descendants(data, 'lvl')[0] ?? data
  const values = descendants(level, 'pt').slice(0, maxPoints)
  return new Map(values.map((point) => [Number(point.attributes.idx), child(point, 'v')?.text.trim() ?? '']))
}
