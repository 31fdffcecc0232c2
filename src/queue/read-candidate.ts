import { isDeepStrictEqual } from 'node:util'
import { DiffPool } from '../compare/diff-pool.ts'
import type { CandidateDetail } from '../contract/candidates.ts'
import type { Context } from '../kb/context.ts'
import { formatNeuron, type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { type DescribedCandidate, describeCandidate, findQueued } from './describe-candidate.ts'
import { candidateHeads } from './heads/candidate-refs.ts'
import { reviewVersion } from './heads/judged-head.ts'
import { toSummary } from './lists/list-candidates.ts'

type Sides = Pick<CandidateDetail, 'before' | 'after'>

/** Returns a candidate for review: its content, decisions, and changes. @throws {GanglionError} `not_found` */
export async function readCandidate(ctx: Context, caller: Caller, candidateId: string): Promise<CandidateDetail> {
  const described = await describeCandidate(ctx, caller, candidateId)
  const { kb, row, candidate, change, decisions, awaiting, tests } = described
  const { before, after } = sidesOf(described)
  const sides = { before: before && unixLines(before), after: after && unixLines(after) }
  return {
    ...toSummary(ctx, kb.identity.id, row),
    content: unixLines(candidate.content),
    metadata: candidate.metadata,
    decisions,
    ...(awaiting && { awaiting }),
    ...(tests.length > 0 && { tests }),
    ...sides,
    ...(change.conflicts && { conflicts: change.conflicts }),
    ...(await diffOf(ctx, sides, row.removes)),
  }
}

/**
 * Returns a candidate with its head, and its version for the `If-Match` of a decision. The version is read first, so that it is never newer
 * than the rest.
 */
export async function readForReview(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<{ detail: CandidateDetail; version: string }> {
  const { kb, row } = await findQueued(ctx, caller, candidateId)
  const version = reviewVersion(kb.projection.read, row)
  const detail = await readCandidate(ctx, caller, candidateId)
  // A full disk cannot store a head, but reads continue.
  const head = await candidateHeads(kb, ctx).headOf(candidateId).catch(ctx.onError)
  return { detail: { ...detail, head: head ?? null }, version }
}

/** Returns both sides of a change: whole pages if one was proposed, else their contents. */
function sidesOf({ row, candidate, change }: DescribedCandidate): Sides {
  const { conflicts, problem } = change
  const isPage = candidate.frontMatter !== null
  const [before, after] = [change.before ?? null, change.after ?? null]
  if (row.approval !== undefined) return isPage ? { before, after } : shownSides(before, after)
  if (before === null || candidate.base === null) {
    // A Neuron that got its number later is no target.
    if (before !== null || !isPage) return { before: null, after: candidate.target === null ? candidate.content : null }
    return { before: null, after }
  }
  const shown = (page: string | null) => (page === null || isPage ? page : parseNeuronFile(page).content)
  if (problem !== undefined) return { before: shown(before), after: conflicts ? shown(after) : null }
  return isPage || candidate.removes ? { before: shown(before), after } : shownSides(before, after ?? '')
}

/** Returns the contents of two pages, below their titles and tags if those differ. */
function shownSides(before: string | null, after: string | null): Sides {
  const [old, page] = [before, after].map((text) => (text === null ? null : parseNeuronFile(text)))
  if (old == null || page == null) return { before: old?.content ?? null, after: page?.content ?? null }
  const headOf = ({ fields: { title, tags } }: NeuronFile) => ({ title, tags })
  const isSame = isDeepStrictEqual(headOf(old), headOf(page))
  const shown = (file: NeuronFile) => (isSame ? file.content : formatNeuron(headOf(file), file.content))
  return { before: shown(old), after: shown(page) }
}

async function diffOf(
  ctx: Context,
  { before, after: proposed }: Sides,
  removes: boolean,
): Promise<Pick<CandidateDetail, 'diff' | 'diffTruncated'>> {
  const after = proposed ?? (removes ? '' : null)
  if (after === null) return { diff: '' }
  const { diff, isTruncated } = await ctx.threads.of(DiffPool).diff(before, after)
  return isTruncated ? { diff, diffTruncated: true } : { diff }
}
