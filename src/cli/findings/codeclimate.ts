import { createHash } from 'node:crypto'
import type { Finding } from '../../rules/neurons/neuron.ts'

/** Formats findings as GitLab shows them next to the lines of a merge request: the part of Code Climate's format that it reads. */
export function formatCodeClimate(findings: readonly Finding[]): string {
  const seen = new Map<string, number>()
  const issues = findings.map(({ path, line, severity, rule, message }) => {
    // The line is not part of the identity, so that a finding that only moved stays the same. GitLab drops the second of two equal ones.
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
