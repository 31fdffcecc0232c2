import { type DocumentKind, documentKinds } from '../../contract/enumerations.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { fold } from '../../rules/text/fold.ts'

/** What a page must be, whatever it says. Texts are folded; `at` is the beginning of a year, month or day in UTC. */
export type PageFilter =
  | { type: 'tag'; tag: string }
  | { type: 'path'; path: string }
  | { type: 'title'; words: readonly string[] }
  | { type: 'kind'; kind: DocumentKind }
  /** One of the pages of these keys; retrieve alone has it. */
  | { type: 'keys'; keys: ReadonlySet<string> }
  | { type: 'before' | 'after'; at: string }

/** Any of these, or none of them. */
export type FilterGroup = { any: PageFilter[]; isNegated: boolean }

/** What may be filtered by, as it is written before a colon. */
export const filterNames = ['tag', 'path', 'title', 'kind', 'before', 'after'] as const

const date = /^(?<year>\d{4})(?:-(?<month>0[1-9]|1[0-2])(?:-(?<day>0[1-9]|[12]\d|3[01]))?)?$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i

/** Reads a filter; undefined where its value is none, so that it is a word like any other. */
export function filterOf(name: (typeof filterNames)[number], value: string): PageFilter | undefined {
  if (name === 'before' || name === 'after') {
    const at = time.test(value) ? Date.parse(value) : Number.NaN
    if (!Number.isNaN(at)) return { type: name, at: new Date(at).toISOString() }
    const { year, month = '01', day = '01' } = date.exec(value)?.groups ?? {}
    return year === undefined ? undefined : { type: name, at: `${year}-${month}-${day}` }
  }
  if (name === 'kind') {
    const kind = documentKinds.find((known) => known === value.toLowerCase())
    return kind === undefined ? undefined : { type: name, kind }
  }
  if (name === 'title') {
    const words = fold(value).match(/[\p{L}\p{M}\p{N}]+/gu)
    return words === null ? undefined : { type: name, words }
  }
  const [tag, path] = [tagKey(value).replace(/\/+$/, ''), fold(value.trim())]
  if (name === 'tag') return tag === '' ? undefined : { type: name, tag }
  return path === '' ? undefined : { type: name, path }
}
