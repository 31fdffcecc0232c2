import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { type Actor, type Candidate, followsRename } from '../../rules/candidates/candidate.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import type { FileContents, KnowledgeBase } from '../knowledge-base.ts'
import { findCandidate } from '../projection/candidate-index.ts'
import { mainRef } from '../refs/kb-refs.ts'
import { requirePlaces } from '../within-limits.ts'
import { awaitedApprovals, type DecidedPage, withoutServerKeys } from './approvals.ts'
import { commitToMain, commitToQueue } from './commits.ts'
import { readLostHistory } from './lost-history.ts'
import { type MainView, mergedTestFiles } from './merge-candidate.ts'
import { mergePush } from './merge-push.ts'
import { type ProposalView, proposalOf } from './proposal.ts'
import { type Origin, type PushedNeuron, PushRefused, pushedNeurons } from './pushed-neurons.ts'
import { pushView } from './submitted-neurons.ts'
import { type LandedPages, type TakenNeuron, takeNeurons, takePictures } from './take-neurons.ts'

export type MainPush = {
  /** Commit of main from which the pusher started. */
  from: Oid
  to: Oid
  /** All differences between the two. */
  changes: readonly TreeChange[]
  /** The pusher, who is the approver, whatever author the commits have. */
  approver: Actor
  /** Author of the candidates. */
  proposer: Actor
  origin: Origin
  /** Treatment of a push if main has moved since its base. */
  behind: 'refuse' | 'merge'
  /**
   * Set for a repository that follows main and has commits that main lacks. `merge`: merges even if it changes nothing. `merge nothing`:
   * merges only if it changes nothing. `leave out`: merges, but leaves out its changes.
   */
  follows?: 'merge' | 'merge nothing' | 'leave out' | undefined
}

/** Result of a push. `commit`: undefined if main had everything already. */
export type PushedMain = { commit: Oid | undefined; neurons: TakenNeuron[] }

const propose = 'Propose it with: git push origin HEAD:refs/for/main'
const conflicting = 'it conflicts with main: git pull --no-rebase, solve it, and push again'
const waits = 'main takes no direct pushes: it waits until the pages are approved here, or taken back there'
export const fetchFirst = 'fetch first: main has moved since; git pull --rebase, and push again'

/**
 * Merges a push into main as one commit. Each changed Neuron becomes a candidate that the pusher approves, and gets the ids that
 * it lacks. So the first-parent line of main stays the record of approvals, whatever messages the pushed commits have.
 * @throws {PushRefused} if main has moved, or the push conflicts with it
 */
export async function pushToMain(kb: KnowledgeBase, push: MainPush, now: () => Date): Promise<PushedMain> {
  const lost = await readLostHistory(kb, push, kb)
  return kb.write(async (staging) => {
    const isBehind = staging.head(mainRef) !== push.from
    if (isBehind && push.behind === 'refuse') throw new PushRefused(fetchFirst)
    const at = now()
    const view: ProposalView = {
      ...{ sql: kb.projection.write, parser: kb.parser },
      readText: (oid) => staging.readText(oid),
    }
    const pushed = await takenChanges(kb, view, push, isBehind)
    const isNothing = pushed.neurons.length === 0 && pushed.files.size === 0
    if (isNothing && isBehind && push.follows === undefined) return { commit: undefined, neurons: [] }
    if (!isNothing && push.follows === 'merge nothing') throw new PushRefused(waits)
    await requirePlaces(kb, push.approver, { neurons: pushed.neurons, files: pushed.files.keys() })
    const { pages, files: pictures } = await takePictures(kb, pushed.neurons)
    const files = new Map([...pushed.files, ...pictures])
    const landed = await takeNeurons(kb, staging, pages, {
      ...{ actor: push.proposer, at, origin: push.origin, files, lost },
      reason: 'pushed to main by a curator',
    })
    const all: FileContents = new Map([...files, ...landed.files])
    const taken = await takenCandidates(view, pages, landed)
    const brings = () =>
      broughtFiles(
        view,
        pushed.files,
        taken.of.map(({ candidate }) => candidate),
      )
    const decided = { by: push.approver, brings, ...taken }
    const awaiting = await awaitedApprovals(kb, staging, all, decided)
    if (awaiting !== undefined) throw new PushRefused(`${awaitingText(awaiting)} ${propose}`, [], true)
    await commitToQueue(kb, staging, landed.candidates, { by: push.approver, at, isTaken: true })
    const commit = await commitToMain(kb, staging, {
      ...{ files: all, removals: landed.removals, decided, mergeParent: push.to, at },
      subject: push.follows === 'leave out' ? 'Leave out what awaits approval' : subjectOf(landed.neurons),
      trailers: [...approvalTrailers(landed.neurons), ['Connector', 'git'], ['Pushed', push.to]],
    })
    return { commit, neurons: landed.neurons }
  })
}

