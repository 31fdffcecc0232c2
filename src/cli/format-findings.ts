import { createHash } from 'node:crypto'
import type { Finding } from '../rules/neurons/neuron.ts'
import { oneLine } from '../rules/text/lines.ts'
import { counted } from '../rules/text/numbers.ts'

export function formatText(findings: readonly Finding[], files: number): string {
  const lines = findings.map(
    ({ path, line, severity, rule, message }) => `${oneLine(path, 2000)}:${line}: ${severity}[${rule}]: ${message}`,
  )
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return [
    ...lines,
    `${counted(errors, 'error')} and ${counted(findings.length - errors, 'warning')} in ${counted(files, 'file')}.`,
  ].join('\n')
}

/** Formats findings in the part of Code Climate's format that GitLab reads to show them next to the lines of a merge request. */
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

/** Formats findings as workflow commands, which GitHub Actions shows next to the lines. */
export function formatGithub(findings: readonly Finding[]): string {
  return findings
    .map(({ path, line, severity, rule, message }) => {
      const place = `file=${property(oneLine(path, 2000))},line=${line},title=${property(rule)}`
      return `::${severity} ${place}::${data(message)}`
    })
    .join('\n')
}

/** Escapes like `escapeData` and `escapeProperty` of GitHub's toolkit. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
