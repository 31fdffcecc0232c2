import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import { occurrences } from '../index/page-terms.ts'
import type { StoredPage } from '../index/store-tables.ts'
import {
  mostFrequent,
  type PageMatches,
  type ScoredChunk,
  type TermChunk,
  type TermEngine,
} from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'
import { everyLeafOf, type Leaf, leavesOf, type Query, withoutBonus } from '../query/query-tree.ts'
import type { QuestionTerm } from '../query/question.ts'
import { best, type ScoredPostings, Scorer } from '../rank/scorer.ts'
import type { MiniSearchPostings } from './minisearch-postings.ts'
import { loadPostings, savePostings } from './minisearch-snapshot.ts'

/** Postings in memory: the faster engine, for knowledge bases that fit. */
export class MiniSearchEngine implements TermEngine {
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #file: string
  readonly #scorer: Scorer
  readonly #postings: MiniSearchPostings
  /** Of each chunk, to find phrases in. */
  readonly #terms: Map<number, string>

  /** @param file of the snapshot. */
  constructor(catalog: Catalog, store: IndexStore, file: string) {
    this.#catalog = catalog
    this.#store = store
    this.#file = file
    this.#scorer = new Scorer(catalog)
    const { postings, terms } = loadPostings(store, file)
    this.#postings = postings
    this.#terms = terms
  }

  get termsInMemory(): number {
    return this.#postings.heldTerms
  }

  addChunks(chunks: readonly TermChunk[]): void {
    for (const chunk of chunks) {
      this.#terms.set(chunk.id, chunk.terms)
      this.#postings.add(chunk)
    }
  }

  removeChunks(page: StoredPage, count: number): void {
    this.#store.removedChunks.note(page, count)
    const end = page.firstChunk + page.lengths.length
    for (let id = end - count; id < end; id++) {
      this.#postings.remove({ id, terms: this.#terms.get(id) ?? '' })
      this.#terms.delete(id)
    }
  }

  /** Pages are known by their chunks. */
  addPage(): void {}

  removePage(): void {}

  commit(): void {}

  work(): boolean {
    return false
  }

  close(): void {}

