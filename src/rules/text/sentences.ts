import { primaryLanguage } from './language.ts'

export type Range = { start: number; end: number }

export type Sentence = Range & { text: string }

export type LineAt = { start: number; line: string }

/** Abbreviations that a sentence goes on after, whatever follows; Unicode's rules end it where a capital does. */
const beforeName = /(?:^|[\s(])(?:Capt|Col|Dr|Gen|Lt|Mr|Mrs|Ms|Prof|Rep|Sen|Sgt|St|cf|e\.g|i\.e|vs)\.\s*$/

/** Abbreviations that it goes on after where a number follows. */
const beforeNumber =
  /(?:^|[\s(])(?:Apr|Art|Aug|Ch|Dec|Eqs?|Feb|Figs?|Jan|Jul|Jun|Mar|Nos?|Nov|Oct|Sec|Sept?|Vol|approx|ca|pp?)\.\s*$/i

const segmenters = new Map<string, Intl.Segmenter>()

/**
 * The sentences of a text by Unicode's rules (UAX 29) for a language (BCP 47), without the space around them. The end of a
 * line ends one too, the number of a list's item does not. `start` and `end` are UTF-16 offsets.
 * @param lines those of the text that are read
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

/** The lines of a text that are not empty. */
export function linesIn(text: string): LineAt[] {
  return Array.from(text.matchAll(/[^\r\n]+/g), ({ 0: line, index: start }) => ({ start, line }))
}

function goesOn(sentence: string, next: string): boolean {
  // The end tells, and looking at no more of it keeps the time linear.
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
