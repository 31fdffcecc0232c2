import { deflateSync } from 'node:zlib'
import { hasBrokenWords } from '../broken-words.ts'
import type { Extracted } from '../extracted.ts'

/** Maximum UTF-16 units of a text that are examined. */
const maxText = 200_000
/** Maximum UTF-16 units that are compressed to measure how repetitive the text is. */
const maxCompressed = 100_000
/** Mean confidence of recognition below which a text has many wrong words. */
const leastConfidence = 0.7
/** Share of recognised words above which the confidence of recognition matters. */
const leastRecognised = 0.1
/** Maximum words of a text that may be a mere notice. */
const shortText = 300
/** Maximum UTF-16 units in which a notice is searched. */
const maxNotice = 5000
/** Maximum different words of a text without content. */
const fewWords = 5
/** Minimum UTF-16 units of a text whose repetition is measured. */
const leastForRepetition = 2000
/** Minimum compression ratio of a repetitive text. Prose compresses threefold, logs up to thirtyfold. */
const mostCompressed = 100
/** Maximum share of its commonest sentence in a text. */
const mostOfSentence = 0.6

const notices: readonly [RegExp, string][] = [
  [/please wait\W.{0,400}(?:pdf viewer|adobe reader|proper contents)/is, 'a form that only some programs show (XFA)'],
  [
    /(?:enable|activate|requires?|turn on|without|disabled?)\W+(?:\w+\W+){0,3}javascript|javascript\W+(?:\w+\W+){0,3}(?:enabled?|disabled|required|deaktiviert|aktivieren)/i,
    'a page that needs JavaScript',
  ],
  [
    /checking (?:if the site|your browser)|verify(?:ing)? (?:that )?you are (?:a )?human|just a moment\.\.\./i,
    'a check for robots',
  ],
  [
    /^\W*(?:access denied|(?:error )?40[34]\b|page not found|log ?in to continue|loading\W*$)/i,
    'a message instead of a document',
  ],
]
/** Matches UTF-8 that was read as Latin-1 or Windows-1252: a lead byte and its continuation bytes (R. Speer, ftfy, 2019). */
const mistakenUtf8 =
  /[ÂÃÄÅÐÑØÙ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|[àáâãäåæçèéêëìíîï][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]{2}|(?<!\p{L})â(?!\p{L})/gu
/** Matches words of a single-byte script that were decoded as another: only accented letters and signs. */
const accentedWord = /(?<![\p{L}\p{M}])[\u00a1-\u00ff\u0192\u201a\u201e\u2020\u2021\u02c6\u2030]{4,}(?![\p{L}\p{M}])/gu
/** Matches a sign within a word that has no place there in any language. */
const brokenWord = /(?<=\p{L})[\u00a1-\u00b6\u00b8\u00b9\u00bb-\u00bf¤×÷†‡‰$&%](?=\p{L})/gu
const encodedRun = /[A-Za-z0-9+/=]{60,}/g

/**
 * Returns reasons, for people, why a curator should check a document's text before it becomes Neurons; empty if there are none.
 * Reads its first 200,000 characters. Repetition is measured by compression (Ntoulas et al., "Detecting spam web pages through
 * content analysis", 2006).
 */
export function qualityDoubts({
  markdown,
  recognised,
  doubts = [],
}: Pick<Extracted, 'markdown' | 'recognised' | 'doubts'>): string[] {
  const text = markdown.slice(0, maxText)
  // Rows and rules of tables are left out: they are not prose.
  const prose = text.replace(/^(?:[ \t]*[|│┃║].*|[^\p{L}\p{N}\n]*)$/gmu, '')
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [
    ...doubts,
    ...recognitionDoubts(recognised, words.length),
    ...characterDoubts(text),
    ...wordDoubts(prose),
    ...noticeDoubts(text, words.length),
  ]
}

function recognitionDoubts(recognised: Extracted['recognised'], words: number): string[] {
  if (recognised === undefined || recognised.words < leastRecognised * words) return []
  if (recognised.confidence >= leastConfidence) return []
  return [`The text was recognised with a confidence of only ${Math.round(recognised.confidence * 100)} %.`]
}

function characterDoubts(text: string): string[] {
  const size = countOf(text, /\S/g)
  const letters = countOf(text, /[\p{L}\p{N}]/gu)
  const undecoded = countOf(text, /\uFFFD|\p{Co}{2}|\p{Cn}/gu)
  const mistaken = countOf(text, mistakenUtf8)
  const accented = countOf(text, accentedWord)
  const words = countOf(text, /\p{L}{2,}/gu)
  return [
    ...(undecoded >= 3 && undecoded > size * 0.002 ? ['Characters of the text could not be decoded.'] : []),
    ...(mistaken >= 3 && mistaken > words * 0.01 ? ['The text looks as if it was read in the wrong encoding.'] : []),
    ...(accented >= 5 && accented > words * 0.2 ? ['The text looks as if it was read in the wrong encoding.'] : []),
    ...(size >= 20 && letters < size * 0.4 && !text.includes('|') ? ['The text has almost no letters.'] : []),
  ].slice(0, 2)
}

function wordDoubts(prose: string): string[] {
  const words = prose.toLowerCase().match(/[\p{L}\p{M}\p{N}]{2,}/gu) ?? []
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const top = most(counts)
  const encoded = (prose.match(encodedRun) ?? []).reduce((sum, run) => sum + run.length, 0)
  const broken = countOf(prose, brokenWord)
  return [
    ...(words.length >= 50 && (top > words.length * 0.4 || counts.size <= fewWords)
      ? ['The text says the same few words again and again.']
      : []),
    ...(isRepetitive(prose) ? ['The text repeats itself.'] : []),
    ...(broken >= 5 && broken > words.length * 0.05 ? ['Words of the text hold signs that belong to none.'] : []),
    ...(hasBrokenWords(prose) ? ['The words of the text are broken into letters.'] : []),
    ...(encoded > prose.length * 0.3 && encoded > 200 ? ['The text looks like encoded data.'] : []),
  ]
}

function isRepetitive(text: string): boolean {
  if (text.length < leastForRepetition) return false
  const sizes = new Map<string, number>()
  for (const sentence of text.split(/(?<=[.!?。])\s+|\n+/)) {
    // A sentence that occurs once is not a repetition.
    sizes.set(sentence, (sizes.get(sentence) ?? -sentence.length) + sentence.length)
  }
  if (most(sizes) > mostOfSentence * text.length) return true
  const bytes = Buffer.from(text.slice(0, maxCompressed))
  return bytes.length > mostCompressed * deflateSync(bytes, { level: 6 }).length
}

function noticeDoubts(text: string, words: number): string[] {
  if (words > shortText) return []
  const found = notices.find(([notice]) => notice.test(text.slice(0, maxNotice)))
  return found === undefined ? [] : [`The text is that of ${found[1]}.`]
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function most(counts: ReadonlyMap<string, number>): number {
  let highest = 0
  for (const count of counts.values()) highest = Math.max(highest, count)
  return highest
}
