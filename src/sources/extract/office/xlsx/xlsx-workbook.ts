import { ExtractionError } from '../../../extracted.ts'
import { raisedText } from '../../raised-text.ts'
import { child, descendants, isTrue, relationshipId, scanElements, type XmlElement } from '../../xml.ts'
import { type ChartTable, chartTable } from '../drawing-text.ts'
import type { OfficePackage } from '../office-package.ts'
import { builtInFormat, type NumberFormat, numberFormat } from './xlsx-number-format.ts'

const maxSheets = 1_000
/** Maximum number of charts of a sheet. */
const maxCharts = 200
/** Maximum number of shared strings. */
const maxStrings = 3_000_000
/** Maximum characters of a cell, as in Excel. */
export const maxCell = 32_767

export type Sheet = {
  name: string
  hidden: boolean
  /** Blank if the sheet consists of a chart alone. */
  part: Buffer | undefined
  charts: ChartTable[]
  /** Part names of the drawings on it. */
  drawings: string[]
  comments: () => CellComment[]
}

export type CellComment = { cell: string; author: string; text: string }

export type Workbook = {
  sheets: Sheet[]
  strings: readonly string[]
  /** Number formats by the index of a cell's style. */
  formats: readonly NumberFormat[]
  /** Whether days are counted from 1904, as on old Macs. */
  is1904: boolean
}

export function readWorkbook(document: OfficePackage): Workbook {
  const main = document.main()
  const workbook = document.xml(main)
  if (workbook?.name !== 'workbook') {
    throw new ExtractionError('wrong-type', 'The file is an Office document, but no workbook.')
  }
  const links = document.relationships(main)
  const targetOf = (wanted: string) => links.find(({ type }) => type === wanted)?.target ?? ''
  const sheets = child(workbook, 'sheets')?.children ?? []
  if (sheets.length > maxSheets) throw new ExtractionError('too-large', `The workbook has over ${maxSheets} sheets.`)
  return {
    sheets: sheets.flatMap(({ attributes }) => {
      const link = links.find(({ id }) => id === relationshipId(attributes))
      if (link !== undefined && link.type !== 'worksheet' && link.type !== 'chartsheet') return []
      const hidden = attributes.state === 'hidden' || attributes.state === 'veryHidden'
      const part = link && document.part(link.target)
      const drawings = link === undefined || hidden ? [] : targetsOf(document, link.target, 'drawing')
      const charts = drawings
        .flatMap((drawing) => targetsOf(document, drawing, 'chart'))
        .slice(0, maxCharts)
        .flatMap((target) => document.xml(target) ?? [])
        .map(chartTable)
      const comments = () => (link === undefined ? [] : commentsOf(document, link.target))
      return [{ name: attributes.name ?? '', hidden, part, charts, drawings, comments }]
    }),
    strings: sharedStrings(document.part(targetOf('sharedStrings'))),
    formats: formatsOf(document.xml(targetOf('styles'))),
    is1904: isTrue(child(workbook, 'workbookPr')?.attributes.date1904),
  }
}

function targetsOf(document: OfficePackage, part: string, type: string): string[] {
  return document.relationships(part).flatMap((link) => (link.type === type && !link.external ? [link.target] : []))
}

/** Returns the comments on the cells of a sheet. @param name of the sheet's part */
function commentsOf(document: OfficePackage, name: string): CellComment[] {
  return targetsOf(document, name, 'comments').flatMap((target) => {
    const part = document.xml(target)
    const authors = child(part, 'authors')?.children ?? []
    return (child(part, 'commentList')?.children ?? []).flatMap((comment): CellComment[] => {
      const { ref: cell = '', authorId } = comment.attributes
      const author = authors[Number(authorId)]?.text.trim() ?? ''
      const runs = (child(comment, 'text')?.children ?? []).filter(({ name }) => name !== 'rPh')
      const whole = runs.map((run) => (run.name === 't' ? run : child(run, 't'))?.text ?? '').join('')
      // A thread has a placeholder as its author, and a note to older programs before its comments.
      const isThread = author.startsWith('tc=')
      const text = isThread ? whole.slice(whole.indexOf(':\n') + 1) : whole.replace(`${author}:`, '')
      return text.trim() === '' ? [] : [{ cell, author: isThread ? '' : author, text: unescapeText(text).trim() }]
    })
  })
}

function formatsOf(styles: XmlElement | undefined): NumberFormat[] {
  const own = new Map(
    (child(styles, 'numFmts')?.children ?? []).map(({ attributes }) => [
      attributes.numFmtId,
      numberFormat(attributes.formatCode ?? ''),
    ]),
  )
  return (child(styles, 'cellXfs')?.children ?? []).map(
    ({ attributes: { numFmtId } }) => own.get(numFmtId) ?? builtInFormat(Number(numFmtId)),
  )
}

function sharedStrings(part: Buffer | undefined): string[] {
  const strings: string[] = []
  const element = (string: XmlElement) => {
    if (strings.length >= maxStrings) throw new ExtractionError('too-large', 'The workbook has too many texts.')
    strings.push(unescapeText(richText(string).slice(0, maxCell)))
  }
  if (part !== undefined) scanElements(part, (name) => name === 'si', { open: () => {}, element, close: () => {} })
  return strings
}

/** Returns the text of a string, without the phonetic guide to it (`rPh`). Runs may be raised (18.4.14). */
export function richText(string: XmlElement | undefined): string {
  return (string?.children ?? []).reduce((text, part) => {
    if (part.name === 't') return text + part.text
    if (part.name !== 'r') return text
    const run = descendants(part, 't').reduce((sum, piece) => sum + piece.text, '')
    const align = child(part, 'rPr', 'vertAlign')?.attributes.val
    const raised = align === 'superscript' ? 'sup' : align === 'subscript' ? 'sub' : undefined
    return text + (raised === undefined ? run : raisedText(run, raised, text))
  }, '')
}

/** Decodes `_x0007_` (22.9.2.19), the notation for characters that XML does not allow. */
export function unescapeText(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9a-fA-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
}
