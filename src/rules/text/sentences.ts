import { primaryLanguage } from './language.ts'

export type Range = { start: number; end: number }

export type Sentence = Range & { text: string }

export type LineAt = { start: number; line: string }

/** Matches abbreviations that never end a sentence. Unicode's rules would end it before a capital letter. */
const beforeName = /(?:^|[\s(])(?:Capt|Col|Dr|Gen|Lt|Mr|Mrs|Ms|Prof|Rep|Sen|Sgt|St|cf|e\.g|i\.e|vs)\.\s*$/

/** Matches abbreviations that do not end a sentence before a number. */
const beforeNumber =
  /(?:^|[\s(])(?:Apr|Art|Aug|Ch|Dec|Eqs?|Feb|Figs?|Jan|Jul|Jun|Mar|Nos?|Nov|Oct|Sec|Sept?|Vol|approx|ca|pp?)\.\s*$/i

const segmenters = new Map<string, Intl.Segmenter>()

/**
 * Splits a text into sentences by Unicode's rules (UAX 29) for a language (BCP 47), without surrounding space. The end of a line also ends
 * a sentence; the number of a list item does not. `start` and `end` are UTF-16 offsets.
 * @param lines the lines to split
 */
export function sentencesOf(text: string, language: string, lines: readonly LineAt[] = linesIn(text)): Sentence[] {
  const segmenter = segmenterFor(primaryLanguage(language))
  return lines.flatMap(({ start: index, line }) => {
    let start = 0
    return Array.from(segmenter.segment(line)).flatMap((segment): Sentence[] => {
      const end = segment.index + segment.segment.length
      const sentence = line.slice(start, end)
      if (end < line.length && goesOn(sentence, line.charAt(end))) return []
      const from = index + start + sentence.length - sentence.trimStart().length
      start = end
      const trimmed = sentence.trim()
      return trimmed === '' ? [] : [{ start: from, end: from + trimmed.length, text: trimmed }]
    })
  })
}

/** Returns the lines of a text that are not empty. */
export function linesIn(text: string): LineAt[] {
  return Array.from(text.matchAll(/[^\r\n]+/g), ({ 0: line, index: start }) => ({ start, line }))
}

function goesOn(sentence: string, next: string): boolean {
  // Only the end matters, and a bounded look keeps the time linear.
  const end = sentence.slice(-16)
  return beforeName.test(end) || (/\d/.test(next) && beforeNumber.test(end)) || /^\s*\p{N}+[.)]\s*$/u.test(end)
}

function segmenterFor(language: string): Intl.Segmenter {
  const known = segmenters.get(language)
  if (known !== undefined) return known
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' })
  segmenters.set(language, segmenter)
  return segmenter
}
