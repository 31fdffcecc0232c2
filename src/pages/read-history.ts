import { GanglionError, ValidationError } from '../contract/errors.ts'
import { authorOfCommit } from '../git/objects/object.ts'
import { accessIn } from '../kb/access/neuron-access.ts'
import { type Visibility, visibilityFor } from '../kb/access/visibility.ts'
import type { Context } from '../kb/context.ts'
import { type KbLabel, kbLabel } from '../kb/kb-label.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { type VersionRow, versionBefore, versionsBefore } from '../kb/projection/version-queries.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { shownContent } from '../markdown/shown-content.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import { unixLines } from '../rules/text/line-endings.ts'

/** A version of a Neuron. */
export type PageVersion = {
  version: number
  /** Null of one that removed it. */
  title: string | null
  path: string
  commit: string
  at: string
  /** Who approved it. */
  by: string
  candidateId: string | null
}

export type PageHistory = {
  kb: KbLabel
  seqId: string
  /** Of the version of today, or the last one. */
  title: string
  isRemoved: boolean
  /** The latest first. */
  versions: PageVersion[]
  /** The version before which the next page begins. */
  next: number | null
}

/** What a version says: `text` has the front matter for curators, and is the content for others. */
export type VersionText = PageVersion & { content: string; text: string }

type Version = ReturnType<typeof versionsBefore> extends Generator<infer Row> ? Row : never
type Reading = { kb: ReadableKb; seqId: string; visibility: Visibility; isCurator: boolean }

const noContent = { content: '', text: '' }

/**
 * The versions of a Neuron that the caller may see, also of one that is removed. Who may not see the Neuron of today sees none of
 * them, and a version that was hidden itself is left out.
 * @throws {GanglionError} `not_found`
 */
export async function readHistory(
  ctx: Context,
  caller: Caller,
  {
    kb: kbName,
    seqId,
    before = Number.MAX_SAFE_INTEGER,
    limit,
  }: { kb: string; seqId: string; before?: number | undefined; limit: number },
): Promise<PageHistory> {
  const reading = await openHistory(ctx, caller, { kb: kbName, seqId })
  const { read: sql } = reading.kb.projection
  const versions: PageVersion[] = []
  let next: number | null = null
  for (const row of [...versionsBefore(sql, seqId, before)]) {
    const version = await versionText(reading, row)
    if (version === undefined) continue
    if (versions.length === limit) {
      next = versions.at(-1)?.version ?? null
      break
    }
    const { content: _content, text: _text, ...shown } = version
    versions.push(shown)
  }
  const title = findNeuron(sql, seqId)?.title
  return {
    kb: await kbLabel(reading.kb),
    seqId,
    title: title ?? versions.find((version) => version.title !== null)?.title ?? seqId,
    isRemoved: title === undefined,
    versions,
    next,
  }
}

/**
 * Two versions of a Neuron, the older one first.
 * @throws {GanglionError} `not_found` where one is not there, or may not be seen @throws {ValidationError} for one version twice
 */
export async function readVersions(
  ctx: Context,
  caller: Caller,
  { kb, seqId, from, to }: { kb: string; seqId: string; from: number; to: number },
): Promise<{ kb: KbLabel; before: VersionText; after: VersionText }> {
  if (from === to) throw new ValidationError({ to: ['must be another version'] })
  const reading = await openHistory(ctx, caller, { kb, seqId })
  const [older, newer] = [Math.min(from, to), Math.max(from, to)]
  const read = async (version: number) => {
    const [row] = versionsBefore(reading.kb.projection.read, seqId, version + 1)
    const found = row?.version === version ? await versionText(reading, row) : undefined
    if (found === undefined) throw new GanglionError('not_found')
    return found
  }
  return { kb: await kbLabel(reading.kb), before: await read(older), after: await read(newer) }
}

async function openHistory(
  ctx: Context,
  caller: Caller,
  { kb: kbName, seqId }: { kb: string; seqId: string },
): Promise<Reading> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const visibility = await visibilityFor(caller, kb)
  if (!(await visibility.ofHistory(seqId))) throw new GanglionError('not_found')
  return { kb, seqId, visibility, isCurator: effectiveAudience(caller.role) === 'curator' }
}

/** Nothing where the caller may not see the version. */
async function versionText(reading: Reading, row: Version): Promise<VersionText | undefined> {
  const { kb, seqId, visibility, isCurator } = reading
  const { version, path, commit, at, blob, candidateId } = row
  const shown = { version, path, commit, at, candidateId }
  // A removal has the path of what it removed.
  const seen = blob ?? versionBefore(kb.projection.read, seqId, version)?.blob
  if (seen == null) return undefined
  const text = await kb.repository.readText(seen)
  const file = parseNeuronFile(text)
  if (!visibility.of(accessIn(file, await kb.settings()))) return undefined
  if (blob === null) return { ...shown, title: null, by: await approverOf(kb, row), ...noContent }
  const content = isCurator ? unixLines(file.content) : shownContent(file)
  const by = await approverOf(kb, row)
  return { ...shown, title: neuronTitle(file, path), by, content, text: isCurator ? unixLines(text) : content }
}

/** Commits on main are made in the name of who approved them. */
export async function approverOf(kb: ReadableKb, { commit }: Pick<VersionRow, 'commit'>): Promise<string> {
  return authorOfCommit((await kb.repository.read(commit)).data).name
}
