import { runningTests } from '../contract/answer-tests.ts'
import { neuronPage } from '../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { faultText } from '../contract/faults.ts'
import { GitError } from '../git/git-error.ts'
import { isAncestor, mergeBase } from '../git/history/history.ts'
import type { Oid } from '../git/objects/object.ts'
import { type PushRange, PushTooLarge, pushedChanges } from '../git/pushed-objects.ts'
import type { Repository } from '../git/repository.ts'
import type { Judgement, PushReport, Receiver, RefOutcome, RefUpdate } from '../git/serve/receive-hooks.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { mainRef } from '../kb/refs/kb-refs.ts'
import { mergePush } from '../kb/writing/merge-push.ts'
import { fetchFirst, type MainPush, pushToMain } from '../kb/writing/push-main.ts'
import { type Origin, PushRefused } from '../kb/writing/pushed-neurons.ts'
import { pushView } from '../kb/writing/submitted-neurons.ts'
import { isTestPath } from '../markdown/file/test-file.ts'
import { dismissCandidate } from '../queue/decide-candidate.ts'
import { actorOf, bareId, type Caller } from '../rules/access/caller.ts'
import { effectLines, failureLines } from '../rules/effect-lines.ts'
import type { Finding } from '../rules/neurons/neuron.ts'
import { isNeuronPath } from '../rules/paths/neuron-path.ts'
import { withTimeout } from '../system/concurrency/with-timeout.ts'
import { checkPush } from './checks/check-push.ts'
import { parsePushOptions } from './push-options.ts'
import { type ProposedNeuron, proposePush } from './push-proposals.ts'
import { formatFindings, mainLines, proposalLines } from './push-report.ts'

const proposeRef = 'refs/for/main'
const isProtected = `this knowledge base takes no direct pushes; propose with: git push origin HEAD:${proposeRef}`
const headRef = /^refs\/candidates\/([0-9a-f-]{36})\/head$/

/** Request that a push to a ref makes. */
type Request =
  | { kind: 'main'; from: Oid; to: Oid }
  | { kind: 'propose' | 'submit'; from: Oid; to: Oid }
  | { kind: 'dismiss'; candidateId: string; head: Oid | undefined }

type Pusher = { caller: Caller; reachedAt: string } & Pick<MainPush, 'follows'>

/** Returns the receiver that checks and accepts the pushes of one caller to one knowledge base. */
export function receiverFor(ctx: Context, kb: KnowledgeBase, pusher: Pusher): Receiver {
  return {
    judge: (updates, quarantine, options) => judge(kb, pusher, { updates, quarantine, options }),
    receive: (updates, options) => receive(ctx, kb, pusher, updates, options),
  }
}

type JudgedPush = { updates: readonly RefUpdate[]; quarantine: string | undefined; options: readonly string[] }

async function judge(
  kb: KnowledgeBase,
  pusher: Pusher,
  { updates, quarantine, options }: JudgedPush,
): Promise<Judgement> {
  await kb.sync()
  const lines: string[] = []
  let accepted = true
  using repository = kb.repository.withQuarantine(quarantine)
  for (const update of updates) {
    const judged = await judgeUpdate(kb, pusher, { update, repository, options })
    lines.push(...judged.lines)
    accepted &&= judged.accepted
  }
  return { accepted, lines }
}

async function judgeUpdate(
  kb: KnowledgeBase,
  pusher: Pusher,
  { update, repository, options }: { update: RefUpdate; repository: Repository; options: readonly string[] },
): Promise<Judgement> {
  try {
    const request = await readRequest(kb, repository, pusher, { update, options })
    const findings = await judgeRequest(kb, pusher, { request, repository })
    const accepted = findings.every(({ severity }) => severity === 'warning')
    return { accepted, lines: formatFindings(findings) }
  } catch (error) {
    if (!(error instanceof PushRefused)) throw error
    return { accepted: false, lines: [`${update.ref}: ${error.message}`] }
  }
}

async function judgeRequest(
  kb: KnowledgeBase,
  { caller }: Pusher,
  { request, repository }: { request: Request; repository: Repository },
): Promise<Finding[]> {
  if (request.kind === 'dismiss') return []
  const { from, to } = request
  const findings = await checkPush(kb, { repository, from, to })
  if (request.kind === 'propose') {
    const told = new Set(findings.flatMap(({ severity, path }) => (severity === 'error' ? [path] : [])))
    const others = await unproposable(kb, repository, request)
    return [...findings, ...others.filter(({ path }) => !told.has(path))]
  }
  const isSound = findings.every(({ severity }) => severity === 'warning')
  const conflicts = isSound && request.kind === 'submit' ? await conflictsOf(kb, caller, { request, repository }) : []
  return [...findings, ...conflicts]
}

