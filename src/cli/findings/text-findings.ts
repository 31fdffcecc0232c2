import type { Finding } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'

export function formatText(findings: readonly Finding[], files: number): string {
  const lines = findings.map(
    ({ path, line, severity, rule, message }) => `${oneLine(path, 2000)}:${line}: ${severity}[${rule}]: ${message}`,
  )
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return [
    ...lines,
    `${count(errors, 'error')} and ${count(findings.length - errors, 'warning')} in ${count(files, 'file')}.`,
  ].join('\n')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
