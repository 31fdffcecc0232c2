import { asInlineMarkdown, linkTo, plainLine } from '../markdown/escape-markdown.ts'
import { markdownTable } from '../markdown/markdown-table.ts'
import { raisedText } from '../raised-text.ts'
import { child, descendants, relationshipId, type XmlElement } from '../xml.ts'
import type { Relationship } from './office-package.ts'

const maxLevel = 8

export type Paragraph = {
  /** One line. */
  markdown: string
  level: number
  /** Marker before the paragraph, if the paragraph itself declares one. */
  bullet: 'bullet' | 'number' | 'none' | undefined
}

/** Returns the paragraphs of a body of text (DrawingML) that are not blank. */
export function paragraphsOf(body: XmlElement, links: readonly Relationship[]): Paragraph[] {
  return body.children
    .filter(({ name }) => name === 'p')
    .map((paragraph) => {
      const properties = child(paragraph, 'pPr')
      const level = Math.min(Math.max(Number(properties?.attributes.lvl) || 0, 0), maxLevel)
      return { markdown: lineOf(paragraph, links), level, bullet: bulletOf(properties) }
    })
    .filter(({ markdown }) => markdown !== '')
}

/** Paragraphs as Markdown; neighbours that are items become a list. */
export function textBlocks(paragraphs: readonly Paragraph[], byDefault: 'bullet' | 'none'): string[] {
  const blocks: string[] = []
  let list: string[] = []
  let indents: number[] = []
  const endList = () => {
    if (list.length > 0) blocks.push(list.join('\n'))
    list = []
    indents = []
  }
  for (const { markdown, level, bullet = level > 0 ? 'bullet' : byDefault } of paragraphs) {
    if (bullet === 'none') {
      endList()
      blocks.push(markdown)
      continue
    }
    // A list may begin at a deep level or skip one, which Markdown takes for code.
    indents.length = Math.min(indents.length, level)
    const marker = bullet === 'number' ? '1.' : '-'
    list.push(`${' '.repeat(indents.reduce((sum, width) => sum + width, 0))}${marker} ${markdown}`)
    while (indents.length < level) indents.push(0)
    indents.push(marker.length + 1)
  }
  endList()
  return blocks
}

/** Returns the texts of a diagram (SmartArt, ECMA-376 Part 1, 21.4), in the order of its data. */
export function diagramTexts(data: XmlElement): string[] {
  return descendants(data, 'p')
    .map(drawingText)
    .filter((text) => text !== '')
}

export function drawingText(paragraph: XmlElement): string {
  return paragraph.children
    .reduce((line, part) => line + runText(part, line), '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Superscripts and subscripts are runs of another baseline (21.1.2.3.9). `before` is the text in front. */
function runText(run: XmlElement, before: string): string {
  if (run.name === 'br') return ' '
  const text = child(run, 't')?.text ?? ''
  const baseline = Number.parseInt(child(run, 'rPr')?.attributes.baseline ?? '0', 10)
  return baseline ? raisedText(text, baseline > 0 ? 'sup' : 'sub', before) : text
}

function lineOf(paragraph: XmlElement, links: readonly Relationship[]): string {
  const linked = paragraph.children.some((run) => child(run, 'rPr', 'hlinkClick'))
  if (!linked) return plainLine(drawingText(paragraph))
  const line = paragraph.children.reduce((written, run) => {
    const text = runText(run, written)
    const link = child(run, 'rPr', 'hlinkClick')
    const id = link && relationshipId(link.attributes)
    const address = links.find((each) => each.external && each.id === id)?.target
    const [, before = '', label = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
    return `${written}${before}${linkTo(address, plainLine(label))}${after}`
  }, '')
  return line.replace(/\s+/g, ' ').trim()
}

function bulletOf(properties: XmlElement | undefined): Paragraph['bullet'] {
  for (const { name } of properties?.children ?? []) {
    if (name === 'buNone') return 'none'
    if (name === 'buAutoNum') return 'number'
    if (name === 'buChar' || name === 'buBlip') return 'bullet'
  }
  return undefined
}

/** Maximum points of a chart that are written as a table. */
const maxPoints = 200

export type ChartTable = {
  title: string
  /** Plain text; the first row names the series. */
  rows: string[][]
  /** References to the cells that the values come from, such as `Sheet1!$B$2:$B$5`. */
  references: string[]
}

/** Returns the title of a chart and its values as last saved, with a column for each series. */
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

/** Returns the cached values by index, and `total`, the number of points. Nested categories are reduced to their innermost level. */
function points(data: XmlElement | undefined): Map<number, string> & { total: number } {
  const level = descendants(data, 'lvl')[0] ?? data
  const all = descendants(level, 'pt')
  const values = all
    .slice(0, maxPoints)
    .map((point): [number, string] => [Number(point.attributes.idx), child(point, 'v')?.text.trim() ?? ''])
  return Object.assign(new Map(values), { total: Number(all.at(-1)?.attributes.idx ?? -1) + 1 })
}
