import type { Analyser } from '../../search/text/analyser.ts'
import { foldWord } from '../../search/text/fold-word.ts'
import { isUnspaced } from '../../search/text/script.ts'
import type { Token } from '../../search/text/tokens.ts'
import { properNamesIn } from './answer-shape.ts'
import { focusOf, type Kind, kindOf } from './question-kind.ts'
import { holds, type Unit } from './units.ts'
import { type Equivalents, equivalents, wordGroups } from './word-groups.ts'

export type AskedWord = {
  /** Its term, and what else it is found by. */
  terms: readonly string[]
  /** Terms and phrases that mean much the same. */
  others: readonly string[]
  /** What to look for in the text itself, where terms would be mistaken for others. */
  exact: RegExp | undefined
  /** How much it tells: how rare it is, and how much a question of its kind turns on it. */
  weight: number
  /** Whether it is a name, a number or an identifier: nothing else answers for it. */
  isName: boolean
}

export type Asked = {
  text: string
  /** What is no news to who asks: the question, and the names that all pages have, e.g. the product's. */
  known: string
  words: AskedWord[]
  /** Whether it is about anything: a greeting is not. */
  hasSubject: boolean
  /** Undefined where the question is not English. */
  kind: Kind | undefined
  /** The terms of the thing that it wants one of, or the number of. */
  focus: readonly string[]
  focusText: string
  /** Finds the last verb of an English question with the preposition that goes with it: `released under`. */
  ending: RegExp | undefined
  /** Terms of what somebody does, of a question who does it. */
  act: ReadonlySet<string>
}

/** What a term of an earlier question of the conversation weighs. */
const earlierWeight = 0.5
/** English words that ask more than they say: a sentence that answers need not have them. */
const lightWords = new Set(
  `actually again anyone anybody anything back exactly explain during find found get gets getting give gives happen happens happening know
  long made make makes may mean means might much many need needed needs often say says show someone something somebody take takes
  tell until use used uses using very want way ways please possible able like called kind kinds sort sorts type types thing things
  exist exists there work works come comes came deal without own there's whole really ever still always else several instead at all`.split(
    /\s+/,
  ),
)
/** Words whose stem is another word's, `found` of `founded`, and what is asked with them instead. */
const mistakable: ReadonlyMap<string, string> = new Map([['founded', 'founder established started created']])
/** What a message begins or ends with before or after the question itself. */
const greeting =
  /^(?:(?:bye|hello|hey|hi|ok|okay|please|thank|thanks|welcome|you|there)\b[\s,.!]*)+|[\s,]+(?:bye|please|thank you|thanks)[\s.!?]*$/giu
const lightWeight = 0.25
/** What a word that stands in most of what was found weighs at least, in parts of one that stands nowhere else. */
const minRarity = 0.5
const maxWords = 64
/** Of fewer, half says nothing. */
const minPages = 3

/**
 * @param texts the question, then those before it that it leans on. @param synonyms groups of words and phrases that count as
 * much as the words of the question.
 */
export function askedBy(
  texts: readonly string[],
  units: readonly Unit[],
  analyser: Analyser,
  { language, synonyms = [] }: { language: string; synonyms?: readonly (readonly string[])[] },
): Asked {
  const isEnglish = /^en\b/i.test(language)
  const [text = ''] = texts
  const groups: Equivalents = isEnglish ? wordGroups(analyser) : new Map()
  const names = equivalents(
    synonyms.map((alike) => ({ alike })),
    analyser,
  )
  const words = new Map<string, AskedWord & { isLight: boolean }>()
  for (const [index, each] of texts.entries()) {
    const question = isEnglish ? each.replace(greeting, '') : each
    const all = ` ${analyser
      .tokens(question)
      .map(({ term }) => term)
      .join(' ')} `
    for (const run of runsOf(question, analyser)) {
      const surface = question.slice(run[0]?.start, run.at(-1)?.end)
      const key = run.map(({ term }) => term).join(' ')
      if (words.has(key) || words.size === maxWords) continue
      const isLight = isEnglish && lightWords.has(surface.toLowerCase())
      const instead = isEnglish ? mistakable.get(surface.toLowerCase()) : undefined
      const terms = [key, ...(run[0]?.also ?? []), ...(names.get(key) ?? [])]
      words.set(key, {
        terms: instead === undefined ? terms : [],
        others:
          instead === undefined
            ? (groups.get(key) ?? [])
            : runsOf(instead, analyser).flatMap((one) => one.map(({ term }) => term)),
        exact: versionLike.test(surface) ? exactly(surface) : undefined,
        weight: (index === 0 ? 1 : earlierWeight) * (isLight ? lightWeight : 1) * rarity(run, units),
        isName: isEnglish && index === 0 && isName(question, surface, run[0]?.start ?? 0),
        isLight,
      })
    }
    if (isEnglish && index === 0) {
      for (const [sign] of question.matchAll(signs)) {
        const exact = new RegExp(`(?<!${signChar})${sign.replace(/[^\w\s]/g, String.raw`\$&`)}(?!${signChar})`)
        if (words.size < maxWords)
          words.set(sign, { terms: [], others: [], exact, weight: 1, isName: true, isLight: false })
      }
    }
    for (const [phrase, others] of phrasesIn(all, groups)) {
      for (const part of partsOf(phrase, words)) part.others = [...part.others, ...others]
    }
    for (const [phrase, others] of phrasesIn(all, names)) {
      for (const part of partsOf(phrase, words)) part.terms = [...part.terms, ...others]
    }
  }
  const act = isEnglish ? actOf(text, analyser) : ''
  return {
    text,
    known: [text, ...commonNames(units)].join('\n'),
    words: [...words.values()],
    hasSubject: [...words.values()].some(({ isLight }) => !isLight),
    kind: isEnglish ? kindOf(text) : undefined,
    act: new Set([act, ...(groups.get(act) ?? [])]),
    focusText: isEnglish ? focusOf(text) : '',
    ending: isEnglish ? endingOf(text) : undefined,
    focus: isEnglish ? runsOf(focusOf(text), analyser).map((run) => run.map(({ term }) => term).join(' ')) : [],
  }
}

