import { createHash } from 'node:crypto'
import type { Finding } from '../../rules/neurons/neuron.ts'

/** The report that GitLab shows beside the lines of a merge request: the part of Code Climate's format that it reads. */
export function formatCodeClimate(findings: readonly Finding[]): string {
  const seen = new Map<string, number>()
  const issues = findings.map(({ path, line, severity, rule, message }) => {
    // Without the line, so that a finding which only moved is the same; GitLab drops the second of two that are alike.
    const identity = JSON.stringify([rule, path, message])
    const ordinal = seen.get(identity) ?? 0
    seen.set(identity, ordinal + 1)
    return {
      description: message,
      check_name: rule,
      fingerprint: createHash('sha256').update(`${ordinal} ${identity}`).digest('hex'),
      severity: severity === 'error' ? 'major' : 'minor',
      location: { path: path.toWellFormed(), lines: { begin: line } },
    }
  })
  return JSON.stringify(issues)
}
