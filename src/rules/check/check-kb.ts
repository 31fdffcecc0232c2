import type { SettingsProblem } from '../kb-settings.ts'
import type { Finding } from '../neurons/neuron.ts'
import { compareText, oneLine } from '../text/lines.ts'
import { checkFile } from './check-file.ts'
import { checkLinks } from './check-links.ts'
import { type ClaimOf, checkNames } from './check-names.ts'
import { checkPaths } from './check-paths.ts'
import type { CheckedFile } from './checked-file.ts'

export type CheckOptions = {
  /** The KB's seqId prefix. */
  prefix: string
  /** The seqId of each Neuron by path, before the change that is checked. */
  previousSeqIds?: ReadonlyMap<string, string>
  /** Names of each Neuron by seqId, before that change: a renamed Neuron keeps those by which others link to it. */
  previousNames?: ReadonlyMap<string, readonly string[]>
  /** Path of each Neuron by seqId, before that change: a moved Neuron keeps the files that it links to. */
  previousPaths?: ReadonlyMap<string, string>
  /** The claims to names from before that change. */
  claimOf?: ClaimOf
  /** Whether tags in texts count; unknown where it is left out. */
  inlineTags?: boolean
}

/**
 * Everything wrong with the files of a KB, by path, line and rule: the rules of `ganglion check` and of the server's doors alike.
 * An error refuses a push; a warning does not. A path in a finding is as hostile as the pusher made it; the messages are safe to print.
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

/** Pages whose text has `#internal`, where tags in a text do not count: their authors may take them for hidden. */
function checkTags(files: readonly CheckedFile[]): Finding[] {
  return files.flatMap(({ path, neuron }): Finding[] => {
    if (neuron?.internalTagLine === undefined) return []
    const message = 'The text has #internal, which hides nothing here: kb.yaml does not say inlineTags: true.'
    return [{ rule: 'inline-internal', severity: 'warning', path, line: neuron.internalTagLine, message }]
  })
}

/** seqIds and document ids that two Neurons hold, and seqIds that a change takes from a Neuron. */
function checkIdentity(files: readonly CheckedFile[], previousSeqIds: ReadonlyMap<string, string>): Finding[] {
  // A copy must not take the blame's place: whoever held its seqId before is the rightful holder.
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

/** A Neuron may move, also over a deleted one, or be deleted; what stays where it was keeps its seqId. */
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