/** Returns what prevents a submitted push from being merged into the present main. Main may still move before the merge. */
async function conflictsOf(
  kb: KnowledgeBase,
  caller: Caller,
  { request: { from, to }, repository }: { request: PushRange; repository: Repository },
): Promise<Finding[]> {
  const changes = await pushedChanges(repository, from, to)
  const readText = (oid: Oid) => repository.readTextOnce(oid)
  return kb.projection.withSnapshot(async (sql) => {
    if (kb.projection.heads(sql).main === from) return []
    const view = pushView(kb, { sql, readText }, from)
    return (await mergePush(view, { changes, origin: mainOrigin(caller) })).conflicts
  })
}

function mainOrigin(caller: Caller): Origin {
  return { door: 'main', by: bareId(caller) }
}

/**
 * Returns the request that a push to a ref makes.
 * @param repository sees the push's objects
 * @throws {PushRefused} if the push is not allowed
 */
async function readRequest(
  kb: KnowledgeBase,
  repository: Repository,
  { follows }: Pusher,
  { update, options }: { update: RefUpdate; options: readonly string[] },
): Promise<Request> {
  const { ref, to } = update
  const { submit } = parsePushOptions(options)
  const [, candidateId] = headRef.exec(ref) ?? []
  if (candidateId !== undefined) return dismissal(kb, candidateId, update)
  const main = await kb.repository.readRef(mainRef)
  if (main === undefined) throw new PushRefused('the knowledge base has no main')
  if (ref === mainRef) return mainPush(kb, repository, main, update)
  if (ref !== proposeRef) {
    throw new PushRefused(
      `push to ${mainRef}, or to ${proposeRef} to propose; there are no other branches or tags here`,
    )
  }
  if (to === undefined) throw new PushRefused('there is nothing to delete')
  await requireCommit(repository, to)
  if (submit && follows === undefined && (await kb.settings()).protectMain)
    throw new PushRefused(`${isProtected}, without -o submit`)
  const from = await baseOf(repository, main, to)
  if (from === undefined) throw new PushRefused('the commit has no history in common with main')
  if (from === to) throw new PushRefused('main holds it already: there is nothing to push')
  return { kind: submit ? 'submit' : 'propose', from, to }
}

function dismissal(kb: KnowledgeBase, candidateId: string, { from: head, to }: RefUpdate): Request {
  if (to !== undefined) {
    throw new PushRefused(
      `the server makes the heads of candidates; push a changed page to ${proposeRef} to revise one`,
    )
  }
  const row = findCandidate(kb.projection.read, candidateId)
  if (row === undefined) throw new PushRefused('there is no such candidate')
  if (row.status === 'approved') throw new PushRefused('the candidate was approved already')
  return { kind: 'dismiss', candidateId, head }
}

async function mainPush(
  kb: KnowledgeBase,
  repository: Repository,
  main: Oid,
  { from, to }: RefUpdate,
): Promise<Request> {
  if (to === undefined) throw new PushRefused('main cannot be deleted')
  if ((await kb.settings()).protectMain) throw new PushRefused(isProtected)
  if (from !== main) throw new PushRefused(fetchFirst)
  await requireCommit(repository, to)
  if (await isAncestor(repository, main, to)) return { kind: 'main', from: main, to }
  throw new PushRefused('what main holds cannot be taken away: it is no fast-forward')
}

/** Returns the commit at which a pushed commit left main. @throws {PushRefused} */
async function baseOf(repository: Repository, main: Oid, to: Oid): Promise<Oid | undefined> {
  try {
    return await mergeBase(repository, main, to)
  } catch (error) {
    if (!(error instanceof GitError && error.code === 'too-slow')) throw error
    throw new PushRefused('it takes too long to find where the commit left main: merge main into it, and push again')
  }
}

async function requireCommit(repository: Repository, to: Oid): Promise<void> {
  const type = (await repository.infos([to])).get(to)?.type
  if (type === 'commit') return
  const short = to.slice(0, 7)
  if (type === undefined) throw new PushRefused(`the commit ${short} is not there`)
  const hint = type === 'tag' ? `; push the commit that it names: ${short}^{commit}` : ''
  throw new PushRefused(`only a commit can be pushed, and ${short} is a ${type}${hint}`)
}

/** Finds files that are neither Neurons nor answer tests that come with some. */
async function unproposable(kb: KnowledgeBase, repository: Repository, { from, to }: PushRange): Promise<Finding[]> {
  try {
    const changes = await pushedChanges(repository, from, to)
    const hasNeurons = changes.some(({ path }) => isNeuronPath(path))
    const others = changes.filter(({ path }) => !isNeuronPath(path) && !(hasNeurons && isTestPath(path)))
    const { protectMain } = await kb.settings()
    const way = protectMain ? 'other files are changed on the server.' : 'push this file to main.'
    return others.map(({ path }) => {
      const message = `Only Neurons can be proposed, and answer tests with them: ${way}`
      return { rule: 'not-a-neuron', severity: 'error', path, line: 1, message }
    })
  } catch (error) {
    if (error instanceof PushTooLarge) return [] // The check itself reports it.
    throw error
  }
}

