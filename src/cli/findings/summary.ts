import { structuredPatch } from 'diff'
import { fileTitle } from '../../markdown/neuron-title.ts'
import type { NeuronFileOf, PushedName } from '../../push/clone-check/checked-change.ts'
import type { DirectoryReview, ReviewedNeuron } from '../../push/clone-check/review-directory.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { literal, literalBlock } from '../../rules/text/literal.ts'
import { ruleSummary } from './rule-summary.ts'

/** Forges cut a comment after 65,536 characters. */
const maxLength = 60_000
/** Kept free for what says how much was left out. */
const reserve = 500
const maxDiffLines = 120
const maxDiffLineLength = 300
const maxDiffLength = 8_000
const maxDiffMs = 500
const maxListed = 20
const maxResembling = 3

/** A Markdown summary of a change for its reviewers, 60,000 characters at most. What the change itself says stands in code. */
export function formatSummary({ neurons, broken, otherFiles }: DirectoryReview, findings: readonly Finding[]): string {
  const head = [
    '## What this change does to the knowledge base',
    countActions(neurons),
    describeVerdicts(neurons),
    describeFindings(findings),
    ...section('### Links of other Neurons that it breaks', broken.map(describeBroken)),
    ...section(
      '### Other files',
      otherFiles.map((path) => literal(path)),
    ),
  ].join('\n\n')
  let summary = head
  let shown = 0
  for (const neuron of neurons) {
    if (summary.length > maxLength - 2 * reserve) break
    const room = maxLength - reserve - summary.length - 2
    const block = [false, true]
      .map((isShort) => describeNeuron(neuron, { isShort }))
      .find(({ length }) => length <= room)
    if (block === undefined) continue
    summary += `\n\n${block}`
    shown++
  }
  const left = neurons.length - shown
  return `${summary}${left === 0 ? '' : `\n\n*${count(left, 'more Neuron')} changed: there is no room for ${left === 1 ? 'it' : 'them'} here.*`}\n`
}

function countActions(neurons: readonly ReviewedNeuron[]): string {
  if (neurons.length === 0) return 'No Neuron changes.'
  const parts = (['added', 'changed', 'moved', 'removed'] as const).flatMap((action) => {
    const number = neurons.filter((neuron) => neuron.action === action).length
    return number === 0 ? [] : [`${number} ${action}`]
  })
  return `${count(neurons.length, 'Neuron')}: ${parts.join(', ')}.`
}

function describeVerdicts(neurons: readonly ReviewedNeuron[]): string {
  const approved = neurons.filter(({ verdict }) => verdict.approve).length
  return [
    `**Policy:** ${approved} of ${neurons.length} would be approved without a curator, ${neurons.length - approved} would wait for one.`,
    'This is the policy as it was before the change; kinds, connectors and confidences are what the commits claim.',
  ].join(' ')
}

function describeFindings(findings: readonly Finding[]): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort()
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const head = `**Check:** ${count(errors, 'error')} and ${count(findings.length - errors, 'warning')} in the knowledge base.`
  const lines = rules.map((rule) => {
    const found = findings.filter((finding) => finding.rule === rule)
    return `- ${count(found.length, found[0]?.severity ?? 'warning')}: ${ruleSummary(rule)}`
  })
  return lines.length === 0 ? head : `${head}\n\n${lines.join('\n')}`
}

function describeBroken({ path, line, message }: Finding): string {
  return `${literal(`${path}:${line}`)}: ${literal(message)}`
}

function describeNeuron(neuron: ReviewedNeuron, { isShort }: { isShort: boolean }): string {
  const { action, before, after, textBefore, textAfter } = neuron
  const [old, fresh] = [before?.neuron.fields, after?.neuron.fields]
  const { seqId } = fresh ?? old ?? {}
  const [titleBefore = '', title = titleBefore] = [before, after].map(titleOf)
  const path = after?.path ?? before?.path ?? ''
  const facts = [
    `Path: ${action === 'moved' ? `${literal(before?.path ?? '')} → ` : ''}${literal(path)}`,
    seqId === undefined ? 'seqId: none yet' : `seqId: ${literal(seqId)}`,
    ...(before && after && titleBefore !== title ? [`Title before: ${literal(titleBefore)}`] : []),
    describeVerdict(neuron),
    ...listed('Links gained', neuron.linksGained.map(literal)),
    ...listed('Links lost', neuron.linksLost.map(literal)),
    ...listed('Same title', neuron.sameTitle.map(describeName)),
    ...neuron.sameText
      .slice(0, maxResembling)
      .map(({ name, resemblance }) => `Same text: ${Math.floor(resemblance * 100)} % like ${literal(name)}`),
  ].map((fact) => `- ${fact}`)
  const head = `### ${action[0]?.toUpperCase()}${action.slice(1)}: ${literal(title)}\n\n${facts.join('\n')}`
  if (isShort) return `${head}\n\n*There is no room for the text here.*`
  const { diff, left } = describeDiff(textBefore, textAfter)
  if (diff === '') return head
  return `${head}\n\n${literalBlock(diff, 'diff')}${left === 0 ? '' : `\n\n*${count(left, 'more line')} of the comparison left out.*`}`
}

function describeVerdict({ claim, verdict }: ReviewedNeuron): string {
  const claimed = [
    `kind ${literal(claim.kind)}`,
    `connector ${literal(claim.connector)}`,
    claim.confidence === null ? 'no confidence' : `confidence ${claim.confidence}`,
    ...(claim.candidateId === undefined ? [] : [`candidate ${literal(claim.candidateId)}`]),
  ].join(', ')
  const outcome = verdict.approve ? 'would be approved' : 'would wait for a curator'
  return `**Policy:** ${outcome} (${literal(verdict.reason)}). Claimed: ${claimed}.`
}

/** What a page is called: by its title, or its file name. */
function titleOf(page: NeuronFileOf | undefined): string | undefined {
  return page === undefined ? undefined : (page.neuron.title ?? fileTitle(page.path))
}

function describeName({ path, title, seqId }: PushedName): string {
  return [literal(title ?? fileTitle(path)), ...(seqId === undefined ? [] : [literal(seqId)]), literal(path)].join(' ')
}

/** A unified comparison, with how many of its lines were left out. */
function describeDiff(before: string, after: string): { diff: string; left: number } {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, timeout: maxDiffMs })
  if (patch === undefined) return { diff: '(The two texts are too different to compare.)', left: 0 }
  const lines = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: hunk }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...hunk.map((line) => (line.length > maxDiffLineLength ? `${cut(line)}…` : line)),
  ])
  let length = 0
  const shown: string[] = []
  for (const line of lines.slice(0, maxDiffLines)) {
    length += line.length + 1
    if (length > maxDiffLength) break
    shown.push(line)
  }
  return { diff: shown.join('\n'), left: lines.length - shown.length }
}

function cut(line: string): string {
  return line.slice(0, maxDiffLineLength).toWellFormed()
}

function section(heading: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  return [
    `${heading}\n\n${bounded(items)
      .map((item) => `- ${item}`)
      .join('\n')}`,
  ]
}

function listed(name: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${name}: ${bounded(items).join(', ')}`]
}

function bounded(items: readonly string[]): string[] {
  const left = items.length - maxListed
  return left <= 0 ? [...items] : [...items.slice(0, maxListed), `*and ${left} more*`]
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
