import { fold } from '../../../rules/text/fold.ts'
import { oneLine } from '../../../rules/text/lines.ts'
import { inlineText } from '../inline-text.ts'
import type { TitledPart } from '../parts/part-titles.ts'
import { linkableTitle } from '../titles/document-title.ts'
import { sourceStopWords, sourceWords } from '../words.ts'
import type { DraftEdge, Statement } from './model-draft.ts'
import { modelHeadings, type ShownLine } from './model-lines.ts'

/** Text that a model was shown. */
export type ShownText = { lines: readonly ShownLine[]; parts: readonly TitledPart[]; title: string; language: string }

type Claim = { text: string; bullet?: boolean; lines: { from: number; to: number } }

/** Maximum number of claims of an answer that are checked; others are ignored. */
const maxClaims = 100
const maxClaim = 600
/** Maximum lines that a claim may cite: a claim that cites everything proves nothing. */
const maxCited = 12
const maxTitle = 100
const maxTag = 40
const maxTags = 3
const maxEdges = 8
const marker = /^(?:(?:[-+*>#]+|\d{1,3}[.)])\s+)+/

/** Returns the claims that the lines support, as plain text without duplicates, and their parts. */
export function supportedClaims(
  claims: readonly Claim[],
  shown: ShownText,
): { statements: Statement[]; parts: number[] } {
  const statements = new Map<string, Statement>()
  const parts = new Set<number>()
  for (const { text: written, bullet = false, lines } of claims.slice(0, maxClaims)) {
    const text = plainLine(written, maxClaim + 1)
    const { from, to } = lines
    if (text.length > maxClaim || from < 1 || to < from || to > shown.lines.length || to - from >= maxCited) continue
    const cited = shown.lines.slice(from - 1, to)
    const below = cited.flatMap(({ part }) => (part === undefined ? [] : [part]))
    const context = [shown.title, ...new Set(below.map((part) => modelHeadings(shown.parts[part])))].join('\n')
    const evidence = { cited: cited.map((line) => line.text), context, language: shown.language }
    if (!isSupported(text, evidence)) continue
    if (!statements.has(text)) statements.set(text, { text, isItem: bullet })
    for (const part of below) parts.add(part)
  }
  return { statements: [...statements.values()], parts: [...parts].sort((a, b) => a - b) }
}

/** Returns a title in words of the document that can be linked to, or an empty text if there is none. */
export function supportedTitle(written: string, shown: ShownText): string {
  const title = linkableTitle(plainLine(written, maxTitle))
  return isNamedIn(title, wholeText(shown), shown.language) ? title : ''
}

/** Returns the terms of the document as tags, except tags that decide who may read a page. */
export function supportedTags(tags: readonly string[], shown: ShownText): string[] {
  const text = wholeText(shown)
  const plain = tags.slice(0, maxClaims).map((tag) =>
    plainLine(tag, maxTag)
      .toLowerCase()
      .replace(/[\s_-]+/g, ' '),
  )
  const usable = plain.filter(
    (tag) =>
      /^[\p{L}\p{M}\p{N}]+(?: [\p{L}\p{M}\p{N}]+)*$/u.test(tag) &&
      tag !== 'internal' &&
      isNamedIn(tag, text, shown.language),
  )
  return [...new Set(usable)].slice(0, maxTags)
}

/** Returns the edges to something the document names, or to one of its own pages. */
export function supportedEdges(
  edges: readonly DraftEdge[],
  shown: ShownText,
  isOwn: (target: string) => boolean,
): DraftEdge[] {
  const text = wholeText(shown)
  return edges
    .slice(0, maxClaims)
    .map(({ type, target }) => ({ type, target: oneLine(target, maxClaim) }))
    .filter(({ target }) => isOwn(target) || isNamedIn(target, text, shown.language))
    .slice(0, maxEdges)
}

function plainLine(text: string, max: number): string {
  return oneLine(inlineText(text.slice(0, max * 4)), max).replace(marker, '')
}

function wholeText({ lines, parts, title }: ShownText): string {
  const headings = new Set(lines.map(({ part }) => modelHeadings(part === undefined ? undefined : parts[part])))
  return [title, ...headings, ...lines.map(({ text }) => inlineText(text))].join('\n')
}

/** Evidence for a sentence. `cited`: the lines that it cites; `context`: the headings above them. */
type ModelEvidence = { cited: readonly string[]; context: string; language: string }

/** Minimum share of its content words that a sentence must have in common with the cited lines. */
const leastShared = 0.65
const figure = /\p{N}+(?:[.,:/-]\p{N}+)*/gu
const address = /(?:[a-z][a-z0-9+.-]{0,30}:\/\/|www\.|mailto:)\S+|(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+/gi
/** Words that change the meaning of a sentence, although most are stop words: numbers, bounds, exclusions. */
const exact = new Set(
  `zero two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million billion half
  double twice null zwei drei vier funf sechs sieben acht neun zehn elf zwolf zwanzig dreissig hundert tausend million halb doppelt
  deux trois quatre cinq sept huit neuf dix cent mille dos tres cuatro cinco seis siete ocho nueve diez cien mil
  before after until above below under over more less fewer least most only always minimum maximum without
  vor nach bis uber unter mehr weniger nur immer mindestens hochstens ohne avant apres sans antes despues hasta sin senza zonder`.split(
    /\s+/,
  ),
)
const negations = new Set(
  `not no never none neither nor cannot nobody nothing isn't aren't wasn't weren't don't doesn't didn't won't can't
  couldn't shouldn't wouldn't mustn't nicht kein keine keinen keinem keiner keines nie niemals weder niemand nichts
  ne pas jamais aucun aucune nunca ningun ninguna non niet geen nooit`.split(/\s+/),
)

/**
 * Whether lines of a document support a text, judged by words. For each sentence of the text, the lines must contain most of its content
 * words in some form, its figures, dates and addresses literally, and every name. Neither may deny what the other asserts.
 */
function isSupported(text: string, { cited, context, language }: ModelEvidence): boolean {
  const sentences = sentencesIn(text, language)
  const shown = cited.flatMap((line) => sentencesIn(inlineText(line), language))
  return sentences.length > 0 && sentences.every(supportBy(shown, context, language))
}

/** Whether the document has all words of a title or a tag, in some form. */
function isNamedIn(text: string, source: string, language: string): boolean {
  const words = sourceWords(text, language).map(fold)
  const known = new Set(sourceWords(source, language).map(fold))
  const stopWords = sourceStopWords(language)
  const telling = words.filter((word) => !stopWords.has(word) && !/^\p{N}+$/u.test(word))
  const figures = words.filter((word) => /^\p{N}+$/u.test(word))
  return telling.length > 0 && telling.every((word) => hasForm(word, known)) && figures.every((word) => known.has(word))
}

/** Returns a function that tells whether sentences below headings support another one. */
function supportBy(shown: readonly string[], headings: string, language: string): (sentence: string) => boolean {
  const stopWords = sourceStopWords(language)
  const sentences = shown.map((sentence) => {
    const words = sourceWords(sentence, language).map(plain)
    return { words: new Set(words), isNegated: isNegated(words) }
  })
  const text = shown.join('\n')
  const known = new Set(sentences.flatMap(({ words }) => [...words]))
  const context = new Set(sourceWords(headings, language).map(plain))
  const figures = new Set(text.match(figure))

  function supports(sentence: string): boolean {
    if (sentence.match(address)?.some((found) => !text.includes(found))) return false
    if (sentence.match(figure)?.some((found) => !figures.has(found))) return false
    const written = sourceWords(sentence, language)
    const words = written.map(plain)
    if (words.some((word) => exact.has(word) && !known.has(word))) return false
    const telling = written.filter((_, index) => !stopWords.has(words[index] ?? ''))
    // A name has a capital. So has the first word of a sentence, which is often its subject.
    if (telling.some((word) => /\p{Lu}/u.test(word) && !has(plain(word)))) return false
    const shared = telling.filter((word) => has(plain(word))).length
    if (telling.length === 0 || shared / telling.length < leastShared) return false
    return agrees(telling.map(plain), isNegated(words))
  }

  function has(word: string): boolean {
    return hasForm(word, known) || hasForm(word, context)
  }

  /** True if a sentence denies only what a similar sentence denies, too, or asserts what the most similar sentence does not deny. */
  function agrees(words: readonly string[], denies: boolean): boolean {
    const likeness = sentences.map((sentence) => ({
      isNegated: sentence.isNegated,
      shared: words.filter((word) => hasForm(word, sentence.words)).length,
    }))
    const most = Math.max(...likeness.map(({ shared }) => shared))
    if (denies) return likeness.some(({ isNegated, shared }) => isNegated && shared * 2 >= most)
    return likeness.some(({ isNegated, shared }) => shared === most && !isNegated)
  }

  return supports
}

function sentencesIn(text: string, language: string): string[] {
  const segments = new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text)
  return Array.from(segments, ({ segment }) => segment.trim()).filter((segment) => /[\p{L}\p{N}]/u.test(segment))
}

function plain(word: string): string {
  return fold(word).replaceAll('’', "'").replace(/'s$/, '')
}

function isNegated(words: readonly string[]): boolean {
  return words.some((word) => negations.has(word) || word.endsWith("n't"))
}

/** Whether a word is there, or one with the same beginning and another ending: a substitute for stemming in any language. */
function hasForm(word: string, words: ReadonlySet<string>): boolean {
  if (words.has(word)) return true
  if (word.length < 4 || /\p{N}/u.test(word)) return false
  for (const other of words) {
    const length = Math.max(word.length, other.length)
    const stem = Math.max(4, Math.ceil(length * 0.7))
    if (other.length >= stem && word.length >= stem && word.slice(0, stem) === other.slice(0, stem)) return true
  }
  return false
}
