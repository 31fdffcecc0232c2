import type { Repository, TreeChange } from '../../git/repository.ts'
import { changedIdentity, type KbIdentity } from '../../kb/kb-identity.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import type { SettingsProblem } from '../../rules/kb-settings.ts'

/** Maximum bytes of a file; a larger one is an error by itself. */
const maxSettingsBytes = 1024 * 1024

/** Returns the problems of `kb.yaml`, if the push changes it. */
export async function settingsProblems(
  identity: KbIdentity,
  repository: Repository,
  changes: readonly TreeChange[],
): Promise<SettingsProblem[]> {
  const change = changes.find(({ path }) => path === 'kb.yaml')
  if (change === undefined) return []
  if (change.after === undefined) {
    return [{ path: 'kb.yaml', severity: 'error', message: 'must not be removed' }]
  }
  const { type, size = 0 } = (await repository.infos([change.after])).get(change.after) ?? {}
  const isReadable = type === 'blob' && size <= maxSettingsBytes
  return problemsInSettings(identity, isReadable ? await repository.readTextOnce(change.after) : '')
}

export function problemsInSettings(identity: KbIdentity, text: string): SettingsProblem[] {
  const { settings, problems } = parseKbFile(text)
  return [...problems, ...changedIdentity(identity, settings)]
}
