import { committerOfCommit, type GitObject, type Oid } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { Staging } from '../../git/staging.ts'
import { commitMessage, committer, signatureOf } from '../../kb/refs/commit-message.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { CandidateChange } from './candidate-change.ts'

export type StagedHead = { oid: Oid; objects: ReadonlyMap<Oid, GitObject> }

const maxWarnings = 20
const ref = 'head'

/**
 * Stages the commits that propose changes, one for each, starting from the commit that the first is based on. The same changes always give
 * the same commits.
 */
export async function stageHead(
  repository: Repository,
  changes: readonly [CandidateChange, ...CandidateChange[]],
): Promise<StagedHead> {
  const { onto } = changes[0]
  const staging = new Staging(repository, new Map([[ref, onto]]))
  let at = committerOfCommit((await repository.read(onto)).data).at
  let oid = onto
  for (const change of changes) {
    const { createdAt, createdBy } = change.candidate
    const proposedAt = new Date(createdAt)
    if (proposedAt > at) at = proposedAt
    const files = new Map<string, string | null>(change.movedFrom === undefined ? [] : [[change.movedFrom, null]])
    oid = await staging.commit(ref, {
      changes: new Map([
        ...files,
        ...change.tests.map(({ path, after }) => [path, after] as const),
        [change.path, change.text],
      ]),
      message: messageOf(change),
      author: signatureOf(createdBy, proposedAt),
      committer: committer(at),
    })
  }
  return { oid, objects: staging.objects }
}

function messageOf({ candidate, title, text, target, merges }: CandidateChange): string {
  const { id, kind, connector, confidence, createdBy, verdict } = candidate
  const trailers: [string, string][] = [
    ['Candidate', id],
    ['Kind', kind],
    ['Connector', connector],
  ]
  if (confidence !== null) trailers.push(['Confidence', String(confidence)])
  if (verdict.zone !== null) trailers.push(['Zone', verdict.zone])
  const verb = text === null ? 'Remove' : target === undefined ? 'Add' : 'Update'
  const warnings = [
    ...(merges ? [] : ['It conflicts with main: this stands on the version that it was written against.']),
    ...verdict.warnings,
  ]
  const body = [
    `Proposed as ${kind} by ${oneLine(createdBy.name, 100)}.`,
    ...warnings.slice(0, maxWarnings).map((warning) => `- ${oneLine(warning, 200)}`),
  ]
  return commitMessage(`${verb} "${title}"`, trailers, body)
}
