import { type KbSettings, parseKbSettings, type SettingsProblem } from '../../rules/kb-settings.ts'
import { parseYaml } from '../yaml/yaml.ts'

/**
 * Parses the text of a `kb.yaml`. Never throws. A part that is not valid YAML may have been a rule or an audience, so then nothing is
 * approved automatically, and nothing is shown to readers who are not listed.
 */
export function parseKbFile(text: string): { settings: KbSettings; problems: SettingsProblem[] } {
  const yaml = parseYaml(text)
  const { settings, problems } = parseKbSettings(yaml.data)
  if (yaml.problems.length === 0) return { settings, problems }
  const unreadable = yaml.problems.map(
    ({ message, line }): SettingsProblem => ({ path: '', severity: 'error', message: `line ${line}: ${message}` }),
  )
  // The approval rules may be in the unreadable part.
  const deciding = /^(?:owners|approvals|authorMayApprove)\s*:/m.test(text) ? null : settings.deciding
  return {
    settings: { ...settings, deciding, policy: null, zones: null, defaultAudience: [], inlineTags: true },
    problems: [...unreadable, ...problems],
  }
}
