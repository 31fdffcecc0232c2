import { ByteWriter } from '../../bytes/byte-writer.ts'
import { grown } from '../../bytes/grown.ts'

/** The postings of one term, decoded: ascending ids of chunks, how often the term stands in each, and where. */
export class PostingBuffer {
  chunks = new Uint32Array(256)
  frequencies = new Uint32Array(256)
  /** Where the positions of each posting end in {@link positions}. */
  positionEnds = new Uint32Array(256)
  /** For each posting the distance of every position from the one before it. */
  readonly positions = new ByteWriter()
  count = 0

  clear(): void {
    this.count = 0
    this.positions.clear()
  }

  /** Its positions were written. */
  add(chunk: number, frequency: number): void {
    if (this.count === this.chunks.length) {
      this.chunks = grown(this.chunks, this.count + 1)
      this.frequencies = grown(this.frequencies, this.count + 1)
      this.positionEnds = grown(this.positionEnds, this.count + 1)
    }
    this.chunks[this.count] = chunk
    this.frequencies[this.count] = frequency
    this.positionEnds[this.count++] = this.positions.length
  }
}
