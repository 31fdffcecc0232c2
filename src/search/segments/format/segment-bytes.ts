import { closeSync, fdatasyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { ByteWriter } from '../../bytes/byte-writer.ts'

/** Bytes covered by one checksum. */
const sumSize = 16 * 1024
/** Maximum cached parts of a file. */
const maxPages = 64
/** Bytes of one write, and bytes between flushes, which keep the last flush short. */
const writeSize = 256 * 1024
const syncSize = 8 * 1024 * 1024

/** Bytes of a segment, in memory or in a file. */
export interface SegmentBytes {
  /** Returns bytes that never change. @throws {DamagedSegment} */
  read(offset: number, length: number): Uint8Array
  close(): void
}

export interface SegmentSink {
  readonly length: number
  write(bytes: Uint8Array): void
  /** Discards the bytes written so far. */
  abandon(): void
}

/** Thrown if the file of a segment is missing or damaged. The file was removed; opening the index rebuilds the segment. */
export class DamagedSegment extends Error {
  constructor(file: string) {
    super(`${file} is damaged`)
  }
}

export class MemorySink implements SegmentSink {
  readonly #out = new ByteWriter()

  get length(): number {
    return this.#out.length
  }

  write(bytes: Uint8Array): void {
    this.#out.bytes(bytes)
  }

  finish(): SegmentBytes {
    const bytes = this.#out.written.slice()
    return { read: (offset, length) => bytes.subarray(offset, offset + length), close: () => undefined }
  }

  abandon(): void {}
}

export class FileSink implements SegmentSink {
  readonly file: string
  readonly #fd: number
  readonly #pending = new ByteWriter()
  readonly #sums: number[] = []
  #written = 0
  #synced = 0

  constructor(file: string) {
    this.file = file
    this.#fd = openSync(file, 'wx')
  }

  get length(): number {
    return this.#written + this.#pending.length
  }

  write(bytes: Uint8Array): void {
    this.#pending.bytes(bytes)
    if (this.#pending.length >= writeSize) this.#flush(this.#pending.length - (this.#pending.length % sumSize))
  }

  /** Flushes to the disk. @returns the checksums of the file */
  finish(): Uint32Array {
    this.#flush(this.#pending.length)
    fdatasyncSync(this.#fd)
    closeSync(this.#fd)
    return Uint32Array.from(this.#sums)
  }

  /** Closes and removes the file. */
  abandon(): void {
    closeSync(this.#fd)
    rmSync(this.file, { force: true })
  }

  #flush(length: number): void {
    const bytes = this.#pending.written.slice()
    for (let at = 0; at < length; at += sumSize)
      this.#sums.push(crc32(bytes.subarray(at, Math.min(at + sumSize, length))))
    for (let at = 0; at < length; ) at += writeSync(this.#fd, bytes, at, length - at)
    this.#written += length
    this.#pending.clear()
    this.#pending.bytes(bytes, length)
    if (this.#written - this.#synced < syncSize) return
    fdatasyncSync(this.#fd)
    this.#synced = this.#written
  }
}

/** True if a file has the expected size and checksums. Reads all of it. @param sums result of {@link FileSink.finish} */
export function isSoundFile(file: string, size: number, sums: Uint32Array): boolean {
  if (statSync(file, { throwIfNoEntry: false })?.size !== size || sums.length !== Math.ceil(size / sumSize))
    return false
  const fd = openSync(file, 'r')
  try {
    const part = Buffer.alloc(sumSize)
    return sums.every((sum, index) => {
      const count = readSync(fd, part, 0, sumSize, index * sumSize)
      return crc32(part.subarray(0, count)) === sum
    })
  } finally {
    closeSync(fd)
  }
}

/** A segment file, read on demand: the system caches what is read often. Reads are verified against checksums that are stored elsewhere. */
export class SegmentFile implements SegmentBytes {
  readonly #file: string
  readonly #fd: number
  readonly #size: number
  readonly #sums: Uint32Array
  /** Cached parts by offset, most recently used. */
  readonly #pages = new LRUCache<number, Uint8Array>({ max: maxPages })
  #isOpen = true

  constructor(file: string, size: number, sums: Uint32Array) {
    this.#file = file
    this.#size = size
    this.#sums = sums
    if (statSync(file, { throwIfNoEntry: false })?.size !== size) throw this.#damaged()
    this.#fd = openSync(file, 'r')
  }

  read(offset: number, length: number): Uint8Array {
    const start = offset - (offset % sumSize)
    if (offset + length > start + sumSize) return this.#readSound(offset, length)
    // Terms of one query are often close to each other.
    const known = this.#pages.get(start)
    const page = known ?? this.#readSound(start, Math.min(sumSize, this.#size - start))
    if (known === undefined) this.#pages.set(start, page)
    return page.subarray(offset - start, offset - start + length)
  }

  #readSound(offset: number, length: number): Uint8Array {
    const start = offset - (offset % sumSize)
    const end = Math.min(Math.ceil((offset + length) / sumSize) * sumSize, this.#size)
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, end - start))
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(this.#fd, bytes, at, bytes.length - at, start + at)
      if (count === 0) throw this.#damaged()
      at += count
    }
    for (let at = 0; at < bytes.length; at += sumSize) {
      if (crc32(bytes.subarray(at, at + sumSize)) !== this.#sums[(start + at) / sumSize]) throw this.#damaged()
    }
    if (offset + length > end) throw this.#damaged()
    return bytes.subarray(offset - start, offset - start + length)
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#fd)
    this.#isOpen = false
  }

  #damaged(): Error {
    rmSync(this.#file, { force: true, recursive: true })
    return new DamagedSegment(this.#file)
  }
}
