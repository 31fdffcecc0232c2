import { GanglionError, undefinedOn, ValidationError } from '../../contract/errors.ts'
import type { Preview } from '../../contract/preview.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import { messageOfCommit, type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import { StagedRepository } from '../../git/staged-repository.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { kbOfCandidate } from '../../kb/kb-access.ts'
import type { KnowledgeBase, TriedOut } from '../../kb/knowledge-base.ts'
import { positionOf } from '../../kb/projection/main-changes.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { largestBundle } from '../../kb/refs/candidate-head-names.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { approveStaged } from '../approval.ts'
import { approveWholeBundle } from '../push-bundle.ts'
import { KbPreviews } from './kb-previews.ts'

/** Knowledge base in the state that work would have left if it had not been rolled back. */
type LaidOverKb = ReadableKb & { laidOver: object } & {
  /** Commit of main that the state is based on. */
  main: Oid | undefined
  /** Bytes of the objects that the state adds. */
  size: number
  close: () => void
}

let revisions = 0

/** Knowledge base as it would be if some of its candidates were approved. */
export type PreviewedKb = LaidOverKb & { preview: Preview }

export const kbPreviews = onePer((kb: KnowledgeBase) => new KbPreviews<PreviewedKb>(kb))

/**
 * Opens a knowledge base as if the caller approved candidates on the present `main`, in this order, a whole bundle as one; a commit stands
 * for the candidates that it proposes. Candidates that cannot be approved are left out, and listed as conflicts.
 * @throws {GanglionError} `not_found` for an unknown candidate or commit, and for callers who are no curators; `not_pending`
 */
export async function previewedKb(
  ctx: Pick<Context, 'now'>,
  caller: Caller,
  kb: KnowledgeBase,
  asked: readonly string[],
): Promise<PreviewedKb> {
  if (caller.role !== 'curator') throw new GanglionError('not_found')
  const ids = await Promise.all(asked.map(async (one) => (isUuid(one) ? [one] : await candidatesOfCommit(kb, one))))
  const candidates = [...new Set(ids.flat())]
  return kbPreviews(kb).open(candidates, () => layCandidatesOver(ctx, kb, actorOf(caller), candidates))
}

/** Applies candidates to main and rolls the result back. Returns undefined if main has moved meanwhile. */
async function layCandidatesOver(
  { now }: Pick<Context, 'now'>,
  kb: KnowledgeBase,
  actor: Actor,
  candidates: string[],
): Promise<PreviewedKb | undefined> {
  const at = now()
  const { result: conflicts, ...tried } = await kb.tryOut(async (staging) => {
    const conflicts: Preview['conflicts'] = []
    const left = new Set(candidates)
    for (const candidateId of left) {
      // The members of a conflicting bundle that do not conflict are shown.
      const bundle = { candidateId, among: left }
      const bundled =
        (await approveWholeBundle(kb, staging, bundle, { by: actor, at }).catch(undefinedOn('merge_conflict'))) ?? []
      for (const id of bundled) left.delete(id)
      if (bundled.length > 0) continue
      try {
        await approveStaged(kb, staging, candidateId, { by: actor, at })
      } catch (error) {
        if (!(error instanceof GanglionError || error instanceof ValidationError)) throw error
        const code = error instanceof GanglionError ? error.code : 'validation'
        conflicts.push({ candidateId, error: code, message: error.message })
      }
    }
    return conflicts
  })
  const laid = await openLaidOverKb(kb, tried)
  return laid && { ...laid, preview: { candidates, conflicts } }
}

/** Returns the candidates that a commit and its ancestors down to main propose. @throws {GanglionError} `not_found` */
async function candidatesOfCommit({ repository, projection }: KnowledgeBase, commit: string): Promise<string[]> {
  const ids: string[] = []
  for (let [at, depth] = [commit, 0]; depth < largestBundle; depth++) {
    const object = positionOf(projection.read, at) === undefined ? await repository.find(at) : undefined
    if (object?.type !== 'commit') break
    const named = trailersOf(messageOfCommit(object.data)).filter(([name]) => name === 'Candidate')
    ids.unshift(...named.map(([, id]) => id))
    ;[at = ''] = parentsOfCommit(object.data)
  }
  if (ids.length === 0 || !ids.every(isUuid)) throw new GanglionError('not_found')
  return ids
}

/**
 * Opens the state that a knowledge base would have. It stays in that state until it is closed, and is read like any other. Undefined if
 * main has moved since the work was tried out.
 */
async function openLaidOverKb(
  kb: KnowledgeBase,
  tried: Omit<TriedOut<unknown>, 'result'>,
): Promise<LaidOverKb | undefined> {
  const { sql, close } = await kb.projection.layOver(tried.changes)
  const { main, queue } = kb.projection.heads(sql)
  if (main !== tried.main) {
    close()
    return undefined
  }
  const heads = { main: tried.head, queue }
  const revision = --revisions
  const ofVersions = tried.changes.filter(({ table }) => table === 'versions').flatMap(({ gone }) => gone)
  const laid: LaidOverKb = {
    identity: kb.identity,
    parser: kb.parser,
    repository: new StagedRepository(kb.repository, tried.objects),
    projection: { revision: () => revision, heads: () => heads, read: sql, withSnapshot: (work) => work(sql) },
    heads: () => heads,
    settings: () => kb.settings(),
    whole: async () => ({ ...laid, projection: { read: sql } }),
    laidOver: { on: kb, changed: [...new Set(ofVersions.map(([seqId]) => String(seqId)))].sort() },
    main,
    size: [...tried.objects.values()].reduce((sum, { data }) => sum + data.length, 0),
    close,
  }
  return laid
}

/** Preview for a use case: the context to read with, and a function that adds the previewed candidates to an answer. */
export type Previewing<Ctx> = {
  ctx: Ctx
  kb?: PreviewedKb
  told: <Answer extends object>(answer: Answer) => Answer & { preview?: Preview }
}

/**
 * Returns a context whose readers see a knowledge base with candidates applied, so that the same use cases serve previews. Without
 * candidates, returns the context itself.
 * @param kbName absent: the knowledge base of the first candidate; others are read as they are
 * @throws {GanglionError} as {@link previewedKb}
 */
export async function previewing<Ctx extends Context>(
  ctx: Ctx,
  caller: Caller,
  asked: readonly string[] | undefined,
  kbName: string | undefined,
): Promise<Previewing<Ctx>> {
  if (asked === undefined) return { ctx, told: (answer) => answer }
  if (caller.role !== 'curator') throw new GanglionError('not_found')
  const { tenantId } = caller
  const kb = await (kbName === undefined ? kbOfCandidate(ctx, tenantId, asked[0] ?? '') : ctx.kb(tenantId, kbName))
  const previewed = await previewedKb(ctx, caller, kb, asked)
  const readableKb: Context['readableKb'] = async (tenant, name) => {
    const found = await ctx.readableKb(tenant, name)
    return found.identity.id === kb.identity.id ? previewed : found
  }
  return { ctx: { ...ctx, readableKb }, kb: previewed, told: (answer) => ({ ...answer, preview: previewed.preview }) }
}
