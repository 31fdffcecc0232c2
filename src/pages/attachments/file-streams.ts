import { Readable } from 'node:stream'
import { GitSlots, type SlotClaim } from '../../git/native/git-slots.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { takeSlot } from '../../kb/take-slot.ts'

/** Milliseconds in which a client must have taken a file. */
const maxTime = 600_000

/** Streams of large files from the repositories of a data directory. */
export const fileStreams = onePer((_: Context) => new FileStreams())

class FileStreams {
  readonly #slots = new GitSlots({
    ...{ perKey: 2, perRepository: 4, perTenant: 4, inAll: 8 },
    ...{ waiting: 200, waitingPerKey: 20, patience: 10_000 },
  })

  /**
   * The bytes that `read` yields. They hold a slot until they are read, or the stream is destroyed.
   * @throws {GanglionError} `rate_limited` or `unavailable` while too many others are streamed
   */
  async open(claim: SlotClaim, read: () => AsyncGenerator<Buffer>): Promise<Readable> {
    const release = await takeSlot(this.#slots, claim, AbortSignal.timeout(maxTime))
    const stream = Readable.from(read(), { objectMode: false })
    const timer = setTimeout(() => stream.destroy(new Error('The client took too long to read a file.')), maxTime)
    stream.once('close', () => {
      clearTimeout(timer)
      release()
    })
    return stream
  }
}
