import type { FormField, PageComplexityStats, ParsedPage, Rect, TextItem } from '@llamaindex/liteparse'
import { hasBrokenWords, joinLetters } from '../../broken-words.ts'
import { asInlineMarkdown } from '../markdown/escape-markdown.ts'
import { isVisuallyOrdered } from './pdf-bidi.ts'
import { brokenWords } from './pdf-hyphens.ts'
import { pageMarkdown } from './pdf-page.ts'

/** Width of a gap between words, as a multiple of the gap between letters. */
const wordGap = 1.35

export type ReadPage = {
  /** Page number, from 1. */
  number: number
  markdown: string
  /** Length of the longer side of the page, in points. */
  longSide: number
  /** Number of letters and digits. */
  letters: number
  /** Reason why its text is not the content: the page is a picture, or its characters have no meaning for programs. */
  scan: 'picture' | 'garbled' | undefined
  /** True if the page is blank. */
  isBlank: boolean
  /** Words that are broken at line ends. */
  broken: ReturnType<typeof brokenWords>
  /** Filled fields of a form, as Markdown. */
  fields: string[]
  /** True if words are in visual order, from left to right, not in reading order. */
  isVisual: boolean
  /** True if most text is turned, or words are broken into letters, so that their order may be wrong. */
  isScrambled: boolean
}

/** Number of letters and digits below which a page may be a picture. */
const sparseText = 100
/** Minimum share of a page's area that a picture covers. */
const largePart = 0.3
/** Share of the drawn area that text must cover for a page to be no picture. */
const textPart = 0.25
/** Share of meaningless characters above which the text of a page is garbled. */
const garbledPart = 0.1
/** Flag of a form field that hides its value (ISO 32000-1, 12.7.4). */
const isPassword = 1 << 13
const maxFields = 1000
const maxValue = 10_000

export function readPdfPage(page: ParsedPage): ReadPage {
  const { pageNum, markdown, text, textItems, width, height, complexity, contentBounds } = page
  const letters = countLetters(text)
  const isPicture = letters === 0 ? contentBounds !== undefined : letters < sparseText && showsPicture(page)
  return {
    number: pageNum,
    markdown: withJoinedLetters(pageMarkdown(markdown, text), textItems),
    longSide: Math.max(width, height),
    letters,
    scan: isGarbled(text, complexity) ? 'garbled' : isPicture ? 'picture' : undefined,
    isBlank: letters === 0 && contentBounds === undefined,
    broken: brokenWords(text),
    fields: filledFields(page.formFields ?? []),
    isVisual: isVisuallyOrdered(text),
    isScrambled: isTurned(page) || hasBrokenWords(text),
  }
}

/** Whether most letters run down, up, or upside down. */
function isTurned({ textItems }: ParsedPage): boolean {
  let [turned, all] = [0, 0]
  for (const { text, rotation = 0 } of textItems) {
    all += text.length
    if (Math.round(rotation / 90) % 4 !== 0) turned += text.length
  }
  return 2 * turned > all
}

export function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

function isGarbled(text: string, complexity: PageComplexityStats | undefined): boolean {
  const signs = text.match(/\S/gu)?.length ?? 0
  const meaningless = text.match(/[^\P{Cc}\s]|[\p{Co}\uFFFD]/gu)?.length ?? 0
  return (complexity?.isGarbled === true && isLatin(text)) || meaningless > signs * garbledPart
}

/** True if most letters are Latin. The check of the library misjudges other scripts as garbled, and OCR in English would replace them. */
function isLatin(text: string): boolean {
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return 2 * latin >= countLetters(text)
}

/** True if a picture covers the page. Pictures within form objects count only towards the drawn area. */
function showsPicture({ complexity, contentBounds, textItems, width, height }: ParsedPage): boolean {
  if (complexity?.fullPageImage || (complexity?.imageCoverage ?? 0) > largePart) return true
  if (complexity?.reasons.includes('scanned')) return true
  const drawn = contentBounds === undefined ? 0 : contentBounds.width * contentBounds.height
  return drawn > width * height * largePart && areaOf(textItems) < drawn * textPart
}

/** Returns the area of the rectangle around the items. */
function areaOf(items: readonly Rect[]): number {
  const left = Math.min(...items.map(({ x }) => x))
  const right = Math.max(...items.map(({ x, width }) => x + width))
  const top = Math.min(...items.map(({ y }) => y))
  const bottom = Math.max(...items.map(({ y, height }) => y + height))
  return items.length === 0 ? 0 : (right - left) * (bottom - top)
}

/** Returns the filled fields of a form as list items, with their names and values. */
function filledFields(fields: readonly FormField[]): string[] {
  return fields.slice(0, maxFields).flatMap((field) => {
    const value = textOfField(field)
    if (value === '') return []
    const name = asInlineMarkdown(field.alternateName || field.name || '')
    return [`- ${name === '' ? '' : `${name}: `}${asInlineMarkdown(value.slice(0, maxValue))}`]
  })
}

function textOfField({ type, fieldFlags, value, exportValue, checked, selectedOptions }: FormField): string {
  if (/checkbox|radio/i.test(type)) {
    if (!checked) return ''
    return exportValue && !/^(?:on|yes|1)$/i.test(exportValue) ? exportValue : 'yes'
  }
  if (/button|signature/i.test(type) || (fieldFlags & isPassword) !== 0) return ''
  return (selectedOptions.length > 0 ? selectedOptions.join(', ') : (value ?? '')).trim()
}

/** Joins spaced-out letters to words by the gaps between them, which Markdown does not show. */
function withJoinedLetters(markdown: string, items: readonly TextItem[]): string {
  const lines = Map.groupBy(items, ({ y, height }) => Math.round(y + height))
  let joined = markdown
  for (const line of lines.values()) {
    const parts = line.toSorted((a, b) => a.x - b.x)
    const shown = parts.map(({ text }) => text.trim()).join(' ')
    if (joinLetters(shown) === shown) continue
    const gaps = parts.slice(1).map(({ x }, at) => x - (parts[at]?.x ?? 0) - (parts[at]?.width ?? 0))
    const within = parts.filter(({ text }) => text.trim().length > 1)
    const unit = Math.min(...gaps, ...within.map(({ text, width }) => (1.2 * width) / text.trim().length))
    const words = parts.map(
      ({ text }, at) => `${at > 0 && (gaps[at - 1] ?? 0) > wordGap * unit ? '  ' : ' '}${text.trim()}`,
    )
    joined = joined.replace(shown, () => joinLetters(words.join('')))
  }
  return joined
}
