import type { Analyser } from '../../search/text/analyser.ts'
import { isUnspaced } from '../../search/text/script.ts'
import { foldWord } from '../../search/text/spelling.ts'
import type { Token } from '../../search/text/tokens.ts'
import { focusOf, type Kind, kindOf } from './question-kind.ts'
import { type Equivalents, equivalents, wordGroups } from './synonym-groups.ts'
import { holds, type Unit } from './units.ts'

export type AskedWord = {
  /** The term and its alternatives. */
  terms: readonly string[]
  /** Equivalent terms and phrases. */
  others: readonly string[]
  /** Pattern to match in the text itself, if terms would be ambiguous. */
  exact: RegExp | undefined
  /** Weight: its rarity, and its importance in the question. */
  weight: number
  /** True if an answer need not contain it, because it belongs to the form of the question. */
  isLight: boolean
  /** True for a name, a number or an identifier, which has no equivalents. */
  isName: boolean
}

export type Asked = {
  text: string
  /** Words in the order of the question. */
  words: readonly AskedWord[]
  /** Pairs of consecutive terms, including stop words beside others: `written in`. */
  pairs: readonly string[]
  /** Undefined if the question is not English. */
  kind: Kind | undefined
  /** Noun that it asks for one of, or for the number of; empty if there is none. */
  noun: string
}

/** Weight of a term of an earlier question in the conversation. */
const earlierWeight = 0.5
const lightWeight = 0.25
const lightWords = new Set(
  `actually again anyone anybody anything back exactly explain during find found get gets getting give gives happen happens happening know
  long made make makes may mean means might much many need needed needs often say says show someone something somebody take takes
  tell until use used uses using very want way ways please possible able like called kind kinds sort sorts type types thing things
  exist exists there work works come comes came deal without own there's whole really ever still always else several instead at all`.split(
    /\s+/,
  ),
)
/** Matches polite words before or after the question itself. */
const greeting =
  /^(?:(?:bye|hello|hey|hi|ok|okay|please|thank|thanks|welcome|you|there)\b[\s,.!]*)+|[\s,]+(?:bye|please|thank you|thanks)[\s.!?]*$/giu
