import { grown } from '../bytes/byte-writer.ts'
import type { Catalog, Visible } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import { union } from './match-pages.ts'
import { blockSize, end, indexFrom, type PostingList, type Scoring } from './posting-list.ts'
import { pageShare, saturation, type TopChunks } from './scores.ts'

/** Minimum chunks of a window, which ends with a page. */
const windowSize = 256
/** Minimum postings per page for which seeking a wanted page is faster than scanning. */
const postingsPassedOver = 16
/** Maximum postings that are scored without first bounding the scores of windows. */
const fewPostings = 2048
/** Number of postings that can be scored in sequence in the time of seeking one page. */
const postingsForPage = 4
/** Tolerance: bounds and scores add the same numbers in different orders. */
const slack = 1 + 1e-9

const none = new Uint32Array()

/** Postings of a leaf, with its weights for chunks and pages. */
export type WeightedList = {
  list: PostingList
  chunkWeight: number
  pageWeight: number
  /** True if the list scores only pages that an earlier list contains. */
  isBonus: boolean
}

/** Postings to score in a part of an index: all, or those of some pages by ascending id. */
export type Scored = {
  lists: readonly WeightedList[]
  windows: Uint32Array
  pages?: Uint32Array
  allowedPages: Uint8Array
}

/** Range of chunks to score at once, made of whole pages; `wanted` restricts it to some pages. */
type Window = { from: number; to: number; wanted: Uint32Array | undefined }

/** Returns the first chunk of every window of pages, by ascending id, and the end of the last. */
export function windowsOf(pages: Uint32Array, catalog: Catalog): Uint32Array {
  const starts: number[] = []
  let stop = 0
  for (const page of pages) {
    const { from, to } = catalog.chunkRange(page)
    if (from === to) continue
    if (starts.length === 0 || from - (starts.at(-1) ?? 0) >= windowSize) starts.push(from)
    stop = to
  }
  return Uint32Array.from([...starts, stop])
}

/**
 * Finds the best-scoring chunks or pages, exactly: scores add up in the order of the lists. Visits
 * windows by descending upper bound, and stops when no other can contain one of the best: "interval-based pruning", Dimopoulos,
 * Nepomnyachiy and Suel, "Optimizing Top-k Document Retrieval Strategies for Block-Max Indexes", 2013.
 */
