import { grown } from '../bytes/byte-writer.ts'

/** What counts of a page that can be seen. Lengths are in terms. */
export type CountedPage = { id: number; class: number; chunkCount: number; length: number }

/** What a scope lets see, and the statistics of exactly that, which ranking needs. It follows the changes of its catalog. */
export class Visible {
  /** 1 where pages of the class of that id are seen. */
  readonly classes: Uint8Array
  /** Every page is seen. */
  isAll = false
  #pages: Uint8Array
  #pageCount = 0
  #chunkCount = 0
  #length = 0

  /** @param pageEnd one more than the highest id of a page */
  constructor(classes: Uint8Array, pageEnd: number) {
    this.classes = classes
    this.#pages = new Uint8Array(pageEnd)
  }

  /** 1 where the page of that id is seen. Until the next change. */
  get pages(): Uint8Array {
    return this.#pages
  }

  get pageCount(): number {
    return this.#pageCount
  }

  get chunkCount(): number {
    return this.#chunkCount
  }

  get averagePageLength(): number {
    return this.#length / Math.max(1, this.#pageCount)
  }

  get averageChunkLength(): number {
    return this.#length / Math.max(1, this.#chunkCount)
  }

  /** A page is whole, whose class may be one that is seen. */
  add({ id, class: ofPage, chunkCount, length }: CountedPage): void {
    if (this.classes[ofPage] !== 1) return
    if (id >= this.#pages.length) this.#pages = grown(this.#pages, id + 1)
    this.#pages[id] = 1
    this.#pageCount++
    this.#chunkCount += chunkCount
    this.#length += length
  }

  /** What was added is gone, or not whole any more. */
  remove({ id, class: ofPage, chunkCount, length }: CountedPage): void {
    if (this.classes[ofPage] !== 1) return
    this.#pages[id] = 0
    this.#pageCount--
    this.#chunkCount -= chunkCount
    this.#length -= length
  }
}
