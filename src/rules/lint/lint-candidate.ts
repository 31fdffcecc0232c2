import type { CandidateInput } from '../../contract/candidates.ts'
import { escapeMarkdown, neuronLink, shorten } from '../text/literal.ts'
import { counted } from '../text/numbers.ts'
import { findingFingerprint, impactOf, type LintFinding } from './link-survey.ts'

type LinkFinding = Extract<LintFinding, { links: number }>

export const lintConnector = 'lint'

const kinds = {
  orphan: 'cross-ref-suggestion',
  'missing-target': 'cross-ref-suggestion',
  gap: 'gap-detection',
  'ambiguous-target': 'cross-ref-suggestion',
  contradiction: 'contradiction-alert',
  'taken-name': 'cross-ref-suggestion',
} as const

const maxTitle = 100
/** Maximum number of Neurons that a candidate lists. */
const maxListed = 20

/**
 * Returns a candidate that describes a finding to a curator. It has no confidence, since it is no knowledge. The tag `internal` keeps it,
 * and the titles that it lists, from readers if it is approved all the same.
 * @param related Neurons that an orphan may belong with
 */
export function lintCandidate(
  knowledgeBaseId: string,
  finding: LintFinding,
  { titleOf, related }: { titleOf: (seqId: string) => string; related: readonly string[] },
): CandidateInput {
  const link = (seqId: string) => neuronLink({ seqId, title: titleOf(seqId) }, maxTitle)
  const { rule } = finding
  return {
    knowledgeBaseId,
    kind: kinds[rule],
    title: lintTitle(finding, titleOf),
    content: `${bodyOf(finding, link, related)}\n`,
    metadata: JSON.stringify({
      connector: lintConnector,
      rule,
      fingerprint: findingFingerprint(finding),
      tags: ['internal', 'lint'],
    }),
    confidence: null,
    impactEstimate: impactOf(finding),
  }
}

export function lintTitle(finding: LintFinding, titleOf: (seqId: string) => string): string {
  switch (finding.rule) {
    case 'orphan':
      return `Orphan: ${shorten(titleOf(finding.seqId), maxTitle) || finding.seqId}`
    case 'contradiction':
      return `Contradiction: ${finding.pair.map((seqId) => shorten(titleOf(seqId), maxTitle) || seqId).join(' / ')}`
    case 'taken-name':
      return `Taken name: ${shorten(finding.name, maxTitle)}`
    case 'gap':
      return `Gap: ${shorten(finding.target, maxTitle)}`
    case 'ambiguous-target':
      return `Ambiguous link: ${shorten(finding.target, maxTitle)}`
    case 'missing-target':
      return `Broken link: ${shorten(finding.target, maxTitle)}`
  }
}

function bodyOf(finding: LintFinding, link: (seqId: string) => string, related: readonly string[]): string {
  switch (finding.rule) {
    case 'orphan':
      return parts(
        `Nothing links to ${link(finding.seqId)}, and it links to nothing.`,
        section('Perhaps related', related.map(link)),
      )
    case 'contradiction': {
      const [one, other] = finding.pair
      return parts(
        `${link(one)} and ${link(other)} contradict each other.`,
        'Neither supersedes the other, and nothing supersedes both. An edge `supersedes` would settle which of them holds.',
      )
    }
    case 'taken-name':
      return parts(
        `Links by the name “${escapeMarkdown(shorten(finding.name, maxTitle))}” lead to ${finding.holder === undefined ? 'the file of that name' : link(finding.holder)}, which had it first.`,
        section('Reached by seqId and path only', finding.others.slice(0, maxListed).map(link), finding.others.length),
      )
    case 'gap':
      return parts(
        `${counted(finding.neurons, 'Neuron')} link to “${name(finding)}”, and no Neuron is about it.`,
        section('Wanted by', places(finding, link), finding.links),
      )
    case 'ambiguous-target':
      return parts(
        `“${name(finding)}” may mean any of ${counted(finding.meanings.length, 'Neuron')}, so ${counted(finding.links, 'link')} to it lead nowhere.`,
        section('Neurons of that name', finding.meanings.slice(0, maxListed).map(link), finding.meanings.length),
        section('Links', places(finding, link), finding.links),
      )
    case 'missing-target':
      return parts(
        `No Neuron answers to “${name(finding)}”, so ${counted(finding.links, 'link')} to it lead nowhere.`,
        section('Perhaps meant', finding.likely.map(link)),
        section('Links', places(finding, link), finding.links),
      )
  }
}

function name({ target }: LinkFinding): string {
  return escapeMarkdown(shorten(target, maxTitle))
}

function places({ places }: LinkFinding, link: (seqId: string) => string): string[] {
  return places.map(({ seqId, line }) => `${link(seqId)}, ${line === null ? 'front matter' : `line ${line}`}`)
}

/** Returns a section with a list. @param total number of all items, if `items` has only the first ones */
function section(title: string, items: readonly string[], total = items.length): string {
  if (items.length === 0) return ''
  const more = total > items.length ? [`- and ${total - items.length} more`] : []
  return [`## ${title}`, '', ...items.map((item) => `- ${item}`), ...more].join('\n')
}

function parts(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}