export class WindowScorer {
  readonly #catalog: Catalog
  #ofChunk = new Float64Array(0)
  #ofPage = new Float64Array(0)
  #bestOfPage = new Uint32Array(0)
  /** 1 for each wanted page of the current window, by id. */
  #wanted = new Uint8Array(0)
  #touched = new Uint32Array(1024)
  #count = 0

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Scores a part of an index. @param unit score each chunk, or the best of each page @throws {SearchTimeout} */
  score(scored: Scored, unit: 'chunk' | 'page', visible: Visible, top: TopChunks, deadline: Deadline): void {
    const { lists, windows, pages, allowedPages } = scored
    if (lists.length === 0 || windows.length < 2) return
    this.#grow()
    if (windows.length === 2 || lists.reduce((sum, { list }) => sum + list.count, 0) <= fewPostings) {
      this.#scoreWindow(scored, { from: windows[0] ?? 0, to: windows.at(-1) ?? 0, wanted: pages }, visible)
      this.#offer(unit, top)
      return
    }
    const ofLists = lists.map((weighted) => this.#bounds(weighted, windows, visible))
    const bounds = sumOf(ofLists)
    const order = Uint32Array.from(bounds.keys()).sort((a, b) => (bounds[b] ?? 0) - (bounds[a] ?? 0))
    const starts = pages && startsIn(pages, windows, this.#catalog)
    const needed = pages === undefined ? new NeededLists(lists, ofLists) : undefined
    for (const window of order) {
      const bound = bounds[window] ?? 0
      if (bound === 0 || bound * slack < top.threshold) break
      if (starts !== undefined && starts[window] === starts[window + 1]) continue
      deadline.check()
      const [from, to] = [windows[window] ?? 0, windows[window + 1] ?? 0]
      const hasAny = needed?.for(top.threshold)
      const wanted =
        pages?.subarray(starts?.[window], starts?.[window + 1]) ??
        (hasAny && this.#pagesIn(hasAny, { from, to }, allowedPages))
      this.#scoreWindow(scored, { from, to, wanted }, visible)
      this.#offer(unit, top)
    }
  }

  /** Returns the pages of a window in any of the lists. */
  #pagesIn(lists: readonly PostingList[], { from, to }: Omit<Window, 'wanted'>, allowedPages: Uint8Array): Uint32Array {
    const { pagesOfChunks } = this.#catalog
    const pages = lists.map((list) => {
      const inWindow: number[] = []
      let last = 0
      for (let at = indexFrom(list, from); at < list.count; at++) {
        if (at % blockSize === 0) list.load(at / blockSize)
        const chunk = list.chunks[at] ?? 0
        if (chunk >= to) break
        const page = pagesOfChunks[chunk] ?? 0
        if (page !== last && allowedPages[page] === 1) inWindow.push(page)
        last = page
      }
      return Uint32Array.from(inWindow)
    })
    return pages.reduce<Uint32Array>(union, none)
  }

  #scoreWindow({ lists, allowedPages }: Scored, { from, to, wanted }: Window, visible: Visible): void {
    const marks = wanted === undefined ? allowedPages : this.#wanted
    for (const page of wanted ?? []) marks[page] = 1
    for (const weighted of lists) {
      const most = Math.min(weighted.list.count, to - from)
      if (wanted !== undefined && wanted.length * postingsPassedOver < most) {
        this.#accumulatePages(weighted, wanted, visible)
      } else {
        this.#accumulate(weighted, { at: indexFrom(weighted.list, from), to }, marks, visible)
      }
    }
    for (const page of wanted ?? []) marks[page] = 0
  }

  #accumulatePages(weighted: WeightedList, pages: Uint32Array, visible: Visible): void {
    let at = 0
    for (const page of pages) {
      const { from, to } = this.#catalog.chunkRange(page)
      at = indexFrom(weighted.list, from, at)
      this.#accumulate(weighted, { at, to }, this.#wanted, visible)
    }
  }

