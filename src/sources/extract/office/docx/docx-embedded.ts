import { escapeXml, type XmlElement } from '../../xml.ts'
import { type ChartTable, chartTable, diagramTexts } from '../drawing-text.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'

/**
 * Returns what a document shows of another part, as paragraphs and tables; empty for elements that show none. `element` is the name of
 * the element that refers to the part, `id` that of the relationship.
 */
export type EmbeddedContent = (element: string, id: string) => string

/** Around the number of a chunk while the document is HTML. */
const [begin, end] = ['\u{F0002}', '\u{F0003}']
const mark = new RegExp(`${begin}(\\d{1,9})${end}(\\n*)`, 'gu')

/**
 * Reads the charts and diagrams of a document. Chunks (`altChunk`, ECMA-376 Part 1, 17.17.2) are other documents in the text: their
 * parts are added to `chunks`, and marks stand for them, which `withChunks` replaces.
 */
export function embeddedContent(
  document: OfficePackage,
  links: readonly Relationship[],
  chunks: (Buffer | undefined)[],
): EmbeddedContent {
  const targetOf = (type: string, id: string) =>
    links.find((link) => link.id === id && link.type === type && !link.external)?.target
  const xmlOf = (type: string, id: string): XmlElement | undefined => {
    const target = targetOf(type, id)
    return target === undefined ? undefined : document.xml(target)
  }
  return (element, id) => {
    const chart = element === 'chart' ? xmlOf('chart', id) : undefined
    if (chart !== undefined) return chartContent(chartTable(chart))
    const diagram = element === 'relIds' ? xmlOf('diagramData', id) : undefined
    if (diagram !== undefined) return diagramTexts(diagram).map(paragraph).join('')
    if (element !== 'altChunk') return ''
    chunks.push(document.part(targetOf('aFChunk', id) ?? ''))
    return paragraph(`${begin}${chunks.length - 1}${end}`)
  }
}

/** Replaces the marks of chunks in Markdown by their texts. */
export function withChunks(markdown: string, texts: readonly string[]): string {
  return markdown.replace(mark, (_, at: string, gap: string) => {
    const text = texts[Number(at)] ?? ''
    return text === '' ? '' : text + gap
  })
}

function chartContent({ title, rows }: ChartTable): string {
  const row = (cells: readonly string[], at: number) =>
    `<w:tr>${at === 0 ? '<w:trPr><w:tblHeader/></w:trPr>' : ''}${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`
  return (title === '' ? '' : paragraph(title)) + (rows.length > 0 ? `<w:tbl>${rows.map(row).join('')}</w:tbl>` : '')
}

function paragraph(text: string): string {
  return `<w:p><w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`
}
