import { setImmediate as nextTurn } from 'node:timers/promises'
import { createInflate, type Inflate, inflateSync } from 'node:zlib'
import { hasCode } from '../../system/error-code.ts'
import { decodeEntryHead, resultSize } from '../objects/pack-entry.ts'

/** Limits of an unpacked pack. */
export type PackLimits = {
  maxObjects: number
  /** Maximum bytes of one object, and of the result of one delta. */
  maxObjectBytes: number
  /** Maximum bytes of all objects and results of deltas together. */
  maxUnpackedBytes: number
}

/** Thrown for a pack that would take too much memory or time to unpack, or is corrupt. The message is for the person who sent it. */
export class PackRefused extends Error {}

const headerBytes = 12
/** Maximum bytes of an entry's header: a size, and an offset or the id of a base. */
const maxHeadBytes = 29
/** Maximum bytes of an object that is inflated in one call, which is five times faster and takes some microseconds. */
const maxSyncBytes = 16 * 1024
const syncBeforePause = 200
/** Maximum bytes of the two sizes at the beginning of a delta. */
const deltaHeadBytes = 18
const megabyte = 1024 * 1024

/** Internal error for a pack that ends too early. */
const ended = new Error('The pack ends too early')

type Step<T> = AsyncGenerator<Buffer, T>

/**
 * Passes on a pack (gitformat-pack(5)), each object after it is known to fit the limits. So `index-pack`, which allocates the size in an
 * object's header, never sees an excessive one. A pack that ends too early is passed on, and git rejects it.
 * @throws {PackRefused}
 */
export async function* meterPack(pack: AsyncIterator<Buffer>, limits: PackLimits): AsyncGenerator<Buffer> {
  yield* new PackMeter(pack, limits).run()
}

class PackMeter {
  readonly #pack: AsyncIterator<Buffer>
  readonly #limits: PackLimits
  /** Received bytes that were not passed on yet. `#checked`: number of those that are checked. */
  #bytes: Buffer = Buffer.alloc(0)
  #checked = 0
  #unpacked = 0
  #untilPause = syncBeforePause

  constructor(pack: AsyncIterator<Buffer>, limits: PackLimits) {
    this.#pack = pack
    this.#limits = limits
  }

  async *run(): Step<void> {
    try {
      const header = yield* this.#require(headerBytes)
      if (header.toString('latin1', 0, 4) !== 'PACK') throw corrupt()
      const [objects, { maxObjects }] = [header.readUInt32BE(8), this.#limits]
      if (objects > maxObjects) throw new PackRefused(`The pack has ${objects} objects; ${maxObjects} are allowed.`)
      this.#checked += headerBytes
      for (let n = 0; n < objects; n++) yield* this.#checkObject()
    } catch (error) {
      if (error !== ended) throw error
    }
    // Passes on the checksum, or the rest of a pack that ends too early.
    do yield this.#bytes
    while (await this.#receive(this.#bytes.length))
  }

  get #rest(): Buffer {
    return this.#bytes.subarray(this.#checked)
  }

  /** Waits for more bytes, and drops those already passed on. Returns false at the end. */
  async #receive(passed: number): Promise<boolean> {
    const { done, value } = await this.#pack.next()
    if (done === true) return false
    const kept = this.#bytes.subarray(passed)
    this.#bytes = kept.length === 0 ? value : Buffer.concat([kept, value])
    this.#checked -= passed
    return true
  }

  /** Passes on checked bytes, and waits for more. Returns false at the end. */
  async *#more(): Step<boolean> {
    const passed = this.#checked
    if (passed > 0) yield this.#bytes.subarray(0, passed)
    const isMore = await this.#receive(passed)
    if (!isMore) [this.#bytes, this.#checked] = [this.#rest, 0]
    return isMore
  }

  async *#require(length: number): Step<Buffer> {
    while (this.#rest.length < length) if (!(yield* this.#more())) throw ended
    return this.#rest.subarray(0, length)
  }