  /** Adds the scores of a list to its chunks and pages, from index `at` to before the chunk `to`, where a page begins. */
  #accumulate(
    { list, chunkWeight, pageWeight, isBonus }: WeightedList,
    { at: first, to }: { at: number; to: number },
    allowedPages: Uint8Array,
    { averageChunkLength, averagePageLength }: Visible,
  ): void {
    const { pagesOfChunks, chunkLengths, pageLengths } = this.#catalog
    const { chunks, frequencies, count } = list
    const [ofChunk, ofPage] = [this.#ofChunk, this.#ofPage]
    let page = 0
    let inPage = 0
    const addToPage = () => {
      if (inPage === 0) return
      const score = pageWeight * saturation(inPage, pageLengths[page] ?? 0, averagePageLength)
      ofPage[page] = (ofPage[page] ?? 0) + score
    }
    for (let at = first; at < count; at++) {
      if (at % blockSize === 0) list.load(at / blockSize)
      const chunk = chunks[at] ?? 0
      if (chunk >= to) break
      const pageOfChunk = pagesOfChunks[chunk] ?? 0
      if (allowedPages[pageOfChunk] !== 1 || (isBonus && ofPage[pageOfChunk] === 0)) continue
      if (pageOfChunk !== page) {
        addToPage()
        page = pageOfChunk
        inPage = 0
      }
      const known = ofChunk[chunk] ?? 0
      if (known === 0) this.#touch(chunk)
      const frequency = frequencies[at] ?? 0
      ofChunk[chunk] = known + chunkWeight * saturation(frequency, chunkLengths[chunk] ?? 0, averageChunkLength)
      inPage += frequency
    }
    addToPage()
  }

  /** Offers the scored chunks or pages, and resets the scores. */
  #offer(unit: 'chunk' | 'page', top: TopChunks): void {
    const { pagesOfChunks } = this.#catalog
    if (unit === 'page') this.#chooseBest()
    for (let at = 0; at < this.#count; at++) {
      const chunk = this.#touched[at] ?? 0
      const page = pagesOfChunks[chunk] ?? 0
      if (unit === 'page' && this.#bestOfPage[page] !== chunk) continue
      const score = this.#total(chunk, page)
      if (score >= top.threshold) top.offer({ chunk, page, score })
    }
    for (let at = 0; at < this.#count; at++) {
      const chunk = this.#touched[at] ?? 0
      const page = pagesOfChunks[chunk] ?? 0
      this.#ofChunk[chunk] = 0
      this.#ofPage[page] = 0
      this.#bestOfPage[page] = 0
    }
    this.#count = 0
  }

  /** Finds the best chunk of each page. */
  #chooseBest(): void {
    const { pagesOfChunks } = this.#catalog
    const [touched, ofChunk, ofPage, bestOfPage] = [this.#touched, this.#ofChunk, this.#ofPage, this.#bestOfPage]
    for (let at = 0; at < this.#count; at++) {
      const chunk = touched[at] ?? 0
      const page = pagesOfChunks[chunk] ?? 0
      const known = bestOfPage[page] ?? 0
      if (known === 0) {
        bestOfPage[page] = chunk
        continue
      }
      const share = pageShare * (ofPage[page] ?? 0)
      const [score, best] = [(ofChunk[chunk] ?? 0) + share, (ofChunk[known] ?? 0) + share]
      if (score > best || (score === best && chunk < known)) bestOfPage[page] = chunk
    }
  }

  #total(chunk: number, page: number): number {
    return (this.#ofChunk[chunk] ?? 0) + pageShare * (this.#ofPage[page] ?? 0)
  }

  /** Returns the maximum score of a list in each window. */
  #bounds(weighted: WeightedList, windows: Uint32Array, visible: Visible): Float64Array {
    const bounds = new Float64Array(windows.length - 1)
    const isLong = weighted.list.count > 2 * bounds.length
    const ofBlocks = isLong ? weighted.list.bounds(scoringOf(weighted, visible)) : undefined
    if (ofBlocks === undefined) this.#boundByPostings(weighted, windows, visible, bounds)
    else boundByBlocks(weighted.list, ofBlocks, windows, bounds)
    return bounds
  }

  /** Bounds windows by their highest frequencies and shortest texts. */
  #boundByPostings(weighted: WeightedList, windows: Uint32Array, visible: Visible, bounds: Float64Array): void {
    const { pagesOfChunks, chunkLengths, pageLengths } = this.#catalog
    const { ofChunk, ofPage } = scoringOf(weighted, visible)
    const { chunks, frequencies, count } = weighted.list
    let at = 0
    for (let window = 0; window < bounds.length && at < count; window++) {
      // Postings of removed pages may lie beyond the end.
      const stop = window === bounds.length - 1 ? end : (windows[window + 1] ?? 0)
      let [highest, shortest, highestInPage, shortestPage] = [0, end, 0, end]
      let [page, inPage] = [0, 0]
      for (; at < count; at++) {
        if (at % blockSize === 0) weighted.list.load(at / blockSize)
        const chunk = chunks[at] ?? 0
        if (chunk >= stop) break
        const frequency = frequencies[at] ?? 0
        const length = chunkLengths[chunk] ?? 0
        const pageOfChunk = pagesOfChunks[chunk] ?? 0
        if (pageOfChunk !== page) {
          page = pageOfChunk
          inPage = 0
          const pageLength = pageLengths[page] ?? 0
          if (pageLength < shortestPage) shortestPage = pageLength
        }
        inPage += frequency
        if (frequency > highest) highest = frequency
        if (length < shortest) shortest = length
        if (inPage > highestInPage) highestInPage = inPage
      }
      if (highest > 0) bounds[window] = ofChunk(highest, shortest) + ofPage(highestInPage, shortestPage)
    }
  }

  #touch(chunk: number): void {
    if (this.#count === this.#touched.length) this.#touched = grown(this.#touched, this.#count + 1)
    this.#touched[this.#count++] = chunk
  }

  #grow(): void {
    const { pagesOfChunks, pageLengths } = this.#catalog
    if (this.#ofChunk.length < pagesOfChunks.length) this.#ofChunk = new Float64Array(pagesOfChunks.length)
    if (this.#ofPage.length >= pageLengths.length) return
    this.#ofPage = new Float64Array(pageLengths.length)
    this.#bestOfPage = new Uint32Array(pageLengths.length)
    this.#wanted = new Uint8Array(pageLengths.length)
  }
}

