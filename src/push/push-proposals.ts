import { isDeepStrictEqual } from 'node:util'
import { readRange } from '../git/history/history.ts'
import type { Oid } from '../git/objects/object.ts'
import type { PushRange } from '../git/pushed-objects.ts'
import type { TreeChange } from '../git/repository.ts'
import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import {
  type CandidateRow,
  candidatesOfOrigin,
  type OriginRow,
  pendingBelow,
} from '../kb/projection/candidate-index.ts'
import type { AllTables } from '../kb/projection/projection.ts'
import { commitToQueue, withDecision } from '../kb/writing/commits.ts'
import { testFileChanges } from '../kb/writing/merge-candidate.ts'
import {
  connectorOf,
  gitCandidate,
  gitFingerprint,
  gitMetadata,
  gitOriginOf,
  gitOriginPrefix,
  movedFrom,
  namedCandidate,
  type Origin,
  type PushedNeuron,
  PushRefused,
  pageParts,
  pushedNeurons,
  revised,
  seqIdBefore,
} from '../kb/writing/pushed-neurons.ts'
import { parseCandidate, roomInRecord } from '../markdown/file/candidate-file.ts'
import { isTestPath } from '../markdown/file/test-file.ts'
import {
  type Actor,
  type Candidate,
  type CarriedTests,
  type Decision,
  lastVerdict,
} from '../rules/candidates/candidate.ts'

/** Earlier proposals of the same pusher and topic that the push does not contain. */
type LeftProposals = {
  /** Records of the proposals that the push withdraws, dismissed. */
  withdrawn: Candidate[]
  /** Proposals from another branch, which stay pending. */
  waiting: OriginRow[]
}

export type ProposedNeuron = {
  candidateId: string
  title: string
  /** State of the proposal. `waiting`: proposed earlier, and not part of this push. */
  state: 'new' | 'updated' | 'unchanged' | 'approved' | 'withdrawn' | 'waiting'
  path?: string
  movedFrom?: string | undefined
  removes?: boolean
  /** Paths of the answer test files that are pushed with the page. */
  tests?: readonly string[]
  /** Dismissal of an earlier proposal for the same Neuron by somebody other than the pusher. */
  dismissal?: Decision | undefined
}

type ProposalPush = {
  /** All differences between the base on main and the pushed commit. */
  changes: readonly TreeChange[]
  /** Commits of the push. */
  range: PushRange
  proposer: Actor
  origin: Origin
}

/** Maximum bytes of answer tests in one record, which must have room for decisions, and in all records of a push. */
const [maxCarriedBytes, maxCopiedBytes] = [160 * 1024, 16 * 2 ** 20]
/** Minimum bytes of room in a record that is revised, so that it can still be dismissed. */
const leastRoom = 16 * 1024
const tooLong = 'the answer tests are too long to be proposed with a page'

/** Proposal. `candidate`: set if it has changed and must be written. */
type Proposed = ProposedNeuron & { candidate?: Candidate }

/**
 * Puts each Neuron that was pushed for review on the queue: as a new candidate, or as the new content of the pending candidate that its
 * page names, or that the same pusher proposed before. Dismisses the proposals that the push withdraws. Main does not change.
 * @throws {PushRefused} for answer tests that are too long
 * @throws {GanglionError} `queue_full`, `record_full`
 */
