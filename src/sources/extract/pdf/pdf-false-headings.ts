import { withoutAbsurdHyphens } from './pdf-lines.ts'
import type { PdfPage } from './pdf-page.ts'

const heading = /^(#{1,6})\s+(.*)$/
/** Matches a caption. The last label of the figure may be on its line. */
const caption = /^(?:.{0,30}\s)?(?:Figure|Fig\.|Table|Tab\.|Abbildung|Abb\.|Tabelle) ?\d/
const numbered =
  /^(?:(?:\d{1,3}(?:\\?\.\d{1,3})*\\?[.)]?|(?:[A-Z]|[IVXL]{1,6})\\?[.)])\s|(?:Chapter|Section|Part|Appendix|Kapitel)\s)/
/** Matches a text that begins in lower case. Not `iOS` or `eBay`, which have a capital inside. */
const lowerCase = /^[^\p{L}]*\p{Ll}[\p{Ll}\p{M}'’-]*(?!\p{L})/u
const address = /:\/\/[^\s)]+$/
/** Share of headings in lower case above which this is the document's style, as in a manual of functions. */
const ownStyle = 0.25
/** Maximum words of a heading that ends like a sentence. */
const fewWords = 3
const longHeading = 80
/** Maximum characters of a figure's label. */
const longestLabel = 140
const littleLine = 30
/** Maximum labels of one figure that are examined. */
const maxLabels = 60
/** Maximum short lines above a caption, a heading at the top included, for that heading to be the section's and not a label. */
const manyLabels = 3

/**
 * Turns false headings, which are only printed large, into text: those in lower case, sentences, lists and addresses, and the labels of a
 * figure above its caption. Numbered headings and those of the first level stay. Hyphens in place of blanks are replaced in the headings
 * that stay.
 */
export function withoutFalseHeadings(pages: readonly PdfPage[]): PdfPage[] {
  const begins = pages.flatMap(({ lines }) => lines.flatMap((line) => heading.exec(line)?.[2] ?? []))
  const inLowerCase = begins.filter((text) => lowerCase.test(text)).length
  const keepsLowerCase = inLowerCase > Math.max(2, begins.length * ownStyle)
  return pages.map(({ number, lines }) => {
    const labels = figureLabels(lines)
    const isFalse = (line: string) => isLarge(line) || (!keepsLowerCase && beginsInLowerCase(line))
    return { number, lines: lines.map((line, at) => (labels.has(at) || isFalse(line) ? asText(line) : mended(line))) }
  })
}

function beginsInLowerCase(line: string): boolean {
  const text = doubtful(line)
  return text !== undefined && lowerCase.test(text)
}

/** Returns the text of a heading that may be false: it has no number and is not of the first level. */
function doubtful(line: string): string | undefined {
  const [, marks, text = ''] = heading.exec(line) ?? []
  return marks === undefined || marks.length === 1 || numbered.test(text) ? undefined : text
}

/** True if a heading has the form of text. */
function isLarge(line: string): boolean {
  const text = doubtful(line)
  if (text === undefined) return false
  const isSentence = /[.;,]$/.test(text) && text.split(/\s+/).length > fewWords
  const isList = text.length > longHeading && (text.match(/,\s/g)?.length ?? 0) > 1
  return isSentence || isList || address.test(text)
}

/** Returns the lines of headings among the short lines above a caption, or between other short lines. */
function figureLabels(lines: readonly string[]): Set<number> {
  const labels = new Set<number>()
  let run: number[] = []
  for (const [at, line] of lines.entries()) {
    if (line === '') continue
    if (caption.test(line)) {
      for (const index of headingsAmong(lines, run.slice(-maxLabels))) labels.add(index)
      run = []
    } else if (isLabel(line)) run.push(at)
    else {
      for (const index of headingsBetween(lines, run)) labels.add(index)
      run = []
    }
  }
  return labels
}

/** Returns the headings between two short lines, as in a table without rules. */
function headingsBetween(lines: readonly string[], run: readonly number[]): number[] {
  const isLittle = (at: number | undefined) => {
    const line = lines[at ?? -1] ?? ''
    return !heading.test(line) && line !== '' && line.length <= littleLine
  }
  return run.filter(
    (at, index) => doubtful(lines[at] ?? '') !== undefined && isLittle(run[index - 1]) && isLittle(run[index + 1]),
  )
}

/**
 * Returns the headings among a figure's labels. A heading above them is that of the section, unless there are many labels or several
 * headings.
 */
function headingsAmong(lines: readonly string[], run: readonly number[]): number[] {
  const found = run.filter((at) => heading.test(lines[at] ?? ''))
  const [first, ...others] = found
  if (first === undefined || first !== run[0] || others.length > 0 || run.length > manyLabels) return found
  return []
}

function isLabel(line: string): boolean {
  const text = bare(line)
  const isNumbered = text !== line && numbered.test(text)
  return text.length <= longestLabel && !isNumbered && !/[.:!?]["”’)]?$/.test(text) && !/^(?:\||```|[-*+] )/.test(text)
}

function bare(line: string): string {
  return line.replace(/^#{1,6}\s+/, '')
}

/** Replaces hyphens in a heading: some fonts have them in place of blanks. */
function mended(line: string): string {
  return heading.test(line) ? withoutAbsurdHyphens(line).replace(/(?<=\p{L})[-–]+$/u, '') : line
}

function asText(line: string): string {
  return bare(line).replace(/^(?=[-+*>|#=])/, '\\')
}