function sumOf(ofLists: readonly Float64Array[]): Float64Array {
  const [first = new Float64Array(), ...others] = ofLists
  const sum = first.slice()
  for (const ofList of others) for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (ofList[at] ?? 0)
  return sum
}

/**
 * Selects the essential lists: a page among the best is in one of them, because the other lists together cannot reach the
 * threshold. "MaxScore", Turtle and Flood, "Query Evaluation: Strategies and Optimizations", 1995.
 */
class NeededLists {
  readonly #lists: { list: PostingList; bound: number }[]
  readonly #postings: number
  #sum = 0
  #needed: PostingList[] | undefined

  /** Starts with all lists. @param bounds maximum score of each list in each window */
  constructor(lists: readonly WeightedList[], bounds: readonly Float64Array[]) {
    this.#lists = lists.map(({ list }, index) => ({ list, bound: highestOf(bounds[index]) }))
    this.#lists.sort((a, b) => b.bound - a.bound)
    this.#postings = lists.reduce((sum, { list }) => sum + list.count, 0)
  }

  /** Returns the essential lists for a score threshold, which must never decrease. Undefined if they would save little. */
  for(threshold: number): readonly PostingList[] | undefined {
    let isChanged = false
    for (let last = this.#lists.at(-1); last !== undefined; last = this.#lists.at(-1)) {
      if ((this.#sum + last.bound) * slack >= threshold) break
      this.#sum += last.bound
      this.#lists.pop()
      isChanged = true
    }
    if (!isChanged) return this.#needed
    const postings = this.#lists.reduce((sum, { list }) => sum + list.count, 0)
    this.#needed = postings * postingsForPage < this.#postings ? this.#lists.map(({ list }) => list) : undefined
    return this.#needed
  }
}

function highestOf(bounds: Float64Array | undefined): number {
  return bounds?.reduce((highest, bound) => Math.max(highest, bound), 0) ?? 0
}

function scoringOf({ chunkWeight, pageWeight }: WeightedList, visible: Visible): Scoring {
  return {
    ofChunk: (frequency, length) => chunkWeight * saturation(frequency, length, visible.averageChunkLength),
    ofPage: (frequency, length) => pageShare * pageWeight * saturation(frequency, length, visible.averagePageLength),
  }
}

function boundByBlocks(list: PostingList, ofBlocks: Float64Array, windows: Uint32Array, bounds: Float64Array): void {
  let window = 0
  for (let block = 0; block < ofBlocks.length; block++) {
    const bound = ofBlocks[block] ?? 0
    const last = list.lastChunks[block] ?? 0
    // The last window of a block may be the first of the next.
    for (; window < bounds.length; window++) {
      bounds[window] = Math.max(bounds[window] ?? 0, bound)
      if ((windows[window + 1] ?? 0) > last) break
    }
  }
}

/** Returns the start of each window's pages in a list of pages, and the end. */
function startsIn(pages: Uint32Array, windows: Uint32Array, { firstChunks }: Catalog): Uint32Array {
  const starts = new Uint32Array(windows.length)
  let next = 0
  for (let window = 0; window < windows.length; window++) {
    const from = windows[window] ?? 0
    while (next < pages.length && (firstChunks[pages[next] ?? 0] ?? 0) < from) next++
    starts[window] = next
  }
  starts[windows.length - 1] = pages.length
  return starts
}