export async function proposePush(kb: KnowledgeBase, push: ProposalPush, now: () => Date): Promise<ProposedNeuron[]> {
  const onTheWay = await pagesOnTheWay(kb, push.range, push.origin)
  return kb.write(async (staging) => {
    const { write: sql } = kb.projection
    const at = now()
    const neurons = await pushedNeurons(sql, push.changes, (oid) => staging.readText(oid))
    const tests = await carriedTests(sql, push.changes, (oid) => staging.readText(oid))
    const changed = neurons.filter(isChange)
    const carriedBytes = tests.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(tests))
    if (carriedBytes > maxCarriedBytes) throw new PushRefused(tooLong)
    if (carriedBytes * changed.length > maxCopiedBytes)
      throw new PushRefused('the answer tests are too long for so many pages: propose them with one of these')
    const proposed: Proposed[] = []
    const told = tests.length === 0 ? {} : { tests: tests.map(({ path }) => path) }
    for (const neuron of changed) {
      const candidate = await propose(kb, staging, neuron, { ...push, tests, at })
      proposed.push({
        ...candidate,
        path: neuron.path,
        movedFrom: movedFrom(neuron),
        removes: neuron.text === null,
        ...told,
      })
    }
    if (tests.length > 0 && proposed.every(({ state }) => state === 'approved'))
      throw new PushRefused('answer tests are proposed with a page: push them to main')
    const held = new Set(proposed.map(({ candidateId }) => candidateId))
    const { withdrawn, waiting } = await leftProposals(kb, staging, { ...push, onTheWay, held, at })
    for (const candidates of [proposed.flatMap(({ candidate }) => candidate ?? []), withdrawn]) {
      await commitToQueue(kb, staging, candidates, { by: push.proposer, at })
    }
    return [
      ...proposed.map(({ candidate: _, ...shown }) => shown),
      ...withdrawn.map(({ id, title }) => ({ candidateId: id, title, state: 'withdrawn' }) as const),
      ...waiting.map(({ id, title }) => ({ candidateId: id, title, state: 'waiting' }) as const),
    ]
  })
}

/** Returns the files of answer tests that a push changes, unless main already has the same text. */
async function carriedTests(
  sql: AllTables,
  changes: readonly TreeChange[],
  readText: (oid: Oid) => Promise<string>,
): Promise<CarriedTests[]> {
  const pushed = await Promise.all(
    changes
      .filter(({ path }) => isTestPath(path))
      .map(async ({ path, before = null, after }) => {
        return { path, base: before, text: after === undefined ? null : await readText(after) }
      }),
  )
  const changed = await testFileChanges({ sql, readText }, { tests: pushed })
  return pushed.filter(({ path }) => changed.some((change) => change.path === path))
}

/** True if main differs from the pushed page. */
function isChange({ before, path, blob }: PushedNeuron): boolean {
  return before === undefined || before.path !== path || before.blob !== blob
}

async function propose(
  kb: KnowledgeBase,
  staging: Staging,
  neuron: PushedNeuron,
  { changes, tests, proposer, origin, at }: ProposalPush & { tests: CarriedTests[]; at: Date },
): Promise<Proposed> {
  const parts = { ...(await pageParts(neuron, (oid) => staging.readText(oid))), tests }
  const made = { parts, origin, actor: proposer, at }
  const base = await baseOf(kb, staging, neuron, changes)
  const known = knownProposal(kb, neuron, origin)
  const approved = known === undefined && approvedProposal(kb, neuron, origin)
  if (approved) return { candidateId: approved.id, title: made.parts.title, state: 'approved' }
  if (known === undefined) {
    const candidate = gitCandidate(kb.identity.id, neuron, { ...made, reason: 'proposed by a push' })
    if (roomInRecord(candidate) < 0) throw new PushRefused(tooLong)
    return {
      candidateId: candidate.id,
      title: candidate.title,
      state: 'new',
      dismissal: await earlierDismissal(kb, staging, neuron, { origin, proposer }),
      candidate: { ...candidate, base },
    }
  }
  const record = parseCandidate(await staging.readText(known.blob))
  const isOwn = known.connector === connectorOf(origin) && record.createdBy.id === proposer.id
  const metadata = isOwn ? gitMetadata(neuron, origin) : record.metadata
  const { content, frontMatter } = made.parts
  const isPage = record.content === content && record.frontMatter === frontMatter && record.metadata === metadata
  const isSame = isPage && isDeepStrictEqual(record.tests ?? [], tests)
  const shown = { candidateId: record.id, title: made.parts.title }
  if (isSame && record.base === base) return { ...shown, state: 'unchanged' }
  const candidate: Candidate = {
    ...revised(record, { ...made.parts, base, metadata }, { by: proposer, at }),
    ...(isOwn ? {} : { original: record.original ?? known.blob }),
  }
  if (roomInRecord(candidate) < leastRoom)
    throw new PushRefused(`the candidate ${record.id} was revised too often: propose anew`)
  return { ...shown, state: 'updated', candidate }
}

