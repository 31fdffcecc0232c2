import { tagKey } from '../../rules/neurons/tag.ts'
import { fold } from '../../rules/text/fold.ts'
import type { PageFilter } from '../query/filters.ts'

/** What a page is, beside what it says: what filters ask for. */
export type PageFacts = {
  title: string
  /** In its knowledge base, without a suffix. */
  path: string
  tags: readonly string[]
  /** ISO 8601, in UTC. */
  changedAt: string
}

/** The same as filters compare it. */
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

  /** Whether a page passes a filter, but for its kind and key: tags with those below them, paths from the beginning of a folder or name on. */
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
