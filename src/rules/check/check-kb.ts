import { distance } from 'fastest-levenshtein'
import { audiences } from '../access/audience.ts'
import type { SettingsProblem } from '../kb-settings.ts'
import type { Finding } from '../neurons/neuron.ts'
import { compareText, oneLine } from '../text/lines.ts'
import { checkLinks } from './check-links.ts'
import { type ClaimOf, checkNames } from './check-names.ts'
import { checkPaths } from './check-paths.ts'
import { type CheckedFile, checkFile } from './checked-file.ts'

export type CheckOptions = {
  /** Prefix of the KB's seqIds. */
  prefix: string
  /** seqId of each Neuron by path, before the checked change. */
  previousSeqIds?: ReadonlyMap<string, string>
  /** Names of each Neuron by seqId, before the change. A renamed Neuron keeps the names by which others link to it. */
  previousNames?: ReadonlyMap<string, readonly string[]>
  /** Path of each Neuron by seqId, before the change. A moved Neuron keeps its links to files. */
  previousPaths?: ReadonlyMap<string, string>
  /** Returns the claims to names from before the change. */
  claimOf?: ClaimOf
  /** Audiences that `kb.yaml`, and pages that are not among the files, name. */
  audiences?: readonly string[]
  /** True if tags in texts count. Undefined if unknown. */
  inlineTags?: boolean
}

/**
 * Returns all findings about the files of a KB, ordered by path, line and rule. `ganglion check` and the server apply the same rules. An
 * error rejects a push, a warning does not. Paths in findings are untrusted input; messages are safe to print.
 */
export function checkKb(
  files: readonly CheckedFile[],
  settingsProblems: readonly SettingsProblem[],
  options: CheckOptions,
): Finding[] {
  return [
    ...settingsProblems.map(settingsFinding),
    ...checkPaths(files.map(({ path }) => path)),
    ...files.flatMap((file) => checkFile(file, options.prefix)),
    ...checkIdentity(files, options.previousSeqIds ?? new Map()),
    ...checkLinks(files, options.previousNames, options),
    ...checkNames(files, options.claimOf),
    ...checkAudiences(files, new Set(options.audiences)),
    ...(options.inlineTags === false ? checkTags(files) : []),
  ].sort(
    (a, b) =>
      compareText(a.path, b.path) ||
      a.line - b.line ||
      compareText(a.rule, b.rule) ||
      compareText(a.message, b.message),
  )
}

export function settingsFinding({ path, severity, message }: SettingsProblem): Finding {
  return { rule: 'settings', severity, path: 'kb.yaml', line: 1, message: oneLine(`${path} ${message}`, 500) }
}

/** Warns about pages with `#internal` in their text where inline tags do not count: their authors may believe that they are hidden. */
function checkTags(files: readonly CheckedFile[]): Finding[] {
  return files.flatMap(({ path, neuron }): Finding[] => {
    if (neuron?.internalTagLine === undefined) return []
    const message = 'The text has #internal, which hides nothing here: kb.yaml does not say inlineTags: true.'
    return [{ rule: 'inline-internal', severity: 'warning', path, line: neuron.internalTagLine, message }]
  })
}

/** Finds seqIds and document ids that two Neurons have, and seqIds that a change takes from a Neuron. */
function checkIdentity(files: readonly CheckedFile[], previousSeqIds: ReadonlyMap<string, string>): Finding[] {
  // The Neuron that had the seqId before is the rightful holder, so the finding must name the copy.
  const isCopy = ({ path, neuron }: CheckedFile) => Number(previousSeqIds.get(path) !== neuron?.fields.seqId)
  const holders = files
    .filter(({ neuron }) => neuron !== undefined)
    .sort((a, b) => isCopy(a) - isCopy(b) || (a.path < b.path ? -1 : 1))
  return [
    ...duplicates(holders, 'duplicate-seq-id', 'seqId', ({ neuron }) => neuron?.fields.seqId),
    ...duplicates(holders, 'duplicate-id', 'id', ({ neuron }) => neuron?.fields.id?.toLowerCase()),
    ...changes(holders, previousSeqIds),
  ]
}

function duplicates(
  files: readonly CheckedFile[],
  rule: string,
  name: string,
  idOf: (file: CheckedFile) => string | undefined,
): Finding[] {
  const first = new Map<string, string>()
  return files.flatMap((file): Finding[] => {
    const id = idOf(file)
    if (id === undefined) return []
    const holder = first.get(id)
    if (holder === undefined) {
      first.set(id, file.path)
      return []
    }
    const copied = name === 'seqId' ? ': a copy of that page leaves out its lines seqId, id and candidate' : ''
    const message = `The ${name} ${oneLine(id, 100)} belongs to ${oneLine(holder, 200)} already${copied}.`
    return [{ rule, severity: 'error', path: file.path, line: 1, message }]
  })
}

/** Finds Neurons whose seqId changes in place. A Neuron may move, also over a deleted one, or be deleted. */
function changes(files: readonly CheckedFile[], previousSeqIds: ReadonlyMap<string, string>): Finding[] {
  const held = new Set(files.map(({ neuron }) => neuron?.fields.seqId))
  const known = new Set(previousSeqIds.values())
  return files.flatMap(({ path, neuron }): Finding[] => {
    const before = previousSeqIds.get(path)
    const after = neuron?.fields.seqId
    if (before === undefined || held.has(before) || (after !== undefined && known.has(after))) return []
    const [rule, verb] = after === undefined ? ['removed-seq-id', 'removed'] : ['changed-seq-id', 'changed']
    const message = `The seqId ${before} was ${verb}: a Neuron keeps its seqId for ever.`
    return [{ rule, severity: 'error', path, line: 1, message }]
  })
}

const maxEdits = 2
const isServed = (name: string) => audiences.some((audience) => audience === name)

/** True if a page has an audience that only {@link checkAudiences} can judge with the names that others use. */
export function hasOwnAudience({ neuron }: CheckedFile): boolean {
  return neuron?.fields.audience?.every(isServed) === false
}

/**
 * Warns about names in `audience` that show a page to nobody, such as a misspelled one. A name that `kb.yaml` or another page uses is an
 * audience of the team's own, unless it is almost that of a served audience.
 * @param named audiences that `kb.yaml` and the pages that are not among the files name
 */
function checkAudiences(files: readonly CheckedFile[], named: ReadonlySet<string>): Finding[] {
  const uses = Map.groupBy(
    files.flatMap(({ path, neuron }) => [...new Set(neuron?.fields.audience)].map((name) => ({ path, name }))),
    ({ name }) => name,
  )
  return [...uses].flatMap(([name, pages]): Finding[] => {
    if (isServed(name)) return []
    const meant = audiences.find((audience) => distance(audience, name.trim().toLowerCase()) <= maxEdits)
    if (meant === undefined && (pages.length > 1 || named.has(name))) return []
    const hint = meant === undefined ? 'kb.yaml and other pages do not name it' : `write ${meant} if you mean that`
    const message = `The audience ${oneLine(name, 100)} shows the page to no reader and no key: ${hint}.`
    return pages.map(({ path }) => ({ rule: 'unknown-audience', severity: 'warning', path, line: 1, message }))
  })
}
