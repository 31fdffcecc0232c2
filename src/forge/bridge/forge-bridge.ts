import { listRemoteRefs, type RemoteAccess, requirePushAccess } from '../../git/transport/remote.ts'
import type { Context } from '../../kb/context.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import type { ForgeLink, ForgePull } from '../../state/forge-links.ts'
import { type Forge, type ForgeKind, type PullRequest, unlessGone } from '../forge-adapter.ts'
import { type ForgeOptions, openForge } from '../open-forge.ts'
import { hasOurHistory, joinMains } from './join-mains.ts'
import {
  agree,
  branchPrefix,
  ForgePaused,
  type Linked,
  type LinkedTaking,
  newRow,
  otherRepository,
  type Seen,
} from './linked.ts'
import { importEdits, importMain, importProposals } from './people-pulls.ts'
import { importRemarks, postComments, pullOf } from './remarks.ts'
import { readCredential, readSecret } from './secret-reference.ts'
import { settlePulls } from './settle-pulls.ts'
import { showCandidates } from './show-candidates.ts'

type Inspected = Pick<
  ForgeLink,
  'tenantId' | 'kbId' | 'kind' | 'url' | 'apiUrl' | 'credential' | 'webhookSecret' | 'branch'
>

export type BridgeOptions = {
  /** Environment variables from which secrets are read. */
  env: NodeJS.ProcessEnv
  onError: (error: unknown) => void
  open?: (options: ForgeOptions) => Forge
}

/** State of a link that is kept between comparisons. */
type Remembered = Pick<Linked, 'heard' | 'missing'> & { isPublic?: boolean; me?: string | undefined }

const heads = 'refs/heads/'

/**
 * Compares knowledge bases with their repositories on forges, and repairs one difference at a time. Every step is idempotent: after a crash
 * at any point, the next comparison reaches the same state.
 */
export class ForgeBridge {
  readonly #ctx: Context
  readonly #options: BridgeOptions
  readonly #closing = new AbortController()
  /** Adapters by link id. They cache tokens and ETags. */
  readonly #forges = new Map<string, Forge>()
  readonly #remembered = new Map<string, Remembered>()

