import type { Oid } from '../../git/objects/object.ts'
import { PushTooLarge } from '../../git/pushed-objects.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { mainCommitsBetween, positionOf } from '../../kb/projection/main-changes.ts'
import { isByServer } from '../../kb/refs/commit-message.ts'
import { settingsFinding } from '../../rules/check/check-kb.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { checkPushedObjects } from '../checks/check-objects.ts'
import { settingsProblems } from '../checks/check-settings.ts'

/**
 * Returns the problems of files, names and settings in what came to main without the server between two heads; none if only the
 * server wrote.
 */
export async function outsideObjectProblems(kb: KnowledgeBase, from: Oid, to: Oid): Promise<Finding[]> {
  if (!(await hasOutsiders(kb, from, to))) return []
  const { repository } = kb
  try {
    const { findings } = await checkPushedObjects(repository, { from, to })
    const [before, after] = [await repository.blobAt(from, 'kb.yaml'), await repository.blobAt(to, 'kb.yaml')]
    const change = { path: 'kb.yaml', ...(after === undefined ? {} : { after }) }
    const settings = before === after ? [] : await settingsProblems(kb.identity, repository, [change])
    return [...findings, ...settings.map(settingsFinding)].filter(({ severity }) => severity === 'error')
  } catch (error) {
    if (!(error instanceof PushTooLarge)) throw error
    return [{ rule: 'push-size', severity: 'error', path: '', line: 1, message: error.message }]
  }
}

/** Also if main was rewritten, so that the commits in between are unknown. */
async function hasOutsiders({ projection, repository }: KnowledgeBase, from: Oid, to: Oid): Promise<boolean> {
  const [begin, end] = [positionOf(projection.read, from), positionOf(projection.read, to)]
  if (begin === undefined || end === undefined) return true
  for (const { commit } of mainCommitsBetween(projection.read, begin, end)) {
    if (!isByServer((await repository.read(commit)).data)) return true
  }
  return false
}
