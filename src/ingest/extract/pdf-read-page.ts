import type { PageComplexityStats, ParsedPage } from '@llamaindex/liteparse'
import { pageMarkdown } from './pdf-page.ts'

/** What is kept of a page that was read. */
export type ReadPage = {
  /** 1-based. */
  number: number
  markdown: string
  /** Points. */
  longSide: number
  /** Letters and digits. */
  letters: number
  /** What its text cannot be: a picture, or signs without a meaning for programs. */
  scan: 'picture' | 'garbled' | undefined
}

/** Letters and digits of a page of which a picture is the main part. */
const sparseText = 100
/** The part of the signs of a page that have no meaning, where its font does not say which letters they are. */
const garbledPart = 0.1

export function readPage({ pageNum, markdown, text, width, height, complexity }: ParsedPage): ReadPage {
  const letters = countLetters(text)
  return {
    number: pageNum,
    markdown: pageMarkdown(markdown, text),
    longSide: Math.max(width, height),
    letters,
    scan: isGarbled(text, complexity) ? 'garbled' : isPicture(letters, complexity) ? 'picture' : undefined,
  }
}

export function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

function isGarbled(text: string, complexity: PageComplexityStats | undefined): boolean {
  const signs = text.match(/\S/gu)?.length ?? 0
  const meaningless = text.match(/[^\P{Cc}\s]|[\p{Co}\uFFFD]/gu)?.length ?? 0
  return (complexity?.isGarbled === true && isLatin(text)) || meaningless > signs * garbledPart
}

/** Sound text of other scripts passes for garbled, and what is recognised as English would take its place. */
function isLatin(text: string): boolean {
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return 2 * latin >= countLetters(text)
}

function isPicture(letters: number, complexity: PageComplexityStats | undefined): boolean {
  if (complexity === undefined) return false
  const isMainPart = complexity.fullPageImage || complexity.imageCoverage > 0.3
  return (isMainPart || complexity.reasons.includes('scanned')) && letters < sparseText
}
