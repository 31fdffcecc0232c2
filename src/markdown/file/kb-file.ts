import { type KbSettings, parseKbSettings, type SettingsProblem } from '../../rules/kb-settings.ts'
import { parseYaml } from '../yaml/yaml.ts'

/**
 * Reads the text of a `kb.yaml`. Never throws. What YAML cannot make out may have been a rule or an audience: then nothing is
 * approved by itself, and nothing shown to who is not listed.
 */
export function parseKbFile(text: string): { settings: KbSettings; problems: SettingsProblem[] } {
  const yaml = parseYaml(text)
  const { settings, problems } = parseKbSettings(yaml.data)
  if (yaml.problems.length === 0) return { settings, problems }
  const unreadable = yaml.problems.map(
    ({ message, line }): SettingsProblem => ({ path: '', severity: 'error', message: `line ${line}: ${message}` }),
  )
  // What decides may stand in the part that cannot be read.
  const deciding = /^(?:owners|approvals|authorMayApprove)\s*:/m.test(text) ? null : settings.deciding
  return {
    settings: { ...settings, deciding, policy: null, zones: null, defaultAudience: [], inlineTags: true },
    problems: [...unreadable, ...problems],
  }
}
