import { encodeCommit, type GitObject, hashObject, type Oid } from '../../git/objects/object.ts'
import { Tree } from '../../git/objects/tree.ts'
import type { Repository } from '../../git/repository.ts'
import { commitMessage, committer } from './commit-message.ts'
import { erasedRef } from './kb-refs.ts'

const file = 'commits'

export async function erasedCommits(repository: Repository): Promise<ReadonlySet<Oid>> {
  const head = await repository.readRef(erasedRef)
  const blob = head && (await repository.blobAt(head, file))
  return new Set(blob ? (await repository.readTextOnce(blob)).split('\n').filter((line) => line !== '') : [])
}

/** The objects of the ref; the last is its commit. */
export function formatErasedCommits(commits: Iterable<Oid>, at: Date): GitObject[] {
  const list = Buffer.from(
    [...commits]
      .toSorted()
      .map((oid) => `${oid}\n`)
      .join(''),
  )
  const { tree } = Tree.empty.with(file, { mode: '100644', oid: hashObject('blob', list) })
  const fields = { tree: hashObject('tree', tree.data), parents: [], author: committer(at), committer: committer(at) }
  const commit = encodeCommit({ ...fields, message: commitMessage('Refuse what was erased', []) })
  return [
    { type: 'blob', data: list },
    { type: 'tree', data: tree.data },
    { type: 'commit', data: commit },
  ]
}
