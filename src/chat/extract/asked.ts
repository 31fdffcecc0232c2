import type { Analyser } from '../../search/text/analyser.ts'
import { foldWord } from '../../search/text/fold-word.ts'
import { isUnspaced } from '../../search/text/script.ts'
import type { Token } from '../../search/text/tokens.ts'
import { type Equivalents, equivalents, wordGroups } from './alike.ts'
import { focusOf, type Kind, kindOf } from './question-kind.ts'
import { holds, type Unit } from './units.ts'

export type AskedWord = {
  /** Its term, and what else it is found by. */
  terms: readonly string[]
  /** Terms and phrases that mean much the same. */
  others: readonly string[]
  /** What to look for in the text itself, where terms would be mistaken for others. */
  exact: RegExp | undefined
  /** How much it tells: how rare it is, and how much a question turns on it. */
  weight: number
  /** Whether it asks more than it says: a sentence that answers need not have it. */
  isLight: boolean
  /** Whether it is a name, a number or an identifier: nothing else answers for it. */
  isName: boolean
}

export type Asked = {
  text: string
  /** In the order of the question. */
  words: readonly AskedWord[]
  /** Its terms two by two, also those of stop words beside others: `written in`. */
  pairs: readonly string[]
  /** Undefined where the question is not English. */
  kind: Kind | undefined
  /** What it wants one of, or the number of; empty where it names none. */
  noun: string
}

/** What a term of an earlier question of the conversation weighs. */
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
/** What a message begins or ends with before or after the question itself. */
const greeting =
  /^(?:(?:bye|hello|hey|hi|ok|okay|please|thank|thanks|welcome|you|there)\b[\s,.!]*)+|[\s,]+(?:bye|please|thank you|thanks)[\s.!?]*$/giu
/** What a word that stands in most of what was found weighs at least, in parts of one that stands nowhere else. */
const minRarity = 0.5
const maxWords = 64
const signChar = String.raw`[=<>+*/|&^%$#@~:!\-]`
/** Signs that stand for themselves, as operators do: `:=`; and versions. */
const literal = /(?<=\s)(?:[=<>+*|&^%~]|[=<>+*/|&^%$#@~:!-]{2,4})(?=\s|[?.,]?$)|(?<![\w.])v?\d+(?:\.\d+)+\b/gi

/**
 * @param texts the question, then those before it that it leans on. @param synonyms groups of words and phrases that count as
 * much as the words of the question.
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
    synonyms.map((alike) => ({ alike })),
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

/** The words of a phrase count as said where what stands for the phrase is. */
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

/** The words that are no stop words; the parts of `e-mail` and `web.yml` are one. */
function runsOf(text: string, analyser: Analyser): Token[][] {
  const runs: Token[][] = []
  let lastEnd = -1
  for (const token of analyser.tokens(text)) {
    // The last character of a run without spaces, which the pair before it has already.
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

/** A capital that does not begin the question, one within a word as in `iOS`, or a digit. */
function isName(text: string, word: string, start: number): boolean {
  if (/\d|\p{Ll}\p{Lu}/u.test(word)) return true
  const isFirst = !/[\p{L}\p{N}]/u.test(text.slice(0, start)) || /[.!?]\s+$/.test(text.slice(0, start))
  return !isFirst && /^\p{Lu}/u.test(word)
}

/** To 1: how rare a word is in the knowledge base; where that is not known, in the units. */
function rarity(run: readonly Token[], units: readonly Unit[]): number {
  const terms = [termsOf(run), ...(run[0]?.also ?? [])]
  const known = units[0]?.passage.rarity ?? {}
  const rarest = Math.max(...run.map(({ term }) => (Object.hasOwn(known, term) ? (known[term] ?? -1) : -1)))
  if (rarest >= 0) return minRarity + (1 - minRarity) * rarest
  const count = units.filter((unit) => terms.some((term) => holds(unit.terms, term))).length
  const idf = (n: number) => Math.log(1 + (units.length - n + 0.5) / (n + 0.5))
  return minRarity + (1 - minRarity) * (idf(count) / idf(0))
}
