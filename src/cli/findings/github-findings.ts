import type { Finding } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'

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
