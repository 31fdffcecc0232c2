import { withoutAbsurdHyphens } from './pdf-lines.ts'
import type { PdfPage } from './pdf-page.ts'

const heading = /^(#{1,6})\s+(.*)$/
/** A last label may stand on its line. */
const caption = /^(?:.{0,30}\s)?(?:Figure|Fig\.|Table|Tab\.|Abbildung|Abb\.|Tabelle) ?\d/
const numbered =
  /^(?:(?:\d{1,3}(?:\\?\.\d{1,3})*\\?[.)]?|(?:[A-Z]|[IVXL]{1,6})\\?[.)])\s|(?:Chapter|Section|Part|Appendix|Kapitel)\s)/
/** `iOS` and `eBay` have a capital inside. */
const lowerCase = /^[^\p{L}]*\p{Ll}[\p{Ll}\p{M}'’-]*(?!\p{L})/u
const address = /:\/\/[^\s)]+$/
/** The part of the headings that begin in lower case above which it is how the document writes them, as where functions are told of. */
const ownStyle = 0.25
/** Words of a heading that may end like a sentence. */
const fewWords = 3
const longHeading = 80
/** Characters of a line above which it is no label of a figure. */
const longestLabel = 140
const littleLine = 30
/** Labels of one figure that are looked through. */
const maxLabels = 60
/** Labels between a heading and a figure's caption by which the heading is one of them. */
const manyLabels = 3

/**
 * Makes text of headings that are only printed large: those that begin in lower case, sentences, lists and addresses, and the labels
 * of a figure, which stand above its caption. What is numbered, or is of the first level, stays. Those that stay have blanks where
 * hyphens stand for them.
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

/** Returns the text of a heading that may be none: it has no number and is not of the first level. */
function doubtful(line: string): string | undefined {
  const [, marks, text = ''] = heading.exec(line) ?? []
  return marks === undefined || marks.length === 1 || numbered.test(text) ? undefined : text
}

/** True if a line is printed large, but has the form of text. */
function isLarge(line: string): boolean {
  const text = doubtful(line)
  if (text === undefined) return false
  const isSentence = /[.;,]$/.test(text) && text.split(/\s+/).length > fewWords
  const isList = text.length > longHeading && (text.match(/,\s/g)?.length ?? 0) > 1
  return isSentence || isList || address.test(text)
}

/** The headings among the short lines above a caption, and those between others. */
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

/** A heading on top of a figure's labels is its section's, unless there are many or others are as large. */
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

/** Some fonts have hyphens for blanks. */
function mended(line: string): string {
  return heading.test(line) ? withoutAbsurdHyphens(line).replace(/(?<=\p{L})[-–]+$/u, '') : line
}

function asText(line: string): string {
  return bare(line).replace(/^(?=[-+*>|#=])/, '\\')
}
