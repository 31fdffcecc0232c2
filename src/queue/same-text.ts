import { isDeepStrictEqual } from 'node:util'
import type { Warning } from '../contract/candidates.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Staging } from '../git/staging.ts'
import { type KbView, viewAs } from '../kb/access/kb-view.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { waitingTwins } from '../kb/projection/candidate-queue.ts'
import { neuronsWithWords } from '../kb/projection/candidate-words.ts'
import { namesByKey } from '../kb/projection/link-queries.ts'
import { accessOf, findNeuron, type NeuronRow } from '../kb/projection/neuron-queries.ts'
import type { AllTables } from '../kb/projection/projection.ts'
import { unchangedTrailers } from '../kb/refs/commit-message.ts'
import { endUserTrailers } from '../kb/writing/approvals.ts'
import { commitToMain } from '../kb/writing/commits.ts'
import { type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { parseNeuronFile, shownContent } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import { type Caller, isVisitor } from '../rules/access/caller.ts'
import { type Candidate, ingestActor, policyActor } from '../rules/candidates/candidate.ts'
import { parseMetadata, readMetadata } from '../rules/candidates/metadata.ts'
import { linkKey } from '../rules/links/link-target.ts'
import { findResembling, type Resembling, wordsWithin } from '../rules/neurons/resemblance.ts'
import { tagKey } from '../rules/neurons/tag.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { pauses } from '../system/pauses.ts'
import { proposalViewOf } from './approval.ts'

/** Pages that already have the text of a candidate, among those its sender may see. */
export type SameText = {
  /** Page that the candidate would leave unchanged. */
  unchanged?: NeuronRow | undefined
  /** Pages that a new page would nearly repeat, most similar first. */
  similar: Warning[]
  /** True if one of them is so similar that an approval by the policy would make a copy. */
  isCopy: boolean
}

type Sender = Pick<Caller, 'role' | 'audience'> & { sees: KbView['sees'] }

/** Maximum number of similar pages and candidates that a sender is told of. */
export const maxSimilar = 3
/** Minimum resemblance of pages to be reported, and to count as copies. */
const [leastTold, leastCopy] = [0.8, 0.9]
/** Minimum number of words to compare, since shorter texts are similar by chance. */
const leastWords = 16
/** Number of words in each of two sets by which pages are found, so that one changed word hides no page. */
const wordsOfSet = 6
const maxRead = 10_000
const maxCompared = 20
/** Maximum characters of the pages that are compared word by word with one text; the page of the nearest length is always compared. */
const maxCharacters = 500_000
/** Approximate characters of a file besides its content. */
const headLength = 32_768

/** Returns the visible pages that have a candidate's text, or nearly. Must run within a write. */
export async function sameText(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  sender: Sender,
): Promise<SameText> {
  const view = proposalViewOf(kb, staging)
  // A Source's pages are its own, as in a document that is uploaded twice on purpose.
  if (candidate.removes || candidate.createdBy.id === ingestActor.id) return { similar: [], isCopy: false }
  if (candidate.target !== null) {
    return { unchanged: await unchangedTarget(view, candidate, sender), similar: [], isCopy: false }
  }
  const content = textOf(candidate.content)
  const pause = pauses()
  const pages: { row: NeuronRow; text: string }[] = []
  for (const seqId of new Set([...titled(view, candidate, sender), ...found(view, content, sender)])) {
    const row = findNeuron(view.sql, seqId)
    if (row === undefined || pages.length === maxCompared) continue
    await pause()
    const page = await view.readText(row.blob)
    // Texts of very different lengths are not nearly equal.
    if (page.length > 2 * content.length + headLength || 2 * page.length < content.length) continue
    const file = parseNeuronFile(page)
    const text = textOf(effectiveAudience(sender) === 'curator' ? file.content : shownContent(file))
    pages.push({ row, text })
  }
  const equals = pages.filter(({ text }) => text === content)
  const equal = equals.filter(({ row }) => row.title === candidate.title)
  const unchanged = equal.find(({ row }) => hasFields(row, candidate))?.row
  if (unchanged !== undefined) return { unchanged, similar: [], isCopy: false }
  const alike = await resembling(content, pages, pause)
  const told = new Map([
    // A short text may be right under two titles: its sender is informed, and it does not wait.
    ...equals.map(({ row }) => [row.seqId, leastTold] as const),
    ...equal.map(({ row }) => [row.seqId, 1] as const),
    ...alike.map((one) => [one.name, one.resemblance] as const),
  ])
  await pause()
  const copies = pages.filter(({ row }) => (told.get(row.seqId) ?? 0) >= leastCopy)
  const numbers = copies.length === 0 ? [] : numbersIn(content)
  const isCopy = copies.some(({ text }) => isDeepStrictEqual(numbersIn(text), numbers))
  return { similar: [...told.keys()].slice(0, maxSimilar).map(similarTo), isCopy }
}

/** Returns the present rights of a recorded candidate's sender. An unknown sender has those of a reader. */
export async function recordedSender(kb: KnowledgeBase, { createdBy }: Candidate): Promise<Sender> {
  const { mayDecide } = await kb.people.whoIs(createdBy.id)
  const sender: Pick<Caller, 'role' | 'audience'> = {
    role: mayDecide ? 'curator' : 'reader',
    ...(isVisitor(createdBy) && { audience: 'public' }),
  }
  const view = await viewAs(kb, { audience: effectiveAudience(sender), sql: kb.projection.write })
  return { ...sender, sees: (neuron) => view.sees(neuron) }
}

/** Returns the pages that a text nearly repeats, most similar first. Takes bounded time, and yields to other work. */
async function resembling(
  content: string,
  pages: readonly { row: NeuronRow; text: string }[],
  pause: () => Promise<void>,
): Promise<Resembling<string>[]> {
  if (wordsWithin(content).length < leastWords) return []
  const distance = ({ text }: { text: string }) => Math.abs(text.length - content.length)
  const alike: Resembling<string>[] = []
  let left = maxCharacters
  for (const { row, text } of pages.toSorted((a, b) => distance(a) - distance(b))) {
    if (left <= 0) break
    left -= text.length
    await pause()
    const [found = []] = findResembling([{ name: '', text: content }], [{ name: row.seqId, text }], leastTold)
    alike.push(...found)
  }
  return alike.sort((a, b) => b.resemblance - a.resemblance)
}

function similarTo(seqId: string): Warning {
  const message = `${seqId} says nearly the same: correct that page instead, with a user-correction of this targetNeuron, if it is the same.`
  return { code: 'similar', message, seqId }
}

/** Returns the candidates that the sender of a new one has proposed already, and that wait: it can revise them instead. */
export function alreadyProposed(sql: AllTables, candidate: Candidate): Warning[] {
  return waitingTwins(sql, candidate, maxSimilar).map(({ id }) => ({
    code: 'similar',
    message: `You have proposed this already, and it waits: revise the candidate ${id}, or withdraw one of them.`,
    candidateId: id,
  }))
}

export function unchangedWarning(seqId: string): Warning {
  return { code: 'unchanged', message: `${seqId} has this text already: this changes nothing.`, seqId }
}

function textOf(content: string): string {
  return unixLines(content).trim()
}

function titled({ sql }: ProposalView, { title }: Candidate, { sees }: Sender): string[] {
  const named = namesByKey(sql, linkKey(title)).filter(({ kind }) => kind === 'title')
  const seen = named.filter(({ seqId }) => sees(accessOf(sql, seqId) ?? { audience: [], tags: [] }))
  return seen.slice(0, maxCompared).map(({ seqId }) => seqId)
}

function found({ sql }: ProposalView, content: string, { sees }: Sender): string[] {
  const words = [...new Set(wordsWithin(content.slice(0, maxRead)))].sort((a, b) => b.length - a.length)
  const sets = [words.slice(0, wordsOfSet), words.slice(wordsOfSet, 2 * wordsOfSet)].filter((set) => set.length > 0)
  return neuronsWithWords(sql, sets, { sees, limit: maxCompared })
}

/** True if a page already has the tags and the audience that a new page would get. */
function hasFields({ tags, audience }: NeuronRow, { metadata }: Candidate): boolean {
  const wished = readMetadata(parseMetadata(metadata).data)
  const own = new Set(tags.map(tagKey))
  return wished.tags.every((tag) => own.has(tagKey(tag))) && isDeepStrictEqual(wished.audience ?? audience, audience)
}

/** Returns the numbers in a text, which distinguish members of a series, or doses: a text with other numbers is no copy. */
function numbersIn(text: string): string[] {
  return wordsWithin(text)
    .filter((word) => /\p{N}/u.test(word))
    .sort()
}

/** Returns the target of a correction that would change only its back-pointer. */
async function unchangedTarget(
  view: ProposalView,
  candidate: Candidate,
  { sees }: Sender,
): Promise<NeuronRow | undefined> {
  try {
    const { text, target, movedFrom } = await proposalOf(view, candidate)
    if (text === null || target === undefined || movedFrom !== undefined || !sees(target)) return undefined
    const saidBy = (page: string) => {
      const file = parseNeuronFile(page)
      const { tags, audience, sourceUrl } = file.fields
      return { content: textOf(file.content), title: neuronTitle(file, target.path), tags, audience, sourceUrl }
    }
    return isDeepStrictEqual(saidBy(text), saidBy(await view.readText(target.blob))) ? target : undefined
  } catch (error) {
    if (error instanceof GanglionError || error instanceof ValidationError) return undefined
    throw error
  }
}

/**
 * Approves a candidate whose text a Neuron already has, by a commit without changes, which needs no other approval. Must run within a
 * write.
 */
export async function approveUnchanged(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  { seqId }: NeuronRow,
  at: Date,
): Promise<void> {
  const { id, title, kind, connector } = candidate
  const unchanged = [{ seqId, candidateId: id }]
  await commitToMain(kb, staging, {
    ...{ files: new Map(), unchanged, decided: { operator: policyActor }, at },
    subject: `Find "${title}" unchanged`,
    trailers: [
      ['Candidate', id],
      ['Neuron', seqId],
      ...unchangedTrailers(unchanged),
      ['Kind', kind],
      ['Connector', connector],
      ...endUserTrailers([candidate]),
    ],
  })
}
