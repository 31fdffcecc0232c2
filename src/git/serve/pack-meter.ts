import { setImmediate as nextTurn } from 'node:timers/promises'
import { createInflate, type Inflate, inflateSync } from 'node:zlib'
import { hasCode } from '../../system/error-code.ts'

/** Bounds of what a pack unpacks to. */
export type PackLimits = {
  maxObjects: number
  /** Bytes of one object, and of the result of one delta. */
  maxObjectBytes: number
  /** Bytes of all objects and results of deltas together. */
  maxUnpackedBytes: number
}

/** Refuses a pack that would take too much memory or time to unpack, or is corrupt. The message is for the person who sent it. */
export class PackRefused extends Error {}

const headerBytes = 12
const oidBytes = 20
/** Maximum bytes of a size or an offset: 63 bits, 7 in each byte. */
const maxVarintBytes = 9
const ofsDelta = 6
const refDelta = 7
const objectTypes: ReadonlySet<number> = new Set([1, 2, 3, 4, ofsDelta, refDelta])
/** Objects up to this size are inflated at once, which is five times faster; it takes some microseconds. */
const maxSyncBytes = 16 * 1024
const syncBeforePause = 200
/** The sizes with which a delta begins. */
const deltaHeadBytes = 2 * maxVarintBytes
const megabyte = 1024 * 1024

/**
 * Passes a pack on, chunk by chunk, once each object that begins in the chunk is known to fit the limits. So `index-pack`, which
 * allocates what an object's header announces, never sees a header that announces too much. The format is gitformat-pack(5).
 * A pack that ends too early is passed on as it is, and git rejects it.
 * @throws {PackRefused}
 */
export async function* meterPack(pack: AsyncIterator<Buffer>, limits: PackLimits): AsyncGenerator<Buffer> {
  yield* new PackMeter(pack, limits).run()
}

/** Thrown inside when the pack ends too early. */
const ended = new Error('The pack ends too early')

type Step<T> = AsyncGenerator<Buffer, T>

class PackMeter {
  readonly #pack: AsyncIterator<Buffer>
  readonly #limits: PackLimits
  /** Received, and not passed on yet. */
  #chunk: Buffer | undefined
  /** Received, and not looked at yet. */
  #bytes: Buffer = Buffer.alloc(0)
  #unpacked = 0
  #untilPause = syncBeforePause

  constructor(pack: AsyncIterator<Buffer>, limits: PackLimits) {
    this.#pack = pack
    this.#limits = limits
  }

  async *run(): Step<void> {
    try {
      if (!(yield* this.#receive())) return // a push that only deletes has no pack
      const objects = yield* this.#readHeader()
      for (let n = 0; n < objects; n++) yield* this.#readObject()
      while (yield* this.#receive()) this.#bytes = Buffer.alloc(0) // the checksum
    } catch (error) {
      if (error !== ended) throw error
    }
  }

  /** Passes on what was looked at, and waits for more. Returns false at the end. */
  async *#receive(): Step<boolean> {
    if (this.#chunk !== undefined) yield this.#chunk
    const next = await this.#pack.next()
    this.#chunk = next.done === true ? undefined : next.value
    if (this.#chunk === undefined) return false
    this.#bytes = this.#bytes.length === 0 ? this.#chunk : Buffer.concat([this.#bytes, this.#chunk])
    return true
  }

  /** Takes the next bytes. */
  async *#take(length: number): Step<Buffer> {
    while (this.#bytes.length < length) if (!(yield* this.#receive())) throw ended
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }

  /** Takes bytes up to the first one whose highest bit is not set. */
  async *#takeVarint(): Step<Buffer> {
    for (let length = 1; length <= maxVarintBytes; length++) {
      while (this.#bytes.length < length) if (!(yield* this.#receive())) throw ended
      if ((this.#bytes[length - 1] ?? 0) < 0x80) return yield* this.#take(length)
    }
    throw corrupt()
  }

  async *#readHeader(): Step<number> {
    const header = yield* this.#take(headerBytes)
    if (header.toString('latin1', 0, 4) !== 'PACK') throw corrupt()
    const objects = header.readUInt32BE(8)
    const { maxObjects } = this.#limits
    if (objects > maxObjects) throw new PackRefused(`The pack has ${objects} objects; ${maxObjects} are allowed.`)
    return objects
  }

  async *#readObject(): Step<void> {
    const header = yield* this.#takeVarint()
    const type = ((header[0] ?? 0) >> 4) & 7
    if (!objectTypes.has(type)) throw corrupt()
    const size = ((header[0] ?? 0) & 15) + 16 * littleEndian(header.subarray(1))
    this.#count(size)
    if (type === ofsDelta) yield* this.#takeVarint()
    if (type === refDelta) yield* this.#take(oidBytes)
    const head = size <= maxSyncBytes ? await this.#inflateAtOnce(size) : undefined
    const content = head ?? (yield* this.#inflate(size))
    if (type === ofsDelta || type === refDelta) this.#countResult(content)
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

  /** A delta begins with the size of its base and that of its result; see gitformat-pack(5), "Deltified representation". */
  #countResult(delta: Buffer): void {
    const base = varintLength(delta, 0)
    const result = delta.subarray(base, base + varintLength(delta, base))
    this.#count(littleEndian(result))
  }

  /** The content of a small object that has arrived whole, else undefined. */
  async #inflateAtOnce(size: number): Promise<Buffer | undefined> {
    if (--this.#untilPause === 0) {
      this.#untilPause = syncBeforePause
      await nextTurn()
    }
    try {
      const { buffer, engine } = inflated(this.#bytes, size)
      if (buffer.length !== size) throw corrupt()
      this.#bytes = this.#bytes.subarray(engine.bytesWritten)
      return buffer
    } catch (error) {
      if (hasCode(error, 'Z_BUF_ERROR')) return undefined
      throw error instanceof PackRefused ? error : corrupt()
    }
  }

  /** Inflates an object as it comes and keeps only how it begins. */
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
      // Its end shows only once more bytes have come; the checksum of the pack follows the last object.
      while (!isWhole) {
        if (this.#bytes.length === 0 && !(yield* this.#receive())) throw ended
        const before = inflate.bytesWritten
        await write(inflate, this.#bytes)
        if (isCorrupt || produced > size) throw corrupt()
        this.#bytes = this.#bytes.subarray(inflate.bytesWritten - before)
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

/** Resolves when the bytes are used, or when nothing more can be inflated. */
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

function varintLength(bytes: Buffer, from: number): number {
  for (let length = 1; length <= maxVarintBytes; length++) {
    if ((bytes[from + length - 1] ?? 0xff) < 0x80) return length
  }
  throw corrupt()
}

/** A number of 7 bits in each byte, the lowest first. */
function littleEndian(bytes: Buffer): number {
  return bytes.reduceRight((number, byte) => number * 128 + (byte & 0x7f), 0)
}

function corrupt(): PackRefused {
  return new PackRefused('The pack is corrupt.')
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / megabyte)} MB`
}
