import { GitError } from '../../git/git-error.ts'
import { hashObject, isOid, type Oid } from '../../git/object.ts'
import type { Repository, TreeChange } from '../../git/repository.ts'
import { parseCandidate } from '../../markdown/candidate-file.ts'
import { pendingRecord } from '../../store/candidate-index.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { changeOf } from './candidate-change.ts'
import { largestBundle } from './candidate-head-names.ts'

/**
 * Whether a head that somebody judged (an object id from outside) proposes for a pending candidate what its present head does:
 * the same file with the same bytes, whatever else has changed on main; whether that still merges, approval tells. A bundle's
 * head proposes it by one of its commits.
 */
export async function isCurrentHead(kb: KnowledgeBase, candidateId: string, oid: string): Promise<boolean> {
  if (!isOid(oid)) return false
  const judged = await judgedChange(kb.repository, candidateId, oid)
  if (judged === undefined) return false
  return kb.projection.withSnapshot(async (sql) => {
    const { main } = kb.projection.heads(sql)
    const blob = pendingRecord(sql, candidateId)
    if (main === undefined || blob === undefined) return false
    const readText = (wanted: Oid) => kb.repository.readText(wanted)
    const change = await changeOf({ sql, readText }, main, parseCandidate(await readText(blob)))
    if (change === undefined || change.path !== judged.path) return false
    if (change.text === null) return judged.after === undefined
    return judged.after === hashObject('blob', Buffer.from(change.text))
  })
}

/** The one file that a head, or a commit below it in a bundle, changes for a candidate; undefined where it is none or gone. */
async function judgedChange(repository: Repository, candidateId: string, oid: Oid): Promise<TreeChange | undefined> {
  try {
    let next: Oid | undefined = oid
    for (let depth = 0; depth < largestBundle && next !== undefined; depth++) {
      const object = await repository.find(next)
      if (object?.type !== 'commit') return undefined
      const commit = object.data.toString('utf8')
      const parent: Oid | undefined = /^parent ([0-9a-f]{40})$/m.exec(commit.split('\n\n', 1)[0] ?? '')?.[1]
      if (parent !== undefined && candidateOfMessage(commit) === candidateId) {
        const changes: TreeChange[] = []
        const trees = await Promise.all([repository.treeOf(parent), repository.treeOf(next)])
        for await (const change of repository.diffTrees(...trees)) if (changes.push(change) > 1) return undefined
        return changes[0]
      }
      next = parent
    }
    return undefined
  } catch (error) {
    if (error instanceof GitError && error.code === 'missing-object') return undefined
    throw error
  }
}

function candidateOfMessage(commit: string): string | undefined {
  const trailers = commit.trimEnd().split('\n\n').at(-1) ?? ''
  return /^Candidate: (.+)$/m.exec(trailers)?.[1]
}
