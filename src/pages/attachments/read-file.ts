import { Readable } from 'node:stream'
import { GanglionError } from '../../contract/errors.ts'
import { type FileContent, savedFileType, shownFileTypes } from '../../contract/files.ts'
import { GitError } from '../../git/git-error.ts'
import { FileView } from '../../kb/access/file-view.ts'
import { openView } from '../../kb/access/kb-view.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { takeSlot } from '../../kb/failure.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { FairSlots, type SlotClaim } from '../../system/concurrency/fair-slots.ts'

/** Maximum milliseconds for a client to receive a file. */
const maxTime = 600_000

/** Streams of large files from the repositories of a data directory. */
const fileStreams = onePer((_: Context) => new FileStreams())

/** Maximum bytes of a file that is read at once. Larger ones are streamed. */
const maxAtOnce = 1024 * 1024

/**
 * Reads a file that is no Neuron. Curators may read any; others those that a page they see opens, see {@link FileView}. @throws
 * {GanglionError} `not_found`
 */
export async function readFile(ctx: Context, caller: Caller, kbName: string, path: string): Promise<FileContent> {
  const view = await openView(ctx, caller, kbName)
  const blob = isNeuronPath(path) ? undefined : await new FileView(view).blobOf(path)
  if (blob === undefined) throw new GanglionError('not_found')
  const { repository } = view.kb
  const size = (await repository.infos([blob])).get(blob)?.size
  if (size === undefined) throw new GitError('missing-object', `${blob} is not in the repository`)
  const filename = path.slice(path.lastIndexOf('/') + 1)
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  return {
    ...{ filename, size, etag: blob },
    type: Object.hasOwn(shownFileTypes, extension) ? (shownFileTypes[extension] ?? savedFileType) : savedFileType,
    read: async ({ first, last } = { first: 0, last: size - 1 }) => {
      if (size > maxAtOnce) {
        const claim = { key: caller.id, repository: repository.gitDir, tenant: caller.tenantId }
        return fileStreams(ctx).open(claim, () => repository.readRange(blob, { first, last }))
      }
      const { data } = await repository.read(blob)
      return Readable.from([data.subarray(first, last + 1)], { objectMode: false })
    },
  }
}

class FileStreams {
  readonly #slots = new FairSlots({
    ...{ perKey: 2, perRepository: 4, perTenant: 4, inAll: 8 },
    ...{ waiting: 200, waitingPerKey: 20, patience: 10_000 },
  })

  /**
   * Streams the bytes of `read`. They hold a slot until they are read, or the stream is destroyed.
   * @throws {GanglionError} `rate_limited` or `unavailable` if too many others are streamed
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
