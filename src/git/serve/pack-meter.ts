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
  /** Received bytes that were not passed on yet. `checked`: number of those that are checked. */
  let bytes: Buffer = Buffer.alloc(0)
  let checked = 0
  let unpacked = 0
  let untilPause = syncBeforePause

  async function* run(): Step<void> {
    try {
      const header = yield* demand(headerBytes)
      if (header.toString('latin1', 0, 4) !== 'PACK') throw corrupt()
      const [objects, { maxObjects }] = [header.readUInt32BE(8), limits]
      if (objects > maxObjects) throw new PackRefused(`The pack has ${objects} objects; ${maxObjects} are allowed.`)
      checked += headerBytes
      for (let n = 0; n < objects; n++) yield* checkObject()
    } catch (error) {
      if (error !== ended) throw error
    }
    // Passes on the checksum, or the rest of a pack that ends too early.
    do yield bytes
    while (await receive(bytes.length))
  }

  function rest(): Buffer {
    return bytes.subarray(checked)
  }

  /** Waits for more bytes, and drops those already passed on. Returns false at the end. */
  async function receive(passed: number): Promise<boolean> {
    const { done, value } = await pack.next()
    if (done === true) return false
    const kept = bytes.subarray(passed)
    bytes = kept.length === 0 ? value : Buffer.concat([kept, value])
    checked -= passed
    return true
  }

  /** Passes on checked bytes, and waits for more. Returns false at the end. */
  async function* more(): Step<boolean> {
    const passed = checked
    if (passed > 0) yield bytes.subarray(0, passed)
    const isMore = await receive(passed)
    if (!isMore) [bytes, checked] = [rest(), 0]
    return isMore
  }

  async function* demand(length: number): Step<Buffer> {
    while (rest().length < length) if (!(yield* more())) throw ended
    return rest().subarray(0, length)
  }

  async function* checkObject(): Step<void> {
    while (rest().length < maxHeadBytes) if (!(yield* more())) break
    const head = readHead()
    count(head.size)
    checked += head.length
    const content = (head.size <= maxSyncBytes && (await inflateAtOnce(head.size))) || (yield* inflate(head.size))
    if ('type' in head) return
    try {
      count(resultSize(content))
    } catch (error) {
      throw error instanceof PackRefused ? error : corrupt()
    }
  }

  function readHead(): ReturnType<typeof decodeEntryHead> {
    try {
      return decodeEntryHead(rest().subarray(0, maxHeadBytes))
    } catch {
      throw rest().length < maxHeadBytes ? ended : corrupt()
    }
  }

  function count(size: number): void {
    const { maxObjectBytes, maxUnpackedBytes } = limits
    unpacked += size
    if (size > maxObjectBytes) {
      throw new PackRefused(
        `The pack has an object of ${inMegabytes(size)}; ${inMegabytes(maxObjectBytes)} are allowed.`,
      )
    }
    if (unpacked > maxUnpackedBytes) {
      throw new PackRefused(`The pack unpacks to more than ${inMegabytes(maxUnpackedBytes)}: send it in parts.`)
    }
  }

  /** Returns the content of a small object; undefined if it has not arrived completely. */
  async function inflateAtOnce(size: number): Promise<Buffer | undefined> {
    if (--untilPause === 0) {
      untilPause = syncBeforePause
      await nextTurn()
    }
    try {
      const { buffer, engine } = inflated(rest(), size)
      if (buffer.length !== size) throw corrupt()
      checked += engine.bytesWritten
      return buffer
    } catch (error) {
      if (hasCode(error, 'Z_BUF_ERROR')) return undefined
      throw corrupt()
    }
  }

  /** Inflates an object as it arrives, and returns its beginning. */
  async function* inflate(size: number): Step<Buffer> {
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
        if (rest().length === 0 && !(yield* more())) throw ended
        const before = inflate.bytesWritten
        await write(inflate, rest())
        if (isCorrupt || produced > size) throw corrupt()
        checked += inflate.bytesWritten - before
      }
    } finally {
      inflate.destroy()
    }
    if (produced !== size) throw corrupt()
    return head
  }
  yield* run()
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