function knownProposal(kb: KnowledgeBase, neuron: PushedNeuron, origin: Origin): CandidateRow | undefined {
  const { write: sql } = kb.projection
  const isRemoval = neuron.blob === undefined
  const own = () =>
    candidatesOfOrigin(sql, connectorOf(origin), gitOriginOf(neuron, origin)).find(
      ({ status, removes }) => status === 'pending' && removes === isRemoval,
    )
  const named = isRemoval ? undefined : namedCandidate(sql, neuron)
  return named?.status === 'pending' ? named : own()
}

/** Returns the dismissal by somebody else of the last proposal for the Neuron: of the one that its page names, or of the pusher's own. */
async function earlierDismissal(
  kb: KnowledgeBase,
  staging: Staging,
  neuron: PushedNeuron,
  { origin, proposer }: Pick<ProposalPush, 'origin' | 'proposer'>,
): Promise<Decision | undefined> {
  const { write: sql } = kb.projection
  const earlier = [
    namedCandidate(sql, neuron),
    ...candidatesOfOrigin(sql, connectorOf(origin), gitOriginOf(neuron, origin)),
  ]
  const row = earlier.find((candidate) => candidate?.status === 'dismissed')
  const dismissal = row && lastVerdict(parseCandidate(await staging.readText(row.blob)))
  return dismissal?.by.id === proposer.id ? undefined : dismissal
}

/** Returns the approved version of this very page that the pusher's branch does not contain yet. */
function approvedProposal(kb: KnowledgeBase, neuron: PushedNeuron, origin: Origin): CandidateRow | undefined {
  return candidatesOfOrigin(kb.projection.write, connectorOf(origin), gitOriginOf(neuron, origin)).find(
    ({ status, fingerprint }) => status === 'approved' && fingerprint === gitFingerprint(neuron),
  )
}

/** Returns the page at the base of the push; another page may have had its path. */
async function baseOf(
  kb: KnowledgeBase,
  staging: Staging,
  { seqId, before, path }: PushedNeuron,
  changes: readonly TreeChange[],
): Promise<Oid | null> {
  for (const place of [path, before?.path]) {
    const change = changes.find((each) => each.path === place)
    if (change?.before === undefined) continue
    const known = await seqIdBefore(kb.projection.write, change, (oid) => staging.readText(oid))
    if (known === seqId) return change.before
  }
  return before?.blob ?? null
}

/**
 * Returns the pages in all commits of a push, as fingerprints of `fingerprintOf`; empty if the pusher has no pending proposals. @throws
 * {GitError}
 */
async function pagesOnTheWay(kb: KnowledgeBase, range: PushRange, origin: Origin): Promise<Set<string>> {
  const pages = new Set<string>()
  if (pendingBelow(kb.projection.read, connectorOf(origin), gitOriginPrefix(origin)).length === 0) return pages
  for await (const { changes } of readRange(kb.repository, range)) {
    for (const { path, after: blob } of changes) pages.add(gitFingerprint({ path, blob }))
  }
  return pages
}

/**
 * Separates earlier proposals that a push withdraws from those that came from another branch. With a topic, a push replaces
 * everything under that topic. Without one, a page is withdrawn if the push contains the commit that proposed it. Must run within
 * a write.
 * @throws {GanglionError} `record_full`
 */
async function leftProposals(
  kb: KnowledgeBase,
  staging: Staging,
  push: { origin: Origin; onTheWay: ReadonlySet<string>; held: ReadonlySet<string>; proposer: Actor; at: Date },
): Promise<LeftProposals> {
  const { origin, onTheWay, held, proposer, at } = push
  const left: LeftProposals = { withdrawn: [], waiting: [] }
  for (const row of pendingBelow(kb.projection.write, connectorOf(origin), gitOriginPrefix(origin))) {
    if (held.has(row.id)) continue
    const isTakenOut = (origin.topic ?? '') !== '' || onTheWay.has(row.fingerprint)
    if (!isTakenOut) left.waiting.push(row)
    else {
      const record = parseCandidate(await staging.readText(row.blob))
      const reason = `Withdrawn by ${proposer.name}: a later push took it out.`
      left.withdrawn.push(withDecision(record, { action: 'dismiss', at: at.toISOString(), by: proposer, reason }))
    }
  }
  return left
}
