import { grown } from '../bytes/byte-writer.ts'

/** Statistics of a page. Lengths are in terms. */
export type CountedPage = { id: number; class: number; chunkCount: number; length: number }

/** The visible pages of a scope and their statistics, which ranking needs. Follows the changes of its catalog. */
export class Visible {
  /** 1 for each visible class, by id. */
  readonly classes: Uint8Array
  /** 1 for each visible page, by id. Valid until the next change. */
  pages: Uint8Array
  pageCount = 0
  chunkCount = 0
  #length = 0

  /** Starts without pages. @param pageEnd one more than the highest page id */
  constructor(classes: Uint8Array, pageEnd: number) {
    this.classes = classes
    this.pages = new Uint8Array(pageEnd)
  }

  get averagePageLength(): number {
    return this.#length / Math.max(1, this.pageCount)
  }

  get averageChunkLength(): number {
    return this.#length / Math.max(1, this.chunkCount)
  }

  /** Adds a complete page if its class is visible. */
  add({ id, class: ofPage, chunkCount, length }: CountedPage): void {
    if (this.classes[ofPage] !== 1) return
    if (id >= this.pages.length) this.pages = grown(this.pages, id + 1)
    this.pages[id] = 1
    this.pageCount++
    this.chunkCount += chunkCount
    this.#length += length
  }

  /** Removes a page that was removed or is incomplete. */
  remove({ id, class: ofPage, chunkCount, length }: CountedPage): void {
    if (this.classes[ofPage] !== 1) return
    this.pages[id] = 0
    this.pageCount--
    this.chunkCount -= chunkCount
    this.#length -= length
  }
}
