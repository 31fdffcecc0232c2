import { Readable } from 'node:stream'
import { GanglionError } from '../../contract/errors.ts'
import type { FileContent } from '../../contract/file-content.ts'
import { savedFileType, shownFileTypes } from '../../contract/files.ts'
import { GitError } from '../../git/git-error.ts'
import { FileView } from '../../kb/access/file-view.ts'
import { openView } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { fileStreams } from './file-streams.ts'

/** Bytes up to which a file is read at once. Larger ones are streamed. */
const maxAtOnce = 1024 * 1024

/**
 * A file of a knowledge base that is no Neuron, for curators any, for others one that a page opens which they see; see {@link FileView}.
 * @throws {GanglionError} `not_found`
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