/** Changes that a push makes to main. */
type PushedChanges = { neurons: PushedNeuron[]; files: FileContents }

async function takenChanges(
  kb: KnowledgeBase,
  view: MainView,
  push: MainPush,
  isBehind: boolean,
): Promise<PushedChanges> {
  if (push.follows === 'leave out') return { neurons: [], files: new Map() }
  return isBehind ? await mergedPush(kb, view, push) : await wholePush(view, push)
}

async function wholePush({ sql, readText }: MainView, { changes }: MainPush): Promise<PushedChanges> {
  const files = changes.map(({ path, after }) => [path, after === undefined ? null : { oid: after }] as const)
  return { neurons: await pushedNeurons(sql, changes, readText), files: new Map(files) }
}

async function mergedPush(kb: KnowledgeBase, view: MainView, push: MainPush): Promise<PushedChanges> {
  const { conflicts, ...merged } = await mergePush(pushView(kb, view, push.from), push)
  if (conflicts.length > 0) throw new PushRefused(conflicting, conflicts)
  return merged
}

/** Returns the candidates that a push approves, and whether it changes more than they propose. Updated links of a rename have no author. */
async function takenCandidates(
  view: ProposalView,
  pages: readonly PushedNeuron[],
  landed: LandedPages,
): Promise<{ of: DecidedPage[]; writes: () => Promise<boolean> }> {
  const made = new Map(landed.candidates.map((candidate) => [candidate.id, candidate]))
  const of: DecidedPage[] = []
  const named: (DecidedPage & { seqId: string })[] = []
  for (const { candidateId, seqId, path } of landed.neurons) {
    const row = findCandidate(view.sql, candidateId)
    const candidate = made.get(candidateId) ?? (row && parseCandidate(await view.readText(row.blob)))
    if (candidate === undefined || (row === undefined && candidate.verdict.reason === followsRename)) continue
    const { text = null } =
      pages.find((page) => (page.seqId === undefined ? page.path === path : page.seqId === seqId)) ?? {}
    of.push({ candidate, path, text })
    if (row !== undefined) named.push({ candidate, path, text, seqId })
  }
  const writesMore = async () => {
    for (const { candidate, seqId, path, text } of named) {
      const proposed = await proposalOf(view, candidate, { ids: { seqId } }).catch(unlessRefused)
      if (proposed?.path !== path || bare(proposed.text) !== bare(text)) return true
    }
    return false
  }
  let found: Promise<boolean> | undefined
  return {
    of,
    // Cached, because some settings need the result twice and others never.
    writes: () => {
      found ??= writesMore()
      return found
    },
  }
}

/** Returns the files of a push that none of its candidates proposes. */
async function broughtFiles(view: MainView, files: FileContents, of: readonly Candidate[]): Promise<Set<string>> {
  const proposed = await mergedTestFiles(view, of).catch(unlessRefused)
  const brought = new Set<string>()
  for (const [path, content] of files) {
    if (isNeuronPath(path)) continue
    const text =
      content && (typeof content === 'object' && 'oid' in content ? await view.readText(content.oid) : `${content}`)
    if (!proposed?.has(path) || proposed.get(path) !== text) brought.add(path)
  }
  return brought
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof GanglionError || error instanceof ValidationError)) throw error
}

function bare(text: string | null): string | undefined {
  return text === null ? undefined : withoutServerKeys(text)
}

/** Describes a commit's changes of Neurons in one line. */
export function subjectOf(neurons: readonly TakenNeuron[]): string {
  const [first, second] = neurons
  if (first === undefined) return 'Merge pushed files'
  return second === undefined ? `${first.verb} "${first.title}"` : `Change ${neurons.length} Neurons`
}

/**
 * Returns trailers for the candidates and Neurons of a commit, to precede its own `Connector`. Those of other connectors come first, each
 * before its connector.
 */
export function approvalTrailers(neurons: readonly TakenNeuron[]): [string, string][] {
  const isOwn = ({ connector }: TakenNeuron) => Number(connector === undefined)
  return neurons
    .toSorted((a, b) => isOwn(a) - isOwn(b))
    .flatMap(({ candidateId, seqId, connector }) => {
      const trailers: [string, string][] = [
        ['Candidate', candidateId],
        ['Neuron', seqId],
      ]
      if (connector !== undefined) trailers.push(['Connector', connector])
      return trailers
    })
}
