import { encodeCommit, type GitObject, hashObject, type Oid } from '../../git/objects/object.ts'
import { Tree } from '../../git/objects/tree.ts'
import type { Repository } from '../../git/repository.ts'
import { commitMessage, committer } from './commit-message.ts'
import { erasedRef } from './kb-refs.ts'

const file = 'commits'

/** Returns the commits that erasures have replaced, each with its replacement. Lists of an earlier version lack the latter. */
export async function erasedCommits(repository: Repository): Promise<ReadonlyMap<Oid, Oid | undefined>> {
  const head = await repository.readRef(erasedRef)
  const blob = head && (await repository.blobAt(head, file))
  const lines = blob ? (await repository.readTextOnce(blob)).split('\n').filter((line) => line !== '') : []
  return new Map(
    lines.map((line) => {
      const [replaced = '', now] = line.split(' ')
      return [replaced, now]
    }),
  )
}

/** Returns the objects of the ref; the last is its commit. They contain ids alone, which reveal nothing of what was erased. */
export function formatErasedCommits(commits: ReadonlyMap<Oid, Oid | undefined>, at: Date): GitObject[] {
  const lines = [...commits].map(([replaced, now]) => `${now === undefined ? replaced : `${replaced} ${now}`}\n`)
  const list = Buffer.from(lines.toSorted().join(''))
  const { tree } = Tree.empty.with(file, { mode: '100644', oid: hashObject('blob', list) })
  const fields = { tree: hashObject('tree', tree.data), parents: [], author: committer(at), committer: committer(at) }
  const commit = encodeCommit({ ...fields, message: commitMessage('Refuse what was erased', []) })
  return [
    { type: 'blob', data: list },
    { type: 'tree', data: tree.data },
    { type: 'commit', data: commit },
  ]
}
