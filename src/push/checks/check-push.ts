import { type PushRange, PushTooLarge, pushedChanges, pushedCommits } from '../../git/pushed-objects.ts'
import type { Repository } from '../../git/repository.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { erasedCommits } from '../../kb/refs/kb-refs.ts'
import { readLostHistory } from '../../kb/writing/lost-history.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { checkPushedObjects } from './check-objects.ts'
import { checkTip } from './check-tip.ts'

/**
 * Returns the findings for a push from `from`, a commit of main that the projection holds, to `to`. An error rejects the push.
 * The rules are those of `ganglion check`, applied also to objects that only earlier commits of the push have.
 * @param push.repository sees the push's objects, too, even if the knowledge base's repository does not have them yet
 */
export async function checkPush(
  kb: KnowledgeBase,
  { repository, from, to }: PushRange & { repository: Repository },
): Promise<Finding[]> {
  try {
    const objects = await checkPushedObjects(repository, { from, to })
    if (!objects.isWhole) return objects.findings
    const erased = await bringsBack(repository, { from, to })
    if (erased !== undefined) return [erased]
    const changes = await pushedChanges(repository, from, to)
    const lost = () => readLostHistory(kb, { from, to }, { repository })
    const tip = await checkTip(kb, { repository, changes, base: from, lost })
    const isKnown = new Set(tip.map(({ rule, path }) => `${rule} ${path}`))
    return [...objects.findings.filter(({ rule, path }) => !isKnown.has(`${rule} ${path}`)), ...tip]
  } catch (error) {
    if (!(error instanceof PushTooLarge)) throw error
    return [{ rule: 'push-size', severity: 'error', path: '', line: 1, message: error.message }]
  }
}

/** Returns a finding if a push contains a commit from before an erasure. */
async function bringsBack(repository: Repository, range: PushRange): Promise<Finding | undefined> {
  const erased = await erasedCommits(repository)
  if (erased.size === 0) return undefined
  const back = (await pushedCommits(repository, range)).find((commit) => erased.has(commit))
  if (back === undefined) return undefined
  const message = `The commit ${back.slice(0, 7)} holds what was erased from history: clone again, and make the change there.`
  return { rule: 'erased-history', severity: 'error', path: '', line: 1, message }
}
