import type { Finding } from '../../rules/neurons/neuron.ts'
import { ruleSummary } from './rule-summary.ts'

/** A log in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0), on one line. */
export function formatSarif(findings: readonly Finding[]): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort()
  return JSON.stringify({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'ganglion', rules: rules.map((id) => ({ id, shortDescription: { text: ruleSummary(id) } })) },
        },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { [root]: { description: { text: 'Where the check was run.' } } },
        results: findings.map(({ path, line, severity, rule, message }) => ({
          ruleId: rule,
          ruleIndex: rules.indexOf(rule),
          level: severity,
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: toUri(path), uriBaseId: root },
                region: { startLine: line },
              },
            },
          ],
        })),
      },
    ],
  })
}

const root = '%SRCROOT%'

function toUri(path: string): string {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}
