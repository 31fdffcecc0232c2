import type { SettingsProblem } from '../kb-settings.ts'
import type { Finding } from '../neurons/neuron.ts'
import { compareText, oneLine } from '../text/lines.ts'
import { checkFile } from './check-file.ts'
import { checkIdentity } from './check-identity.ts'
import { checkLinks } from './check-links.ts'
import { type ClaimOf, checkNames } from './check-names.ts'
import { checkPaths } from './check-paths.ts'
import { checkTags } from './check-tags.ts'
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