  search(query: Query, visible: Visible, limit: number, deadline: Deadline, among = visible.pages): PageMatches {
    const lists = new Map(
      everyLeafOf(query).map((leaf) => [leaf, { ...this.#ofLeaf(leaf, visible, deadline), weight: leaf.weight ?? 1 }]),
    )
    const scored = this.#scorer.scorePages(
      leavesOf(query).flatMap((leaf) => lists.get(leaf) ?? []),
      visible,
      among,
    )
    const matches = this.#matches(withoutBonus(query), lists, visible)
    const pages = scored.filter(({ page }) => matches[page] === 1)
    return {
      pages: best(pages, limit, this.#catalog),
      total: pages.length,
      matching: () => matches.map((matched, page) => matched & (among[page] ?? 0)),
    }
  }

  retrieve(terms: readonly QuestionTerm[], visible: Visible, limit: number, deadline: Deadline): ScoredChunk[] {
    const lists = terms.map(({ term, weight }) => ({ ...this.#ofTerm(term, visible, deadline), weight }))
    return best(this.#scorer.scoreChunks(lists, visible), limit, this.#catalog)
  }

  chunksWith(term: string, visible: Visible): number {
    if (visible.isAll) return this.#postings.chunksWith(term)
    let count = 0
    this.#postings.eachPosting(term, (chunk) => {
      count += visible.pages[this.#catalog.pageOf(chunk)] ?? 0
    })
    return count
  }

  similarTerms(
    word: string,
    maxEdits: number,
    visible: Visible,
    deadline: Deadline,
  ): [term: string, chunkCount: number][] {
    const similar: [term: string, chunkCount: number][] = []
    for (const term of this.#postings.termsWithin(word, maxEdits)) {
      deadline.check()
      const chunkCount = this.chunksWith(term, visible)
      if (chunkCount > 0) similar.push([term, chunkCount])
    }
    return similar
  }

  save(): void {
    savePostings(this.#store, this.#postings, this.#file)
  }

  /** 1 for every page that a query matches, by id. */
  #matches(query: Query, lists: ReadonlyMap<Query, ScoredPostings>, visible: Visible): Uint8Array {
    const matches = new Uint8Array(visible.pages.length)
    if (query.type === 'not') {
      const negated = this.#matches(query.query, lists, visible)
      for (let page = 0; page < matches.length; page++) matches[page] = negated[page] === 1 ? 0 : 1
    } else if (query.type === 'and' || query.type === 'or') {
      const [first = matches, ...others] = query.queries.map((part) => this.#matches(part, lists, visible))
      matches.set(first)
      // What decides: for `and`, a part that does not match; for `or`, one that does.
      const deciding = query.type === 'and' ? 0 : 1
      for (const part of others) {
        for (let page = 0; page < matches.length; page++) if (part[page] === deciding) matches[page] = deciding
      }
    } else {
      for (const chunk of lists.get(query)?.chunks ?? []) matches[this.#catalog.pageOf(chunk)] = 1
    }
    return matches
  }

  #ofLeaf(leaf: Leaf, visible: Visible, deadline: Deadline): ScoredPostings {
    if (leaf.type === 'term') return this.#ofTerm(leaf.term, visible, deadline)
    if (leaf.type === 'phrase') return this.#ofPhrase(leaf.terms, visible, deadline)
    return this.#ofTerms(mostFrequent(this.#expansions(leaf.prefix, visible, deadline)), visible, deadline)
  }

  /** The terms of visible chunks that begin with a prefix, with the number of visible chunks that hold each. */
  *#expansions(prefix: string, visible: Visible, deadline: Deadline): Generator<[term: string, chunkCount: number]> {
    for (const term of this.#postings.termsWithPrefix(prefix)) {
      deadline.check()
      const chunkCount = this.chunksWith(term, visible)
      if (chunkCount > 0) yield [term, chunkCount]
    }
  }

  #ofTerm(term: string, visible: Visible, deadline: Deadline): ScoredPostings {
    deadline.check()
    const [chunks, frequencies]: [number[], number[]] = [[], []]
    this.#postings.eachPosting(term, (chunk, frequency) => {
      if (visible.pages[this.#catalog.pageOf(chunk)] !== 1) return
      chunks.push(chunk)
      frequencies.push(frequency)
    })
    return this.#list(chunks, frequencies, visible)
  }

  /** Terms as if they were one. */
  #ofTerms(terms: readonly string[], visible: Visible, deadline: Deadline): ScoredPostings {
    const together = new Map<number, number>()
    for (const term of terms) {
      const { chunks, frequencies } = this.#ofTerm(term, visible, deadline)
      for (const [index, chunk] of chunks.entries()) {
        together.set(chunk, (together.get(chunk) ?? 0) + (frequencies[index] ?? 0))
      }
    }
    return this.#list([...together.keys()], [...together.values()], visible)
  }

  #ofPhrase(terms: readonly string[], visible: Visible, deadline: Deadline): ScoredPostings {
    const held = terms.map((term) => this.#ofTerm(term, visible, deadline).chunks).sort((a, b) => a.length - b.length)
    const phrase = terms.join(' ')
    const [chunks, frequencies]: [number[], number[]] = [[], []]
    for (const [index, chunk] of (held[0] ?? []).entries()) {
      if (index % 1000 === 0) deadline.check()
      const frequency = occurrences(this.#terms.get(chunk) ?? '', phrase)
      if (frequency === 0) continue
      chunks.push(chunk)
      frequencies.push(frequency)
    }
    return this.#list(chunks, frequencies, visible)
  }

  #list(chunks: readonly number[], frequencies: readonly number[], visible: Visible): ScoredPostings {
    const counted = new Uint8Array(visible.pages.length)
    let pageCount = 0
    for (const chunk of chunks) {
      const page = this.#catalog.pageOf(chunk)
      if (counted[page] === 1) continue
      counted[page] = 1
      pageCount++
    }
    return { chunks, frequencies, chunkCount: chunks.length, pageCount, weight: 1 }
  }
}
