import MiniSearch, { type AsPlainObject } from 'minisearch'
import { boundary } from '../index/page-terms.ts'
import { EditRows } from '../text/edit-rows.ts'
import { isNameTerm } from '../text/name-terms.ts'

type Chunk = { id: number; terms: string }

const options = {
  fields: ['terms'],
  tokenize: (terms: string) => terms.trim().split(' '),
  processTerm: (term: string) => (term === boundary ? null : term),
}

/**
 * The inverted index of MiniSearch, read as postings: which chunks hold a term, and how often. MiniSearch's own scoring is not
 * BM25 and counts what a reader may not see, so that ranking is done on the postings.
 */
export class MiniSearchPostings extends MiniSearch<Chunk> {
  #heldTerms = 0

  constructor() {
    super(options)
    this.#countTerms()
  }

  /** @param snapshot what `toJSON` gave. */
  static restore(snapshot: AsPlainObject): MiniSearchPostings {
    const restored = Object.assign(new MiniSearchPostings(), MiniSearch.loadJS<Chunk>(snapshot, options))
    restored.#countTerms()
    return restored
  }

  /** How many different terms there are. */
  get heldTerms(): number {
    return this.#heldTerms
  }

  /** Calls with every chunk that holds a term, and how often it does. */
  eachPosting(term: string, visit: (chunk: number, frequency: number) => void): void {
    for (const [document, frequency] of this._index.get(term)?.get(0) ?? []) {
      visit(this._documentIds.get(document), frequency)
    }
  }

  chunksWith(term: string): number {
    return this._index.get(term)?.get(0)?.size ?? 0
  }

  termsWithPrefix(prefix: string): Iterable<string> {
    return this._index.atPrefix(prefix).keys()
  }

  /** Terms that a word becomes with at most so many edits, of a name only names; see {@link EditRows}. */
  termsWithin(word: string, maxEdits: number): string[] {
    const rows = new EditRows(word, maxEdits)
    const found: string[] = []
    const descend = (tree: typeof this._index._tree, beginning: string) => {
      for (const edge of tree.keys()) {
        // How the tree marks that a term ends here.
        if (edge === '' && rows.isWithin(beginning.length)) found.push(beginning)
        const below = edge === '' ? undefined : tree.get(edge)
        if (below !== undefined && rows.takeAll(beginning.length, edge)) descend(below, beginning + edge)
      }
    }
    descend(this._index._tree, '')
    return isNameTerm(word) ? found.filter(isNameTerm) : found
  }

  /** Keeps count from now on: the `size` of MiniSearch's map looks at every term. */
  #countTerms(): void {
    const index = this._index
    const [fetch, remove] = [index.fetch.bind(index), index.delete.bind(index)]
    this.#heldTerms = index.size
    index.fetch = (term, initial) =>
      fetch(term, () => {
        this.#heldTerms++
        return initial()
      })
    index.delete = (term) => {
      remove(term)
      this.#heldTerms--
    }
  }
}
