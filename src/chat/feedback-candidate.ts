import type { CandidateInput } from '../contract/candidates.ts'
import type { FeedbackInput } from '../contract/chat.ts'
import { escapeMarkdown, neuronLink, shorten } from '../rules/text/inert-text.ts'
import { oneLine } from '../rules/text/lines.ts'

/** A document that an answer cited: with the Neuron, where it is one that readers may know of. */
export type CitedDocument = { filename: string; neuron?: { seqId: string; title: string } }

const connector = 'reader-feedback'
const confidence = { up: 0.9, down: 0.3, flag: 0.3 } as const
/** UTF-16 units of parts that metadata repeats; together they stay within its 16 KB. */
const maxPart = 1000
const maxName = 200
const maxId = 64
const maxIds = 20

/** Reader feedback as a candidate: a bundle for a curator to read, with its parts in the metadata. */
export function feedbackCandidate(
  knowledgeBaseId: string,
  feedback: FeedbackInput,
  cited: readonly CitedDocument[],
  { zone, shouldCite }: { zone?: 'red' | 'yellow' | undefined; shouldCite?: CitedDocument | undefined } = {},
): CandidateInput {
  const { vote, question } = feedback
  const subject = shorten(question, 100)
  return {
    knowledgeBaseId,
    kind: 'reader-feedback',
    title: subject === '' ? 'Feedback' : `Feedback: ${subject}`,
    content: bodyOf(feedback, cited, shouldCite),
    metadata: JSON.stringify({ ...metadataOf(feedback), actionZone: zone }),
    confidence: confidence[vote],
    impactEstimate: null,
  }
}

function metadataOf({
  vote,
  question,
  citations = [],
  sessionId,
  turnId,
  reason,
  category,
  pageUrl,
  shouldCite,
}: FeedbackInput): Record<string, unknown> {
  return {
    connector,
    // A policy may approve it: readers must not find what one of them said of an answer as an answer.
    tags: ['internal', 'feedback'],
    vote,
    // JSON leaves out what is undefined.
    category,
    question: shorten(question, maxPart),
    reason: vote === 'up' || reason === undefined ? undefined : shorten(reason, maxPart),
    citations: citations.slice(0, maxIds).map(({ documentId }) => oneLine(documentId, maxId)),
    conversationId: sessionId && oneLine(sessionId, maxName),
    sourceTurnId: turnId && oneLine(turnId, maxName),
    pageUrl: pageUrl && oneLine(pageUrl, maxPart),
    shouldCite: vote === 'up' ? undefined : shouldCite,
  }
}

function bodyOf(
  { vote, question, answer, reason, category, pageUrl }: FeedbackInput,
  cited: readonly CitedDocument[],
  shouldCite: CitedDocument | undefined,
): string {
  const facts = [
    `- Vote: ${vote}`,
    ...(category === undefined ? [] : [`- Category: ${category}`]),
    ...(pageUrl === undefined ? [] : [`- Page: ${addressOf(pageUrl)}`]),
  ]
  const parts = [
    facts.join('\n'),
    section('Reason', vote === 'up' || reason === undefined ? [] : quote(reason)),
    section('Question', quote(question)),
    section('Answer', quote(answer)),
    section('Citations', cited.map(linkTo)),
    section('Should cite', shouldCite === undefined ? [] : [linkTo(shouldCite)]),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`
}

/** Every line in a block quote, so that text can form no heading or front matter, and without wiki links of its own. */
function quote(text: string): string[] {
  const inert = text.replace(/\[(?=\[)|(?<=\[)\[/g, '\\[')
  return inert.split(/\r\n|\r|\n/).map((line) => `> ${line}`.trimEnd())
}

function linkTo({ filename, neuron }: CitedDocument): string {
  if (neuron === undefined) return `- ${escapeMarkdown(shorten(filename, maxName))}`
  return `- ${neuronLink(neuron, maxName)}`
}

/** An autolink (CommonMark 6.4) where it can be one. */
function addressOf(pageUrl: string): string {
  const isAddress = /^https?:\/\/[^\s<>\p{Cc}]+$/iu.test(pageUrl)
  return isAddress ? `<${pageUrl}>` : escapeMarkdown(oneLine(pageUrl, maxPart))
}
