import type { Warning } from '../contract/candidates.ts'
import { ValidationError } from '../contract/errors.ts'
import type { KbView } from '../kb/access/kb-view.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findNeuron, type NeuronRow } from '../kb/projection/neuron-queries.ts'
import { type VersionRow, versionAt, versionBefore, versionsBefore } from '../kb/projection/version-queries.ts'
import type { MainView } from '../kb/writing/merge-candidate.ts'
import { accessIn, hiddenLines, type NeuronFile, parseNeuronFile, shownContent } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { countLines } from '../rules/text/anchors.ts'
import { unixLines } from '../rules/text/line-endings.ts'

/** Version that a correction was written from. `isGiven`: true if the sender named it. */
export type CorrectionBase = { blob: string; title: string; isGiven: boolean; warnings: Warning[] }

/** Text of a correction, and the version that its sender names: by an entity tag, a commit or a number. */
type SentCorrection = {
  content: string
  role: Caller['role']
  sees: KbView['sees']
  read: { ifMatch?: string | undefined; baseCommit?: string | undefined; baseVersion?: number | undefined }
}

type Version = Pick<VersionRow, 'version' | 'path' | 'commit' | 'at'> & { blob: string; file: NeuronFile }

const recentMs = 24 * 60 * 60 * 1000
/** Maximum number of versions that are compared with a text, and of their characters together. */
const maxVersions = 100
const maxCharacters = 4_000_000

/**
 * Returns the version that a correction was written from: the one that its sender names, or the version of the last 24 hours nearest to the
 * text, whoever has changed the page since, because one key may be many people. A text equal to an earlier version returns to it. A base
 * that the sender did not name is reported as soon as the page has had another version.
 * @throws {ValidationError} if the sender may not see such a version
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
  if (today === undefined) return { blob: neuron.blob, title: neuron.title, isGiven: false, warnings: [] }
  const { base, equals } = await nearestVersion(view, { today, visible, seqId: neuron.seqId }, correction, now)
  const warnings = today.version === 1 ? [] : [baseAssumed({ base, equals, today })]
  return { ...baseOf(base), isGiven: false, warnings }
}

function baseAssumed({ base, equals, today }: Nearest & { today: Version }): Warning {
  const taken =
    equals !== undefined && equals !== today
      ? `Taken as a return to version ${equals.version}, whose text it has`
      : base === today
        ? `Taken as a change of version ${today.version}, the current one`
        : `Taken as a change of version ${base.version}, which is nearest to the text: the changes up to version ${today.version} are kept, and a conflict waits for a curator`
  const message = `${taken}. Send If-Match or metadata.baseVersion to name the version that was read.`
  return { code: 'base_assumed', message }
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

/** Version with the fewest different lines. `equals`: version that already has the text. */
type Nearest = { base: Version; equals: Version | undefined }

/**
 * Returns the version that differs from the text in the fewest lines, the latest among equals. The base of an equal text is the current
 * version.
 */
async function nearestVersion(
  { sql }: MainView,
  {
    today,
    visible,
    seqId,
  }: { today: Version; visible: (row: VersionRow) => Promise<Version | undefined>; seqId: string },
  { content, role }: SentCorrection,
  now: Date,
): Promise<Nearest> {
  const textOf = ({ file }: Version) =>
    plainText(effectiveAudience({ role }) === 'curator' ? file.content : shownContent(file))
  const text = plainText(content)
  let nearest = { version: today, changed: compareLines(textOf(today), text).changed }
  if (nearest.changed === 0) return { base: today, equals: today }
  let left = maxCharacters
  let [later, ...earlier] = versionsBefore(sql, seqId, { before: today.version + 1, max: maxVersions })
  for (const row of earlier) {
    const isRecent = later !== undefined && now.getTime() - Date.parse(later.at) <= recentMs
    if ((!isRecent && nearest.version === today) || left < 0) break
    later = row
    const version = await visible(row)
    if (version === undefined) continue
    const known = textOf(version)
    left -= known.length
    if (known === text) return { base: today, equals: version }
    const { changed, isRelated } = compareLines(known, text)
    if (isRecent && isRelated && changed < nearest.changed) nearest = { version, changed }
  }
  return { base: nearest.version, equals: undefined }
}

/**
 * Counts the lines that only one of two texts has. `isRelated`: they share a line that is not blank; a rewritten text would be nearest to
 * the shortest version although it was not written from it. Takes linear time.
 */
function compareLines(before: string, after: string): { changed: number; isRelated: boolean } {
  const [old, lines] = [before.split('\n'), after.split('\n')]
  const counts = countLines(lines)
  let [common, isRelated] = [0, false]
  for (const line of old) {
    const count = counts.get(line) ?? 0
    if (count > 0) {
      common++
      isRelated ||= line.trim() !== ''
    }
    counts.set(line, count - 1)
  }
  return { changed: old.length + lines.length - 2 * common, isRelated }
}

function plainText(content: string): string {
  return unixLines(content).trimEnd()
}

/** True if a conflict shows the sender nothing that it may not read: comments are for curators only. */
export async function isConflictShown({ sql, readText }: MainView, { target, base }: Candidate): Promise<boolean> {
  for (const blob of [base, target === null ? undefined : findNeuron(sql, target)?.blob]) {
    if (blob != null && hiddenLines(parseNeuronFile(await readText(blob))).length > 0) return false
  }
  return true
}
