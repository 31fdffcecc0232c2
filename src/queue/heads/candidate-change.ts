import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { committerOfCommit, type GitObject, type Oid } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { Staging } from '../../git/staging.ts'
import { findNeuron, type NeuronRow } from '../../kb/projection/neuron-queries.ts'
import { versionOfBlob } from '../../kb/projection/version-queries.ts'
import { commitMessage, committer, signatureOf } from '../../kb/refs/commit-message.ts'
import { type MainView, type TestFileChange, testFileChanges } from '../../kb/writing/merge-candidate.ts'
import { type Proposal, type ProposalView, proposalOf } from '../../kb/writing/proposal.ts'
import { editNeuron } from '../../markdown/file/neuron-file.ts'
import type { Candidate } from '../../rules/candidates/candidate.ts'
import { mergeText } from '../../rules/neurons/merge.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { oneLine } from '../../rules/text/lines.ts'

/**
 * Commit that merges a candidate. `onto`: its parent, the head of main. If the candidate conflicts with main, the commit of the version
 * that it was written against.
 */
export type CandidateChange = Proposal & {
  candidate: Candidate
  onto: Oid
  merges: boolean
  tests: readonly TestFileChange[]
}

/** Returns the change of a candidate; undefined if its target is gone or unreadable. */
export async function candidateChange(
  view: ProposalView,
  main: Oid,
  candidate: Candidate,
): Promise<CandidateChange | undefined> {
  try {
    const tests = await testFileChanges(view, candidate)
    // No head is offered if it would remove later additions of others.
    if (tests.some(({ conflicts }) => conflicts !== undefined)) return undefined
    return { candidate, onto: main, merges: true, tests, ...(await proposalOf(view, candidate)) }
  } catch (error) {
    if (error instanceof ValidationError) return undefined
    if (!(error instanceof GanglionError)) throw error
    return error.code === 'merge_conflict' ? changeOfBase(view, candidate) : undefined
  }
}

/**
 * Returns the change on the version that the candidate was written against, so that git shows the conflict in a merge into main.
 * Undefined if the base has a curator's edit: no commit has it, and git would take the proposal for a removal of the edit.
 */
async function changeOfBase(view: ProposalView, candidate: Candidate): Promise<CandidateChange | undefined> {
  const { target: seqId, base, mergeBase } = candidate
  if (mergeBase !== undefined) return undefined
  const target = seqId === null ? undefined : findNeuron(view.sql, seqId)
  if (target === undefined || base === null) return undefined
  const version = versionOfBlob(view.sql, target.seqId, base)
  if (version === undefined) return undefined
  const before: ProposalView = {
    ...view,
    readText: (oid) => view.readText(oid === target.blob ? base : oid),
  }
  const change = await candidateChange(before, version.commit, { ...candidate, base: target.blob })
  // A page that main has moved since is not moved again.
  const place = version.path === target.path ? {} : { path: version.path, movedFrom: undefined }
  return change && { ...change, ...place, candidate, merges: false }
}

/**
 * Stacks changes: one that concerns the Neuron of an earlier one has both, wherever that has moved it. Undefined if they conflict with each
 * other or with main.
 */
export async function stackChanges(
  view: MainView,
  changes: readonly CandidateChange[],
): Promise<CandidateChange[] | undefined> {
  const latest = new Map<string, CandidateChange>()
  const tests = new Map<string, string | null>()
  const stacked: CandidateChange[] = []
  for (const change of changes) {
    const keys = keysOf(change)
    for (const { path, after } of change.tests) {
      if ((tests.get(path) ?? after) !== after) return undefined
      tests.set(path, after)
    }
    const [earlier, another] = new Set(keys.flatMap((key) => latest.get(key) ?? []))
    const merged = earlier === undefined ? change : await mergeChange(view, change, earlier)
    if (!change.merges || merged === undefined || another !== undefined) return undefined
    for (const key of [...keys, ...keysOf(merged)]) latest.set(key, merged)
    stacked.push(merged)
  }
  return stacked
}

/** Returns the keys of the files that a change touches. */
function keysOf({ path, movedFrom = path }: CandidateChange): string[] {
  return [movedFrom, path].map(pathKey)
}

async function mergeChange(
  view: MainView,
  change: CandidateChange,
  earlier: CandidateChange,
): Promise<CandidateChange | undefined> {
  const { candidate, text, target } = change
  if (text === null || earlier.text === null || target === undefined) return undefined
  const place = mergePlace(target, change, earlier)
  if (place === undefined) return undefined
  const pointingBack = (page: string) => editNeuron(page, { candidate: candidate.id })
  const merged = mergeText(pointingBack(await view.readText(target.blob)), pointingBack(earlier.text), text)
  return 'text' in merged ? { ...change, ...place, text: merged.text } : undefined
}

/**
 * Returns the path at which a change leaves a page that an earlier one has moved; undefined if it collides with another page, or they
 * disagree.
 */
function mergePlace(
  target: NeuronRow,
  change: CandidateChange,
  earlier: CandidateChange,
): Pick<CandidateChange, 'path' | 'movedFrom'> | undefined {
  if (earlier.target?.seqId !== target.seqId) return undefined
  if (change.path === earlier.path || change.path === target.path) return { path: earlier.path, movedFrom: undefined }
  return earlier.path === target.path ? { path: change.path, movedFrom: target.path } : undefined
}

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