/** Minimum weight of a common word; a word that occurs nowhere has 1. */
const minRarity = 0.5
const maxWords = 64
const signChar = String.raw`[=<>+*/|&^%$#@~:!\-]`
/** Matches operators such as `:=`, and versions, which are matched literally. */
const literal = /(?<=\s)(?:[=<>+*|&^%~]|[=<>+*/|&^%$#@~:!-]{2,4})(?=\s|[?.,]?$)|(?<![\w.])v?\d+(?:\.\d+)+\b/gi

/**
 * Analyses a question.
 * @param texts the question, then the earlier ones that it refers to
 * @param synonyms groups of words and phrases that count like the words of the question
 */
export function askedBy(
  texts: readonly string[],
  units: readonly Unit[],
  analyser: Analyser,
  { language, synonyms }: { language: string; synonyms: readonly (readonly string[])[] },
): Asked {
  const isEnglish = /^en\b/i.test(language)
  const [text = ''] = texts
  const groups: Equivalents = isEnglish ? wordGroups(analyser) : new Map()
  const names = equivalents(
    synonyms.map((both) => ({ both })),
    analyser,
  )
  const words = new Map<string, AskedWord>()
  for (const [index, each] of texts.entries()) {
    const question = isEnglish ? each.replace(greeting, '') : each
    for (const run of runsOf(question, analyser)) {
      const surface = question.slice(run[0]?.start, run.at(-1)?.end)
      const key = termsOf(run)
      if (words.has(key) || words.size === maxWords) continue
      const isLight = isEnglish && lightWords.has(surface.toLowerCase())
      words.set(key, {
        terms: [key, ...(run[0]?.also ?? []), ...(names.get(key) ?? [])],
        others: groups.get(key) ?? [],
        exact: undefined,
        weight: (index === 0 ? 1 : earlierWeight) * (isLight ? lightWeight : 1) * rarity(run, units),
        isLight,
        isName: isEnglish && index === 0 && isName(question, surface, run[0]?.start ?? 0),
      })
    }
    for (const [found] of isEnglish && index === 0 ? question.matchAll(literal) : []) {
      const version = /^v?(\d.*)/i.exec(found)?.[1]
      const beside = version === undefined ? signChar : String.raw`[\d.]`
      const exact = new RegExp(`(?<!${beside})${(version ?? found).replace(/[^\w\s]/g, String.raw`\$&`)}(?!${beside})`)
      for (const key of words.keys()) if (termsOf(analyser.tokens(found)) === key) words.delete(key)
      words.set(found, { terms: [], others: [], exact, weight: 1, isLight: false, isName: true })
    }
    const all = ` ${termsOf(analyser.tokens(question))} `
    const held = (phrases: Equivalents) => [...phrases].filter(([one]) => one.includes(' ') && holds(all, one))
    for (const [phrase, others] of held(groups)) extend(words, phrase, 'others', others)
    for (const [phrase, others] of held(names)) extend(words, phrase, 'terms', others)
  }
  return {
    text,
    words: [...words.values()],
    pairs: pairsIn(text, analyser),
    kind: isEnglish ? kindOf(text) : undefined,
    noun: isEnglish ? (/\p{L}+$/u.exec(focusOf(text))?.[0] ?? '') : '',
  }
}

function pairsIn(text: string, analyser: Analyser): string[] {
  const tokens = analyser.tokens(text)
  const says = ({ start, end }: Token) => !analyser.isStopWord(foldWord(text.slice(start, end)))
  return tokens.flatMap((token, at) => {
    const before = tokens[at - 1]
    return before !== undefined && (says(before) || says(token)) ? [`${before.term} ${token.term}`] : []
  })
}

/** Adds equivalents of a phrase to each of its words. */
function extend(
  words: Map<string, AskedWord>,
  phrase: string,
  where: 'terms' | 'others',
  added: readonly string[],
): void {
  for (const term of phrase.split(' ')) {
    const word = words.get(term)
    if (word !== undefined) words.set(term, { ...word, [where]: [...word[where], ...added] })
  }
}

function termsOf(tokens: readonly Token[]): string {
  return tokens.map(({ term }) => term).join(' ')
}

/** Returns the words that are no stop words; `e-mail` and `web.yml` are one word each. */
function runsOf(text: string, analyser: Analyser): Token[][] {
  const runs: Token[][] = []
  let lastEnd = -1
  for (const token of analyser.tokens(text)) {
    // The pair before has this character already.
    if (token.end === lastEnd) continue
    const isSpaced = !isUnspaced(text.slice(token.start, token.end))
    const isNext = lastEnd >= 0 && /^[-_.'’]?$/.test(text.slice(lastEnd, token.start)) && isSpaced
    lastEnd = token.end
    if (isNext) runs.at(-1)?.push(token)
    else runs.push([token])
  }
  return runs.filter(
    ([first, ...rest]) =>
      rest.length > 0 || (first && !analyser.isStopWord(foldWord(text.slice(first.start, first.end)))),
  )
}

/** True for a capital that does not begin the question, one within a word as in `iOS`, or a digit. */
function isName(text: string, word: string, start: number): boolean {
  if (/\d|\p{Ll}\p{Lu}/u.test(word)) return true
  const isFirst = !/[\p{L}\p{N}]/u.test(text.slice(0, start)) || /[.!?]\s+$/.test(text.slice(0, start))
  return !isFirst && /^\p{Lu}/u.test(word)
}

/** Returns the rarity of a word, up to 1: in the knowledge base if known, otherwise in the units. */
function rarity(run: readonly Token[], units: readonly Unit[]): number {
  const terms = [termsOf(run), ...(run[0]?.also ?? [])]
  const known = units[0]?.passage.rarity ?? {}
  const rarest = Math.max(...run.map(({ term }) => (Object.hasOwn(known, term) ? (known[term] ?? -1) : -1)))
  if (rarest >= 0) return minRarity + (1 - minRarity) * rarest
  const count = units.filter((unit) => terms.some((term) => holds(unit.terms, term))).length
  const idf = (n: number) => Math.log(1 + (units.length - n + 0.5) / (n + 0.5))
  return minRarity + (1 - minRarity) * (idf(count) / idf(0))
}
