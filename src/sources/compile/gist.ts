import { fold } from '../../rules/text/fold.ts'
import { inlineText } from './inline-text.ts'
import type { SourceBlock } from './source-blocks.ts'
import { sourceWords } from './words.ts'

type Sentence = { text: string; words: string[]; index: number }

const shortest = 40
const longest = 400
const fewestWords = 6
/** Maximum number of sentences, from the beginning of the document, that are scored. */
const maxSentences = 10_000
/** Maximum characters of a paragraph that are read. */
const maxParagraph = 20_000
const beginning = /^["'“„«(]?[\p{Lu}\p{Lo}]/u
const end = /[.!?。！？][)"'”“»]?$/u
/** Matches abbreviations after which a sentence continues. */
const abbreviation =
  /(?:^|[\s(])(?:\p{L}|[A-Z][a-z]?|Dr|Mr|Mrs|Ms|Prof|St|cf|e\.g|i\.e|vs|al|Figs?|Eqs?|Nos?|Vol|pp?|z\.\s?B|d\.\s?h|bzw|ca)\.$/u
/** Beginnings of sentences that refer to the previous one. */
const leaning =
  /^(?:it|its|they|their|this|these|that|those|he|she|his|her|such|but|and|or|so|also|however|moreover|thus|then|er|sie|es|dies\p{Ll}*|aber|und|auch|dabei|damit|daher|deshalb)(?!\p{L})/iu
const noProse = /^(?:\s{4}|\t|[>|<]|[-+*_=]{3}|\[\^?[^\]]+\]:)/
/** Matches numbers of notes and references. */
const reference = / ?\[\d{1,3}(?:[,–-] ?\d{1,3})*\]/g
const leader = /\.{4,}|(?:\. ){4,}|\|/

/**
 * Returns three to five sentences that summarise a document, in their order, as plain text; fewer for a short document. Picks the best
 * sentence with the most probable word, then lowers the probability of the sentence's words, and repeats (SumBasic: Nenkova and
 * Vanderwende, "The impact of frequency on summarization", 2005). Prefers the beginning, and sentences that do not refer to another.
 * Ignores tables, code, lists and headings. Of equal sentences the first wins.
 */
export function gistOf(blocks: readonly SourceBlock[], language: string, stopWords: ReadonlySet<string>): string[] {
  const sentences = sentencesOf(blocks, language, stopWords)
  const counts = new Map<string, number>()
  let total = 0
  for (const { words } of sentences) {
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    total += words.length
  }
  const probability = new Map(Array.from(counts, ([word, count]) => [word, count / total]))
  const wanted = Math.min(5, Math.max(3, Math.round(sentences.length / 10)))
  const chosen = new Set<Sentence>()
  while (chosen.size < wanted && probability.size > 0) {
    const topic = likeliest(probability)
    const best = bestOf(sentences, topic, chosen, probability)
    if (best === undefined) probability.delete(topic)
    else chosen.add(best)
    for (const word of new Set(best?.words)) probability.set(word, (probability.get(word) ?? 0) ** 2)
  }
  return sentences.filter((sentence) => chosen.has(sentence)).map(({ text }) => text)
}

function likeliest(probability: ReadonlyMap<string, number>): string {
  let [likeliest, most] = ['', -1]
  for (const [word, value] of probability) if (value > most) [likeliest, most] = [word, value]
  return likeliest
}

function bestOf(
  sentences: readonly Sentence[],
  topic: string,
  chosen: ReadonlySet<Sentence>,
  probability: ReadonlyMap<string, number>,
): Sentence | undefined {
  let best: Sentence | undefined
  let most = -1
  for (const sentence of sentences) {
    if (chosen.has(sentence) || !sentence.words.includes(topic)) continue
    let sum = 0
    for (const word of sentence.words) sum += probability.get(word) ?? 0
    const weight = (1 + 3 / (1 + sentence.index / 10)) * (leaning.test(sentence.text) ? 0.3 : 1)
    const score = (sum / sentence.words.length) * weight
    if (score > most) {
      most = score
      best = sentence
    }
  }
  return best
}

function sentencesOf(blocks: readonly SourceBlock[], language: string, stopWords: ReadonlySet<string>): Sentence[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' })
  const sentences: Sentence[] = []
  const known = new Set<string>()
  for (const { kind, lines } of blocks) {
    if (kind !== 'paragraph' || lines.some((line) => noProse.test(line))) continue
    if (sentences.length >= maxSentences) break
    const prose = inlineText(lines.join('\n').slice(0, maxParagraph)).replace(reference, '')
    if (prose.length < shortest) continue
    for (const text of wholeSentences(segmenter, prose)) {
      const all = sourceWords(text, language)
      const words = all.map(fold).filter((word) => !stopWords.has(word) && /\p{L}{2}/u.test(word))
      if (!isGood(text, all, words) || known.has(text)) continue
      known.add(text)
      sentences.push({ text, words, index: sentences.length })
    }
  }
  return sentences
}

function* wholeSentences(segmenter: Intl.Segmenter, text: string): Generator<string> {
  let open = ''
  for (const { segment } of segmenter.segment(text)) {
    open += segment
    if (abbreviation.test(open.slice(-12).trimEnd())) continue
    yield open.trim()
    open = ''
  }
  if (open !== '') yield open.trim()
}

/** Whether a sentence is complete, neither short nor long, and has more words than figures. */
function isGood(text: string, all: readonly string[], words: readonly string[]): boolean {
  if (text.length < shortest || text.length > longest || !beginning.test(text) || !end.test(text)) return false
  if (all.length < fewestWords || words.length < 3 || leader.test(text) || /:\/\//.test(text)) return false
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters / text.replace(/\s/g, '').length > 0.8
}
