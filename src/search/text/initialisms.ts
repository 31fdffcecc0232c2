import { fold } from '../../rules/text/fold.ts'
import type { Analyser } from './analyser.ts'
import { initialsSign, writtenOutSign } from './name-terms.ts'

const words = /[\p{L}\p{N}]+/gu
/** `BYOD`, and `Bring Your Own Device`, also with little words between: `Point of Sale`. */
const written = /(?<![\p{L}\p{N}])\p{Lu}{3,6}(?![\p{L}\p{N}])/gu
const capitalised =
  /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}{1,30}(?:[ -](?:\p{Ll}{1,3} )?\p{Lu}\p{Ll}{1,30}){2,5}(?![\p{L}\p{N}])/gu
const [least, most] = [3, 6]
/** Words of a question that are looked at; and chunks with a word that is rare. */
const [maxAsked, rare] = [64, 2]

/** The terms of the initialisms that a text has, and of those that its capitalised words have. */
export function initialismsIn(text: string, analyser: Analyser): string[] {
  const short = text.match(written) ?? []
  // A sentence may begin before the name.
  const runs = (text.match(capitalised) ?? []).flatMap((run) => [run, run.replace(/^\p{L}+[ -](?:\p{Ll}+ )?/u, '')])
  return [...short.map((one) => initialsSign + fold(one)), ...runs.flatMap((run) => initialismsOf(run, analyser))]
}

/** Those that words write out: all of them, and those that say something. */
export function initialismsOf(name: string, analyser: Analyser, sign = writtenOutSign): string[] {
  const all = name.match(words) ?? []
  const telling = all.filter((word) => !analyser.isStopWord(fold(word)))
  const initials = [all, telling].map((some) => some.map((word) => [...word][0]).join(''))
  const whole = initials.filter(({ length }) => length >= least && length <= most)
  return [...new Set(whole.map((letters) => sign + fold(letters)))]
}

/** Those of an index that words of a query may mean: one that hardly any page has, or several, written out. */
export function initialismsMeant(run: string, analyser: Analyser, chunksWith: (term: string) => number): string[] {
  const all = run.match(words) ?? []
  const [first = '', last = ''] = [all[0], all.at(-1)]
  const isRare = () => analyser.tokens(run).every(({ term }) => chunksWith(term) <= rare)
  const isName = () => ![first, last].some((word) => analyser.isStopWord(fold(word)))
  // Any three words spell some initialism.
  const named = all.length > least || /^\p{Lu}.*\s\p{Lu}/u.test(run) ? initialismsOf(run, analyser, initialsSign) : []
  const meant =
    all.length > 1 ? (isName() ? named : []) : first.length < least || !isRare() ? [] : [writtenOutSign + fold(first)]
  return meant.filter((term) => chunksWith(term) > 0)
}

/** Those of a question, as far as its first words go. */
export function initialismsAsked(question: string, analyser: Analyser, chunksWith: (term: string) => number): string[] {
  const all = (question.match(words) ?? []).slice(0, maxAsked)
  const runs = all.flatMap((_, from) =>
    Array.from({ length: Math.min(most, all.length - from) }, (__, more) => all.slice(from, from + more + 1).join(' ')),
  )
  return [...new Set(runs.flatMap((run) => initialismsMeant(run, analyser, chunksWith)))]
}