  constructor(ctx: Context, options: BridgeOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  /**
   * Compares both sides of a link once, and repairs the differences.
   * @returns a problem that a person must resolve
   * @throws {ForgePaused}
   * @throws {ForgeError}
   * @throws {RemoteError}
   * @throws {SecretMissing}
   */
  async sync(link: ForgeLink): Promise<string | undefined> {
    const remembered: Remembered = this.#remembered.get(link.id) ?? { heard: new Map(), missing: new Set() }
    this.#remembered.set(link.id, remembered)
    const forge = await this.#forgeOf(link)
    const signal = this.#closing.signal
    remembered.isPublic ??= await forge.isPublic()
    remembered.me ??= (await forge.who()).id
    const isPublic = Number(remembered.isPublic)
    if (link.isPublic !== isPublic) await this.#ctx.forgeLinks.note(link.id, { isPublic })
    const linked: Linked = {
      ctx: this.#ctx,
      kb: await this.#ctx.kb(link.tenantId, link.kbId),
      link,
      ...{ forge, signal, ...remembered, isPublic: remembered.isPublic, me: remembered.me },
      onError: this.#options.onError,
    }
    const seen = await look(linked)
    const problem = await joinMains(linked, seen, async () => {
      await importRemarks(linked, seen)
      await importEdits(linked, seen)
    })
    const mainProblem = await importMain(linked, seen, problem)
    await importProposals(linked, seen)
    await settlePulls(linked, seen)
    await showCandidates(linked, seen)
    await postComments(linked, seen)
    return mainProblem ?? seen.problems[0]
  }

  /**
   * Inspects a repository before it is linked: tries everything that a comparison needs, and writes nothing.
   * @returns `problem` if it cannot be linked
   */
  async inspect(asked: Inspected): Promise<{ account: string; isPublic: boolean; problem: string | undefined }> {
    const { tenantId, kbId, webhookSecret } = asked
    const link = { ...asked, id: kbId, main: null }
    const forge = await this.#forgeOf(link)
    this.forget(link.id)
    const { name } = await forge.who()
    await forge.openPulls()
    if (webhookSecret !== null) await readSecret(webhookSecret, this.#options.env)
    const access = await forge.access()
    const signal = this.#closing.signal
    await requirePushAccess(access, { signal })
    const kb = await this.#ctx.kb(tenantId, kbId)
    const problem = await historyProblem({ ctx: this.#ctx, kb, link, forge, signal }, access)
    return { account: name, isPublic: await forge.isPublic(), problem }
  }

  /** Returns the adapter of a link. @throws {SecretMissing} */
  async #forgeOf(link: Pick<ForgeLink, 'id' | 'kind' | 'url' | 'apiUrl' | 'credential'>): Promise<Forge> {
    const known = this.#forges.get(link.id)
    if (known !== undefined) return known
    const credential = await readCredential(link.credential, this.#options.env)
    const open = this.#options.open ?? openForge
    const forge = open({ kind: link.kind as ForgeKind, url: link.url, apiUrl: link.apiUrl ?? undefined, credential })
    this.#forges.set(link.id, forge)
    return forge
  }

  /** Drops the adapter of a link. The next comparison reads the secrets again. */
  forget(linkId: string): void {
    this.#forges.delete(linkId)
    const remembered = this.#remembered.get(linkId)
    if (remembered !== undefined) remembered.me = undefined
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  close(): void {
    this.#closing.abort()
  }
}

/** Returns why a repository cannot be linked: it has another history. */
async function historyProblem(linked: LinkedTaking, access: RemoteAccess): Promise<string | undefined> {
  const refs = await listRemoteRefs(access, ['HEAD', heads], { signal: linked.signal })
  const { branch } = linked.link
  const theirs = refs.get(`${heads}${branch}`)
  if (refs.size === 0 || theirs === undefined)
    return refs.size === 0
      ? undefined
      : `has branches, and none is ${branch}: link an empty repository, or say with --branch which is its main`
  const isOurs = await hasOurHistory(linked, theirs)
  return isOurs ? undefined : 'is neither empty nor of this knowledge base: its main has another history'
}

async function look(linked: Linked): Promise<Seen> {
  const { ctx, forge, link, signal, missing } = linked
  const pulls = new Map((await forge.openPulls()).map((pull) => [pull.number, pull]))
  const rows = await ctx.forgePulls.list(link.id)
  const refs = await listRemoteRefs(await forge.access(), [`${heads}${link.branch}`, `${heads}${branchPrefix}`], {
    signal,
  })
  const branches = new Map(
    [...refs].filter(([ref]) => ref.startsWith(heads)).map(([ref, oid]) => [ref.slice(heads.length), oid] as const),
  )
  const unsure = new Set<number>()
  const seen = {
    pulls,
    rows,
    branches,
    merging: new Set<ForgePull>(),
    unsure,
    problems: [],
    renamed: new Set<ForgePull>(),
  }
  if (link.main !== null && !branches.has(link.branch)) throw await withoutMain(linked)
  for (const { number, state } of rows) {
    if (number === null || state !== 'open' || pulls.has(number)) continue
    const pull = await forge.pull(number).catch(unlessGone)
    if (pull !== undefined) pulls.set(number, pull)
  }
  requirePulls(linked, seen)
  for (const { number, state } of rows) {
    if (number === null || state !== 'open') continue
    // A deleted request counts as closed once two comparisons have not found it.
    if (pulls.has(number)) missing.delete(number)
    else if (!missing.has(number)) unsure.add(number)
    if (!pulls.has(number)) missing.add(number)
  }
  await adoptUnknown(linked, seen)
  return seen
}

/** Maximum number of missing pull requests that people may have deleted. A larger number counts as a fault of the forge. */
const fewLost = 2

/**
 * Sets aside our pull requests whose branch was renamed.
 * @throws {ForgePaused} if pull requests differ from those that were opened, or many of them are missing at once
 */
function requirePulls({ me }: Linked, { pulls, rows, branches, renamed, unsure, problems }: Seen): void {
  const open = rows.filter(({ state, number }) => state === 'open' && number !== null)
  const ours = open.filter(({ branch }) => branch.startsWith(branchPrefix))
  const requestOf = ({ number }: ForgePull) => pulls.get(number ?? 0)
  const others = ours.filter((row) => (requestOf(row)?.branch ?? row.branch) !== row.branch)
  if (others.length > fewLost && others.length * 2 > ours.length) {
    throw new ForgePaused(`the pull request ${others[0]?.number} there is not the one that was opened`, otherRepository)
  }
  for (const row of others) {
    const request = requestOf(row)
    renamed.add(row)
    const isOurs = request?.author.id === me && pullOf(request.body)?.some((id) => row.candidates.includes(id))
    if (isOurs !== true) {
      unsure.add(row.number ?? 0)
      problems.push(`the pull request ${row.number} there is not the one that was opened: it is left as it is`)
    } else if (request?.state === 'open') {
      problems.push(
        `the branch of the pull request ${row.number} is now ${request.branch}: rename it back to ${row.branch}, or close the pull request`,
      )
    }
  }
  const isLost = (row: ForgePull) => {
    const pull = requestOf(row)
    return pull === undefined || (pull.state === 'closed' && ours.includes(row) && !branches.has(row.branch))
  }
  const lost = open.filter(isLost)
  if (lost.length > fewLost && lost.length * 2 > open.length) {
    throw new ForgePaused(`${lost.length} of ${open.length} pull requests are gone at once`, otherRepository)
  }
}

/** Returns the error for a repository that no longer has a main branch, with what to do. */
async function withoutMain({ forge, link, signal }: Linked): Promise<ForgePaused> {
  const refs = await listRemoteRefs(await forge.access(), ['HEAD', heads], { signal })
  if (refs.size === 0)
    return new ForgePaused('the repository is empty, as one that was deleted and made anew', otherRepository)
  const isDefault = (ref: string) => ref.startsWith(heads) && refs.get(ref) === refs.get('HEAD')
  const name = [...refs.keys()].find(isDefault)?.slice(heads.length)
  const what = `the repository has no branch ${link.branch}`
  if (name === undefined) return new ForgePaused(what, 'Give it back its name')
  const remedy = `Give it back its name, or follow it with: ganglion forge sync --branch ${name}`
  return new ForgePaused(`${what}, and its default branch is ${name}`, remedy)
}

/** Adopts pull requests that the bridge opened and that have no row, as after a restore or a crash. */
async function adoptUnknown(linked: Linked, { pulls, rows, branches }: Seen): Promise<void> {
  const known = new Map(rows.map((row) => [row.branch, row]))
  for (const pull of pulls.values()) {
    const row = known.get(pull.branch)
    if (row?.number === null && isMadeHere(linked, pull)) await agree(linked, row, { number: pull.number })
    if (row !== undefined || !isMadeHere(linked, pull)) continue
    const ids = pullOf(pull.body) ?? []
    const candidates = ids.filter((id) => findCandidate(linked.kb.projection.read, id) !== undefined)
    if (candidates.length === 0) continue
    // A page that a restore has lost is imported from the branch, like one that a reviewer has added.
    const head = candidates.length === ids.length ? (branches.get(pull.branch) ?? null) : null
    const adopted = { ...newRow(pull.branch, pull.number), candidates, head }
    rows.push(adopted)
    await agree(linked, adopted, {})
  }
}

/** True if the link opened a pull request. A person's branch may be named `ganglion/…`, too. */
function isMadeHere({ link, me }: Linked, { author, branch, isOwnBranch, base }: PullRequest): boolean {
  return author.id === me && isOwnBranch && branch.startsWith(branchPrefix) && base === link.branch
}
