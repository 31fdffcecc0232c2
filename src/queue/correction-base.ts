import type { Warning } from '../contract/candidates.ts'
import { ValidationError } from '../contract/errors.ts'
import type { KbView } from '../kb/access/kb-view.ts'
import { accessIn } from '../kb/access/neuron-access.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { findNeuron, type NeuronRow } from '../kb/projection/neuron-queries.ts'
import { type VersionRow, versionAt, versionBefore, versionsBefore } from '../kb/projection/version-queries.ts'
import type { MainView } from '../kb/writing/merge-candidate.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { hiddenLines, shownContent } from '../markdown/shown-content.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'
import { countLines } from '../rules/text/anchors.ts'
import { unixLines } from '../rules/text/line-endings.ts'

/** The version of its target that a correction was written from. */
export type CorrectionBase = { blob: string; title: string; isGiven: boolean; warnings: Warning[] }

/** What a correction says, and what its sender says that it has read: one of a tag's commit, a commit and a version. */
export type SentCorrection = {
  content: string
  createdBy: Actor
  role: Caller['role']
  sees: KbView['sees']
  read: { ifMatch?: string | undefined; baseCommit?: string | undefined; baseVersion?: number | undefined }
}

type Version = Pick<VersionRow, 'version' | 'path' | 'commit' | 'at'> & { blob: string; file: NeuronFile }

const recentMs = 24 * 60 * 60 * 1000
/** Versions that are compared with a text, and their characters in all. */
const maxVersions = 100
const maxCharacters = 4_000_000

/**
 * The version that a correction was written from: the one that its sender names. Else today's, unless an earlier one of the last 24
 * hours is nearer to the text, and others have changed the page since: then that one, with a warning. A text that is an
 * earlier version returns to it.
 * @throws {ValidationError} where no version is named that the sender may see
 */
export async function correctionBase(
  kb: KnowledgeBase,
  view: MainView,
  neuron: NeuronRow,
  correction: SentCorrection,
  now: Date,
): Promise<CorrectionBase> {
  const settings = await kb.settings()
  const visible = async (
    row: Omit<Version, 'file' | 'blob'> & { blob: string | null },
  ): Promise<Version | undefined> => {
    if (row.blob === null) return undefined
    const file = parseNeuronFile(await view.readText(row.blob))
    return correction.sees(accessIn(file, settings)) ? { ...row, blob: row.blob, file } : undefined
  }
  const named = namedVersion(view, neuron, correction.read)
  if (named !== undefined) {
    const version = named.row && (await visible(named.row))
    if (version === undefined)
      throw new ValidationError({ [named.field]: [`${named.key} is no version of the Neuron`] })
    return { ...baseOf(version), isGiven: true, warnings: [] }
  }
  const today = await visible({ ...neuron, at: neuron.updatedAt })
  const nearest = today && (await nearestVersion(view, { today, visible, seqId: neuron.seqId }, correction, now))
  if (today === undefined || nearest === undefined || nearest === today) {
    return { blob: neuron.blob, title: neuron.title, isGiven: false, warnings: [] }
  }
  const message = `Taken as a change of version ${nearest.version}, since others have made version ${today.version}: what they changed is kept, and a conflict waits for a curator. Send If-Match or metadata.baseVersion to say which version was read.`
  return { ...baseOf(nearest), isGiven: false, warnings: [{ code: 'base_assumed', message }] }
}

function baseOf({ blob, file, path }: Version): Pick<CorrectionBase, 'blob' | 'title'> {
  return { blob, title: neuronTitle(file, path) }
}

function namedVersion(
  { sql }: MainView,
  { seqId }: NeuronRow,
  { ifMatch, baseCommit, baseVersion }: SentCorrection['read'],
) {
  if (ifMatch !== undefined && ifMatch.trim() !== '*') {
    const [, commit = ''] = /"([0-9a-f]{40,64})\./.exec(ifMatch) ?? []
    return { field: 'if-match', key: 'the tag', row: versionAt(sql, seqId, commit) }
  }
  if (baseCommit !== undefined) return { field: 'metadata', key: 'baseCommit', row: versionAt(sql, seqId, baseCommit) }
  if (baseVersion === undefined) return undefined
  return { field: 'metadata', key: 'baseVersion', row: versionBefore(sql, seqId, baseVersion + 1) }
}

/** The version that differs from the text in the fewest lines, the latest of several. */
async function nearestVersion(
  { sql, readText }: MainView,
  {
    today,
    visible,
    seqId,
  }: { today: Version; visible: (row: VersionRow) => Promise<Version | undefined>; seqId: string },
  { content, createdBy, role }: SentCorrection,
  now: Date,
): Promise<Version> {
  const textOf = ({ file }: Version) =>
    plainText(effectiveAudience(role) === 'curator' ? file.content : shownContent(file))
  const text = plainText(content)
  const senderOf = async (candidateId: string | null) => {
    const row = candidateId === null ? undefined : findCandidate(sql, candidateId)
    return row && parseCandidate(await readText(row.blob)).createdBy.id
  }
  let nearest = { version: today, changed: changedLines(textOf(today), text), isBase: true }
  let isRecent = true
  let othersChanged = false
  let left = maxCharacters
  let [later, ...earlier] = [...versionsBefore(sql, seqId, today.version + 1)].slice(0, maxVersions)
  for (const row of earlier) {
    isRecent &&= later !== undefined && now.getTime() - Date.parse(later.at) <= recentMs
    if ((!isRecent && nearest.version === today) || nearest.changed === 0 || left < 0) break
    othersChanged ||= (await senderOf(later?.candidateId ?? null)) !== createdBy.id
    later = row
    const version = await visible(row)
    if (version === undefined) continue
    const known = textOf(version)
    left -= known.length
    if (known === text) return today
    const changed = changedLines(known, text)
    if (isRecent && changed < nearest.changed) nearest = { version, changed, isBase: othersChanged }
  }
  return nearest.isBase ? nearest.version : today
}

/** Lines that only one of two texts has. Takes linear time. */
function changedLines(before: string, after: string): number {
  const [old, lines] = [before.split('\n'), after.split('\n')]
  const counts = countLines(lines)
  let common = 0
  for (const line of old) {
    const count = counts.get(line) ?? 0
    if (count > 0) common++
    counts.set(line, count - 1)
  }
  return old.length + lines.length - 2 * common
}

function plainText(content: string): string {
  return unixLines(content).trimEnd()
}

/** Whether a conflict shows the sender nothing but what it may read: only curators know of comments. */
export async function isConflictShown({ sql, readText }: MainView, { target, base }: Candidate): Promise<boolean> {
  for (const blob of [base, target === null ? undefined : findNeuron(sql, target)?.blob]) {
    if (blob != null && hiddenLines(parseNeuronFile(await readText(blob))).length > 0) return false
  }
  return true
}
