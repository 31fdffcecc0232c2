import { GanglionError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import { kbOfCandidate } from '../../kb/kb-access.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { areTogether, waitingOfConsole } from '../../kb/projection/candidate-queue.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { versionAt } from '../../kb/projection/version-queries.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { candidateIdFor, candidateTime } from '../../rules/candidates/candidate-id.ts'
import { type Conflict, mergeMarked } from '../../rules/neurons/merge.ts'
import type { NeuronFields } from '../../rules/neurons/neuron.ts'
import { unixLines } from '../../rules/text/line-endings.ts'

export type BlankPage = {
  kb: { id: string; slug: string; title: string; defaultAudience: readonly string[] }
  /** Id of the candidate that the edit will become, so that an edit sent twice is one candidate. */
  candidateId: string
  /** Pending candidates of the caller. `isTogether`: the edit is to be decided together with it. */
  waiting: { id: string; title: string; isTogether: boolean }[]
}

/** Maximum number of candidates that an edit may be decided with. */
export const maxWaiting = 20

export type OpenPage = BlankPage &
  Pick<NeuronFields, 'tags' | 'audience' | 'aliases' | 'edges'> & {
    seqId: string
    /** The commit that made this version. */
    commit: string
    /** True if this is the present version. */
    isLatest: boolean
    path: string
    title: string
    content: string
    /** Problems that prevent editing the front matter. */
    problems: string[]
  }

/** Ids of an edit. `candidateId`: from an earlier opening. `mate`: pending candidate of the caller to decide the edit together with. */
type EditId = { candidateId?: string | undefined; mate?: string | undefined }

/** Opens an editor for a new page. @throws {GanglionError} `insufficient_role`, `not_found` */
export async function openBlankPage(
  ctx: Context,
  caller: Caller,
  { kb, ...edit }: { kb: string } & EditId,
): Promise<BlankPage> {
  requireCurator(caller)
  return blankPage(ctx, await ctx.kb(caller.tenantId, kb), caller, edit)
}

/**
 * Opens a page for editing: the present version, or the one at the commit that an edit began from, also of a page deleted since. @throws
 * {GanglionError} `insufficient_role`, `not_found`
 */
export async function openPage(
  ctx: Context,
  caller: Caller,
  { kb: kbName, seqId, at, ...edit }: { kb: string; seqId: string; at?: string | undefined } & EditId,
): Promise<OpenPage> {
  requireCurator(caller)
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { read: sql } = kb.projection
  const latest = findNeuron(sql, seqId)
  const version = at === undefined ? latest : versionAt(sql, seqId, at)
  if (version === undefined || version.blob === null) throw new GanglionError('not_found')
  const { blob, path, commit } = version
  const page = parseNeuronFile(await kb.repository.readText(blob))
  const { tags, audience, aliases, edges } = page.fields
  return {
    ...(await blankPage(ctx, kb, caller, edit)),
    ...{ seqId, commit, path, tags, aliases, edges },
    ...(audience === undefined ? {} : { audience }),
    isLatest: commit === latest?.commit,
    title: neuronTitle(page, path),
    content: unixLines(page.content),
    problems: page.findings.filter(({ rule }) => rule.startsWith('front-matter')).map(({ message }) => message),
  }
}

async function blankPage(
  { now }: Context,
  kb: KnowledgeBase,
  caller: Caller,
  { candidateId, mate }: EditId,
): Promise<BlankPage> {
  const { id, slug } = kb.identity
  const { title, defaultAudience } = await kb.settings()
  const waiting = waitingOfConsole(kb.projection.read, caller.id, maxWaiting)
  const isWaiting = mate !== undefined && waiting.some((one) => areTogether(one.id, mate))
  const msecs = isWaiting ? candidateTime(mate) : now().getTime()
  const own = candidateId || candidateIdFor(id, { msecs })
  return {
    kb: { id, slug, title: title ?? slug, defaultAudience },
    candidateId: own,
    waiting: waiting.map(({ id, title }) => ({ id, title, isTogether: areTogether(id, own) })),
  }
}

/** True if an edit has become a candidate. @throws {GanglionError} `insufficient_role`, `not_found` if there is no such knowledge base */
export async function isSubmitted(ctx: Context, caller: Caller, candidateId: string): Promise<boolean> {
  requireCurator(caller)
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  return findCandidate(kb.projection.read, candidateId) !== undefined
}

type Rebased = {
  latest: OpenPage
  /** Merged text, with markers around the places that conflict. */
  content: string
  conflicts: Conflict[]
}

/**
 * Rebases an edited text onto the current version of its page.
 * @throws {GanglionError} `insufficient_role`; `not_found` also for a deleted page
 */
export async function rebasePage(
  ctx: Context,
  caller: Caller,
  { content: typed, base, ...page }: { kb: string; seqId: string; base: string; content: string },
): Promise<Rebased> {
  const [edited, latest] = [await openPage(ctx, caller, { ...page, at: base }), await openPage(ctx, caller, page)]
  const { text: content, conflicts } = mergeMarked(edited.content, latest.content, unixLines(typed))
  return { latest, content, conflicts }
}

/** Throws `insufficient_role` unless the caller may see and write whole pages, comments and front matter included. */
export function requireCurator({ role }: Pick<Caller, 'role'>): void {
  if (role !== 'curator') throw new GanglionError('insufficient_role')
}
