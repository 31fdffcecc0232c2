import { GanglionError, ValidationError } from '../contract/errors.ts'
import { trailersOf } from '../git/history/trailers.ts'
import { authorOfCommit, messageOfCommit } from '../git/objects/object.ts'
import { type KbView, openView, type ViewedKb } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { titleOf } from '../kb/projection/neuron-queries.ts'
import { type VersionRow, versionBefore, versionsBefore } from '../kb/projection/version-queries.ts'
import { type KbLabel, kbLabel, PerCommit } from '../kb/readable-kb.ts'
import { accessIn, parseNeuronFile, shownContent } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import type { Caller } from '../rules/access/caller.ts'
import { unixLines } from '../rules/text/line-endings.ts'

/** Version of a page. `title`: null if this version removed the Neuron. */
export type PageVersion = Omit<VersionRow, 'blob'> & { title: string | null; by: string; candidateId: string | null }

export type PageHistory = {
  kb: KbLabel
  seqId: string
  /** Title of the present version, or of the last one. */
  title: string
  isRemoved: boolean
  /** Versions, latest first. */
  versions: PageVersion[]
  /** Version before which the next page begins. */
  next: number | null
}

/** Text of a version. `text`: with front matter for curators; the content for others. */
export type VersionText = PageVersion & { content: string; text: string }

/** Version with the blob to show: a removal has the path of the page that it removed, and shows that page. */
type Version = VersionRow & { candidateId: string | null; shownBlob: string | null | undefined }

const noContent = { content: '', text: '' }

const histories = new PerCommit<PageHistory>()

/**
 * Returns the versions of a Neuron that the caller may see, also of a removed one. A caller who may not see the present Neuron sees none of
 * them, and versions that were hidden themselves are left out.
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
  const view = await openView(ctx, caller, kbName)
  const key = `${view.audience} ${seqId} ${before} ${limit}`
  return histories.get(view.kb, key, () => historyIn(view, { seqId, before, limit }))
}

async function historyIn(
  view: KbView,
  { seqId, before, limit }: { seqId: string; before: number; limit: number },
): Promise<PageHistory> {
  const versions: PageVersion[] = []
  let next: number | null = null
  for (const row of await versionRows(view, seqId, before)) {
    const version = await versionText(view, row)
    if (version === undefined) continue
    if (versions.length === limit) {
      next = versions.at(-1)?.version ?? null
      break
    }
    const { content: _content, text: _text, ...shown } = version
    versions.push(shown)
  }
  const title = view.about(seqId, titleOf)
  return {
    kb: await kbLabel(view.kb),
    seqId,
    title: title ?? versions.find((version) => version.title !== null)?.title ?? seqId,
    isRemoved: title === undefined,
    versions,
    next,
  }
}

/**
 * Returns two versions of a Neuron, the older one first.
 * @throws {GanglionError} `not_found` if one does not exist, or is hidden
 * @throws {ValidationError} for one version twice
 */
export async function readVersions(
  ctx: Context,
  caller: Caller,
  { kb, seqId, from, to }: { kb: string; seqId: string; from: number; to: number },
): Promise<{ kb: KbLabel; before: VersionText; after: VersionText }> {
  if (from === to) throw new ValidationError({ to: ['must be another version'] })
  const view = await openView(ctx, caller, kb)
  const [older, newer] = [Math.min(from, to), Math.max(from, to)]
  const read = async (version: number) => {
    const [row] = await versionRows(view, seqId, version + 1, 1)
    const found = row?.version === version ? await versionText(view, row) : undefined
    if (found === undefined) throw new GanglionError('not_found')
    return found
  }
  return { kb: await kbLabel(view.kb), before: await read(older), after: await read(newer) }
}

async function versionRows(
  view: KbView,
  seqId: string,
  before: number,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Version[]> {
  const rows = await view.aboutHistory(seqId, (sql) =>
    versionsBefore(sql, seqId, { before, max: most }).map((row) => ({
      ...row,
      shownBlob: row.blob ?? versionBefore(sql, seqId, row.version)?.blob,
    })),
  )
  if (rows === undefined) throw new GanglionError('not_found')
  return rows
}

/** Returns undefined if the caller may not see the version. */
async function versionText(view: KbView, row: Version): Promise<VersionText | undefined> {
  const { kb } = view
  const isCurator = view.audience === 'curator'
  const { version, path, commit, at, blob, shownBlob, candidateId } = row
  const shown = { version, path, commit, at, candidateId }
  if (shownBlob == null) return undefined
  const text = await kb.repository.readText(shownBlob)
  const file = parseNeuronFile(text)
  if (!view.sees(accessIn(file, await kb.settings()))) return undefined
  if (blob === null) return { ...shown, title: null, by: await approverOf(kb, row), ...noContent }
  const content = isCurator ? unixLines(file.content) : shownContent(file)
  const by = await approverOf(kb, row)
  return { ...shown, title: neuronTitle(file, path), by, content, text: isCurator ? unixLines(text) : content }
}

/** Returns the last approver, who is the author of the commit. The other approvers have a trailer each. */
export async function approverOf(kb: ViewedKb, { commit }: Pick<VersionRow, 'commit'>): Promise<string> {
  const { data } = await kb.repository.read(commit)
  const votes = trailersOf(messageOfCommit(data)).filter(([name]) => name === 'Approved-By')
  const others = votes.slice(0, -1).map(([, by]) => by.replace(/ <[^<>]*>$/, ''))
  return [...others, authorOfCommit(data).name].join(', ')
}