async function receive(
  ctx: Context,
  kb: KnowledgeBase,
  pusher: Pusher,
  updates: readonly RefUpdate[],
  options: readonly string[],
): Promise<PushReport> {
  const outcomes: RefOutcome[] = []
  const lines: string[] = []
  for (const update of updates) {
    try {
      const request = await readRequest(kb, kb.repository, pusher, { update, options })
      lines.push(...(await receiveRequest(ctx, kb, pusher, { request, topic: parsePushOptions(options).topic })))
      outcomes.push({ ref: update.ref })
    } catch (error) {
      const refused = reasonOf(error)
      // A push of several refs counts as received if one of them was accepted.
      const isReceived = outcomes.some((outcome) => outcome.refused === undefined)
      if (refused === undefined && !isReceived) throw error
      if (refused === undefined) ctx.onError(error)
      if (error instanceof PushRefused) lines.push(...formatFindings(error.findings))
      const awaitsApproval = error instanceof PushRefused && error.awaitsApproval
      const reason = refused ?? 'the server failed'
      outcomes.push({ ref: update.ref, refused: reason, ...(awaitsApproval && { awaitsApproval }) })
    }
  }
  return { outcomes, lines }
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof PushRefused || error instanceof GanglionError) return error.message
  return error instanceof ValidationError ? faultText(error) : undefined
}

async function receiveRequest(
  ctx: Context,
  kb: KnowledgeBase,
  { caller, reachedAt, follows }: Pusher,
  { request, topic }: { request: Request; topic: string },
): Promise<string[]> {
  if (request.kind === 'dismiss') {
    const { candidateId, head } = request
    await dismissCandidate(ctx, caller, candidateId, { reason: 'Its head was deleted by a push.', head })
    return [`Dismissed the candidate ${candidateId}.`]
  }
  const { from, to } = request
  const changes = await pushedChanges(kb.repository, from, to)
  const proposer = { id: `git:${bareId(caller)}`, name: caller.name }
  if (request.kind !== 'propose') {
    const behind = request.kind === 'submit' ? 'merge' : 'refuse'
    const push = {
      from,
      to,
      changes,
      approver: actorOf(caller),
      proposer,
      origin: mainOrigin(caller),
      behind,
      follows,
    } as const
    const urlOf = (seqId: string) => new URL(ctx.urls.base + neuronPage(kb.identity.slug, seqId), reachedAt).href
    const lines = mainLines(await pushToMain(kb, push, ctx.now), urlOf)
    return [...lines, ...(await testLines(ctx, kb))]
  }
  const origin = { door: 'for', by: bareId(caller), topic } as const
  const urlOf = (candidateId: string) => new URL(ctx.urls.candidate(candidateId), reachedAt).href
  const proposed = await proposePush(kb, { changes, range: { from, to }, proposer, origin }, ctx.now)
  return [...proposalLines(proposed, urlOf), ...(await effectsOfPush(ctx, kb, proposed))]
}

/** Milliseconds that a push waits for answer tests. */
const patience = 5_000
/** Maximum candidates of one push that are tested together while the pusher waits. */
const maxTried = 20

async function testLines({ tests, onError }: Context, kb: KnowledgeBase): Promise<string[]> {
  const results = tests.results(kb)?.then(failureLines).catch(noLines(onError))
  return results === undefined ? [] : withTimeout(patience, results, () => effectLines(runningTests))
}

async function effectsOfPush(
  { tests, onError }: Context,
  kb: KnowledgeBase,
  proposed: readonly ProposedNeuron[],
): Promise<string[]> {
  const waiting = proposed.flatMap(({ state, candidateId }) =>
    state === 'new' || state === 'updated' || state === 'unchanged' ? [candidateId] : [],
  )
  if (waiting.length === 0 || waiting.length > maxTried) return []
  const effects = tests
    .effects(kb, waiting)
    ?.then((found) => effectLines(found, waiting.length))
    .catch(noLines(onError))
  return effects === undefined ? [] : withTimeout(patience, effects, () => effectLines(runningTests))
}

/** Returns a handler that reports an error and returns no lines, since the push is accepted, whatever happens to its tests. */
function noLines(onError: Context['onError']): (error: unknown) => string[] {
  return (error) => {
    if (!(error instanceof GanglionError)) onError(error)
    return []
  }
}
