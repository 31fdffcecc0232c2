import { TermScan, TermTable, termHash } from '../text/term-table.ts'

/** A removed page with the terms of its chunks. */
type RemovedPage = { class: number; chunks: readonly { terms: string }[] }
type Count = { chunks: number; pages: number }

/** Counts of chunks and pages with a term, by the class of the pages. */
export type CountedTerms = Pick<RemovedTerms, 'isEmpty' | 'countOf'>

/** Counts terms in removed chunks and pages that are still in a segment. The counts of segments less these are the current ones. */
export class RemovedTerms {
  readonly #byClass = new Map<number, TermCounts>()

  add(page: RemovedPage): void {
    const counts = this.#byClass.get(page.class) ?? new TermCounts()
    this.#byClass.set(page.class, counts)
    counts.change(page, 1)
  }

  /** Subtracts a page that no segment contains any more. */
  subtract(page: RemovedPage): void {
    const counts = this.#byClass.get(page.class)
    counts?.change(page, -1)
    if (counts?.pageCount === 0) this.#byClass.delete(page.class)
  }

  get isEmpty(): boolean {
    return this.#byClass.size === 0
  }

  countOf(term: string, ofPages: number): Count | undefined {
    return this.#byClass.get(ofPages)?.countOf(term)
  }
}

class TermCounts {
  pageCount = 0
  readonly #table = new TermTable()
  readonly #scan = new TermScan()
  readonly #chunks: number[] = []
  readonly #pages: number[] = []
  /** Last chunk and page with each term, so that it counts once in each. */
  readonly #lastChunk: number[] = []
  readonly #lastPage: number[] = []
  #number = 0

  change({ chunks }: RemovedPage, amount: 1 | -1): void {
    this.pageCount += amount
    const page = ++this.#number
    for (const { terms } of chunks) {
      const chunk = ++this.#number
      this.#scan.scan(terms, 0, terms.length)
      for (let at = 0; at < this.#scan.count; at++) {
        const index = this.#table.addAt(terms, this.#scan, at)
        if (this.#lastChunk[index] === chunk) continue
        this.#lastChunk[index] = chunk
        this.#chunks[index] = (this.#chunks[index] ?? 0) + amount
        if (this.#lastPage[index] === page) continue
        this.#lastPage[index] = page
        this.#pages[index] = (this.#pages[index] ?? 0) + amount
      }
    }
  }

  countOf(term: string): Count | undefined {
    const index = this.#table.find(term, 0, term.length, termHash(term))
    return index < 0 ? undefined : { chunks: this.#chunks[index] ?? 0, pages: this.#pages[index] ?? 0 }
  }
}
