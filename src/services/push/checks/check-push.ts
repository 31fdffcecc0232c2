import { type PushRange, PushTooLarge, pushedChanges } from '../../../git/pushed-objects.ts'
import type { Repository } from '../../../git/repository.ts'
import type { Finding } from '../../../knowledge/neuron.ts'
import type { ParserPool } from '../../../markdown/parse/parser-pool.ts'
import type { KnowledgeBase } from '../../knowledge-base/knowledge-base.ts'
import { readLostHistory } from '../lost-history.ts'
import { checkObjects } from './check-objects.ts'
import { checkTip } from './check-tip.ts'

/**
 * What is wrong with a push of `to` onto `from`, a commit of main that the projection holds: an error refuses it. The rules are
 * those of `ganglion check`; objects inside the range that its last commit no longer shows count too.
 * @param push.repository also sees the push's objects, where they are not in the knowledge base's yet.
 */
export async function checkPush(
  kb: KnowledgeBase,
  { repository, from, to }: PushRange & { repository: Repository },
  parser: ParserPool,
): Promise<Finding[]> {
  try {
    const objects = await checkObjects(repository, { from, to })
    if (!objects.isWhole) return objects.findings
    const changes = await pushedChanges(repository, from, to)
    const lost = () => readLostHistory(kb, { from, to }, { repository })
    const tip = await checkTip(kb, { repository, changes, parser, base: from, lost })
    const isKnown = new Set(tip.map(({ rule, path }) => `${rule} ${path}`))
    return [...objects.findings.filter(({ rule, path }) => !isKnown.has(`${rule} ${path}`)), ...tip]
  } catch (error) {
    if (!(error instanceof PushTooLarge)) throw error
    return [{ rule: 'push-size', severity: 'error', path: '', line: 1, message: error.message }]
  }
}
