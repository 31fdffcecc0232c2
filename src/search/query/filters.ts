import { type DocumentKind, documentKinds } from '../../contract/enumerations.ts'
import { instantOf } from '../../contract/moment.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { fold } from '../../rules/text/fold.ts'

/** Condition on a page, independent of its text. Texts are folded; `at` is the start of a year, month or day in UTC. */
export type PageFilter =
  | { type: 'tag'; tag: string }
  | { type: 'path'; path: string }
  | { type: 'title'; words: readonly string[] }
  | { type: 'kind'; kind: DocumentKind }
  /** Restricts to pages with these keys; only `retrieve` has it. */
  | { type: 'keys'; keys: ReadonlySet<string> }
  | { type: 'before' | 'after'; at: string }

/** Alternatives: one of them must hold, or none if negated. */
export type FilterGroup = { any: PageFilter[]; isNegated: boolean }

/** Names of filters, as written before a colon. */
export const filterNames = ['tag', 'path', 'title', 'kind', 'before', 'after'] as const

/** A year or a month, which queries accept besides days and times. */
const part = /^\d{4}(?:-\d\d)?$/

/** Parses a filter. Undefined if the value is invalid, so that it is a word like any other. */
export function filterOf(name: (typeof filterNames)[number], value: string): PageFilter | undefined {
  if (name === 'before' || name === 'after') {
    const at = instantOf(part.test(value) ? `${value}-01-01`.slice(0, 10) : value.toUpperCase())
    return at === undefined ? undefined : { type: name, at }
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

/** Properties of a page that filters test. */
export type PageFacts = {
  title: string
  /** Path in the knowledge base, without a suffix. */
  path: string
  tags: readonly string[]
  /** ISO 8601, in UTC. */
  changedAt: string
}

/** {@link PageFacts}, folded for comparison. */
export class ComparedFacts {
  readonly path: string
  readonly changedAt: string
  readonly tags: readonly string[]
  readonly #title: string
  readonly #path: string
  readonly #tagKeys: readonly string[]

  constructor({ title, path, tags, changedAt }: PageFacts) {
    this.path = path
    this.changedAt = changedAt
    this.tags = tags
    this.#title = ` ${fold(title).replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')} `
    this.#path = `/${fold(path)}`
    this.#tagKeys = tags.map(tagKey)
  }

  /** True if a page passes a filter other than kind and keys. A tag includes those below it; a path matches from the start of a folder or name. */
  passes(filter: Exclude<PageFilter, { type: 'kind' | 'keys' }>): boolean {
    if (filter.type === 'tag') {
      return this.#tagKeys.some((key) => key === filter.tag || key.startsWith(`${filter.tag}/`))
    }
    if (filter.type === 'path') {
      return filter.path.startsWith('/') ? this.#path.startsWith(filter.path) : this.#path.includes(`/${filter.path}`)
    }
    if (filter.type === 'title') return filter.words.every((word) => this.#title.includes(` ${word}`))
    return filter.type === 'before' ? this.changedAt < filter.at : this.changedAt >= filter.at
  }
}
