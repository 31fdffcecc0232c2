import { fold } from '../../../rules/text/fold.ts'
import { inlineText } from '../inline-text.ts'
import { sourceStopWords, sourceWords } from '../words.ts'

/** Evidence for a sentence. `cited`: the lines that it cites; `context`: the headings above them. */
export type ModelEvidence = { cited: readonly string[]; context: string; language: string }

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
export function isSupported(text: string, { cited, context, language }: ModelEvidence): boolean {
  const sentences = sentencesIn(text, language)
  const shown = cited.flatMap((line) => sentencesIn(inlineText(line), language))
  const source = new Source(shown, context, language)
  return sentences.length > 0 && sentences.every((sentence) => source.supports(sentence))
}

/** Whether the document has all words of a title or a tag, in some form. */
export function isNamedIn(text: string, source: string, language: string): boolean {
  const words = sourceWords(text, language).map(fold)
  const known = new Set(sourceWords(source, language).map(fold))
  const stopWords = sourceStopWords(language)
  const telling = words.filter((word) => !stopWords.has(word) && !/^\p{N}+$/u.test(word))
  const figures = words.filter((word) => /^\p{N}+$/u.test(word))
  return telling.length > 0 && telling.every((word) => hasForm(word, known)) && figures.every((word) => known.has(word))
}

class Source {
  readonly #sentences: { words: Set<string>; isNegated: boolean }[]
  readonly #text: string
  readonly #words: Set<string>
  readonly #context: Set<string>
  readonly #figures: Set<string>
  readonly #stopWords: ReadonlySet<string>
  readonly #language: string

  constructor(sentences: readonly string[], context: string, language: string) {
    this.#language = language
    this.#stopWords = sourceStopWords(language)
    this.#sentences = sentences.map((sentence) => {
      const words = sourceWords(sentence, language).map(plain)
      return { words: new Set(words), isNegated: isNegated(words) }
    })
    this.#text = sentences.join('\n')
    this.#words = new Set(this.#sentences.flatMap(({ words }) => [...words]))
    this.#context = new Set(sourceWords(context, language).map(plain))
    this.#figures = new Set(this.#text.match(figure))
  }

  supports(sentence: string): boolean {
    if (sentence.match(address)?.some((found) => !this.#text.includes(found))) return false
    if (sentence.match(figure)?.some((found) => !this.#figures.has(found))) return false
    const written = sourceWords(sentence, this.#language)
    const words = written.map(plain)
    if (words.some((word) => exact.has(word) && !this.#words.has(word))) return false
    const telling = written.filter((_, index) => !this.#stopWords.has(words[index] ?? ''))
    // A name has a capital. So has the first word of a sentence, which is often its subject.
    if (telling.some((word) => /\p{Lu}/u.test(word) && !this.#has(plain(word)))) return false
    const shared = telling.filter((word) => this.#has(plain(word))).length
    if (telling.length === 0 || shared / telling.length < leastShared) return false
    return this.#agrees(telling.map(plain), isNegated(words))
  }

  #has(word: string): boolean {
    return hasForm(word, this.#words) || hasForm(word, this.#context)
  }

  /** True if a sentence denies only what a similar sentence denies, too, or asserts what the most similar sentence does not deny. */
  #agrees(words: readonly string[], denies: boolean): boolean {
    const likeness = this.#sentences.map((sentence) => ({
      isNegated: sentence.isNegated,
      shared: words.filter((word) => hasForm(word, sentence.words)).length,
    }))
    const most = Math.max(...likeness.map(({ shared }) => shared))
    if (denies) return likeness.some(({ isNegated, shared }) => isNegated && shared * 2 >= most)
    return likeness.some(({ isNegated, shared }) => shared === most && !isNegated)
  }
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