/** The names that stand on at least half of three or more pages: what everything is about. */
function commonNames(units: readonly Unit[]): string[] {
  const pages = new Map<string, Set<string>>()
  for (const { text, passage } of units) {
    for (const name of properNamesIn(text)) pages.set(name, (pages.get(name) ?? new Set()).add(passage.seqId))
  }
  const all = new Set(units.map(({ passage }) => passage.seqId)).size
  return [...pages].flatMap(([name, on]) => (all >= minPages && on.size * 2 >= all ? [name] : []))
}

/** The phrases of several terms that the terms of a question hold, with what stands for them. */
function phrasesIn(terms: string, groups: Equivalents): [phrase: string, others: readonly string[]][] {
  return [...groups].filter(([phrase]) => phrase.includes(' ') && holds(terms, phrase))
}

function partsOf<Word>(phrase: string, words: ReadonlyMap<string, Word>): Word[] {
  return phrase.split(' ').flatMap((term) => words.get(term) ?? [])
}

const prepositions: ReadonlySet<string> = new Set('in on at to from under by with for into of as'.split(' '))
const fronted: ReadonlySet<string> = prepositions.union(new Set(['since']))

/** `released under` of `Which license is it released under?`, and of `Under which license is it released?`. In time linear in the text. */
function endingOf(question: string): RegExp | undefined {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+|[^\s?]/gu) ?? []
  const [first = '', second = ''] = words
  const [before = '', last = ''] = words.slice(-2)
  const isFronted = fronted.has(first) && (second === 'which' || second === 'what')
  const [verb, preposition] = prepositions.has(last) ? [before, last] : [last, isFronted ? first : '']
  return preposition !== '' && /^\p{L}{3,}$/u.test(verb)
    ? new RegExp(String.raw`\b${verb} ${preposition}\b`, 'i')
    : undefined
}

/** The first word after `who` that says something. */
function actOf(text: string, analyser: Analyser): string {
  const [, rest = ''] = /\bwho(?:m|se)?\b(.*)/is.exec(text) ?? []
  const words = runsOf(rest, analyser).flat()
  return words.find(({ start, end }) => !lightWords.has(rest.slice(start, end).toLowerCase()))?.term ?? ''
}

/** The words that are no stop words; the parts of `e-mail` and `web.yml` are one. */
function runsOf(text: string, analyser: Analyser): Token[][] {
  const runs: Token[][] = []
  let lastEnd = -1
  for (const token of analyser.tokens(text)) {
    // The last character of a run without spaces, which the pair before it has already.
    if (token.end === lastEnd) continue
    const isNext = lastEnd >= 0 && /^[-_.'’]?$/.test(text.slice(lastEnd, token.start)) && isSpaced(text, token)
    lastEnd = token.end
    if (isNext) runs.at(-1)?.push(token)
    else runs.push([token])
  }
  return runs.filter(
    ([first, ...rest]) =>
      rest.length > 0 || (first && !analyser.isStopWord(foldWord(text.slice(first.start, first.end)))),
  )
}

/** Whether a token is of a script that puts spaces between words. */
function isSpaced(text: string, { start, end }: Token): boolean {
  return !isUnspaced(text.slice(start, end))
}

const signChar = String.raw`[=<>+*/|&^%$#@~:!\-]`
/** Signs that stand for themselves, as operators do: `:=`. */
const signs = /(?<=\s)(?:[=<>+*|&^%~]|[=<>+*/|&^%$#@~:!-]{2,4})(?=\s|[?.,]?$)/g
const versionLike = /^v?\d+(?:\.\d+)+$/i

/** Finds a version, and no other that holds it: not the 2.0 of `0.2.0`. */
function exactly(surface: string): RegExp {
  return new RegExp(`(?<![\\d.])${surface.replace(/^v/i, '').replaceAll('.', '\\.')}(?!\\.?\\d)`)
}

/** A capital that does not begin the question, one within a word as in `iOS`, or a digit. */
function isName(text: string, word: string, start: number): boolean {
  if (/\d|\p{Ll}\p{Lu}/u.test(word)) return true
  const isFirst = !/[\p{L}\p{N}]/u.test(text.slice(0, start)) || /[.!?]\s+$/.test(text.slice(0, start))
  return !isFirst && /^\p{Lu}/u.test(word)
}

/** To 1: how rare a word is in the knowledge base; where that is not known, in the units. */
function rarity(run: readonly Token[], units: readonly Unit[]): number {
  const terms = [run.map(({ term }) => term).join(' '), ...(run[0]?.also ?? [])]
  const known = units[0]?.passage.rarity ?? {}
  const rarest = Math.max(...run.map(({ term }) => (Object.hasOwn(known, term) ? (known[term] ?? -1) : -1)))
  if (rarest >= 0) return minRarity + (1 - minRarity) * rarest
  const count = units.filter((unit) => terms.some((term) => holds(unit.terms, term))).length
  const idf = (n: number) => Math.log(1 + (units.length - n + 0.5) / (n + 0.5))
  return minRarity + (1 - minRarity) * (idf(count) / idf(0))
}