  async *#checkObject(): Step<void> {
    while (this.#rest.length < maxHeadBytes) if (!(yield* this.#more())) break
    const head = this.#readHead()
    this.#count(head.size)
    this.#checked += head.length
    const content =
      (head.size <= maxSyncBytes && (await this.#inflateAtOnce(head.size))) || (yield* this.#inflate(head.size))
    if ('type' in head) return
    try {
      this.#count(resultSize(content))
    } catch (error) {
      throw error instanceof PackRefused ? error : corrupt()
    }
  }

  #readHead(): ReturnType<typeof decodeEntryHead> {
    try {
      return decodeEntryHead(this.#rest.subarray(0, maxHeadBytes))
    } catch {
      throw this.#rest.length < maxHeadBytes ? ended : corrupt()
    }
  }

  #count(size: number): void {
    const { maxObjectBytes, maxUnpackedBytes } = this.#limits
    this.#unpacked += size
    if (size > maxObjectBytes) {
      throw new PackRefused(
        `The pack has an object of ${inMegabytes(size)}; ${inMegabytes(maxObjectBytes)} are allowed.`,
      )
    }
    if (this.#unpacked > maxUnpackedBytes) {
      throw new PackRefused(`The pack unpacks to more than ${inMegabytes(maxUnpackedBytes)}: send it in parts.`)
    }
  }

  /** Returns the content of a small object; undefined if it has not arrived completely. */
  async #inflateAtOnce(size: number): Promise<Buffer | undefined> {
    if (--this.#untilPause === 0) {
      this.#untilPause = syncBeforePause
      await nextTurn()
    }
    try {
      const { buffer, engine } = inflated(this.#rest, size)
      if (buffer.length !== size) throw corrupt()
      this.#checked += engine.bytesWritten
      return buffer
    } catch (error) {
      if (hasCode(error, 'Z_BUF_ERROR')) return undefined
      throw corrupt()
    }
  }

  /** Inflates an object as it arrives, and returns its beginning. */
  async *#inflate(size: number): Step<Buffer> {
    const inflate = createInflate({ chunkSize: 64 * 1024 })
    let [produced, head, isWhole, isCorrupt] = [0, Buffer.alloc(0), false, false]
    inflate.on('data', (data: Buffer) => {
      produced += data.length
      if (head.length < deltaHeadBytes) head = Buffer.concat([head, data.subarray(0, deltaHeadBytes)])
      if (produced > size) inflate.destroy()
    })
    inflate.on('end', () => {
      isWhole = true
    })
    inflate.on('error', () => {
      isCorrupt = true
    })
    try {
      // zlib reports the end only after further bytes, which exist: the pack's checksum follows the last object.
      while (!isWhole) {
        if (this.#rest.length === 0 && !(yield* this.#more())) throw ended
        const before = inflate.bytesWritten
        await write(inflate, this.#rest)
        if (isCorrupt || produced > size) throw corrupt()
        this.#checked += inflate.bytesWritten - before
      }
    } finally {
      inflate.destroy()
    }
    if (produced !== size) throw corrupt()
    return head
  }
}

/** Inflates bytes. The option `info` makes zlib report how many of them it has consumed. */
function inflated(bytes: Buffer, size: number): { buffer: Buffer; engine: Inflate } {
  const options = { info: true, chunkSize: Math.max(size, 64), maxOutputLength: Math.max(size, 1) }
  return inflateSync(bytes, options) as unknown as { buffer: Buffer; engine: Inflate }
}

/** Resolves when the bytes are consumed, or when nothing more can be inflated. */
function write(inflate: Inflate, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      inflate.off('end', done).off('close', done)
      resolve()
    }
    inflate.once('end', done).once('close', done)
    inflate.write(bytes, done)
  })
}

function corrupt(): PackRefused {
  return new PackRefused('The pack is corrupt.')
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / megabyte)} MB`
}
