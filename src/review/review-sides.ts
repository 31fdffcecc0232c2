import { z } from 'zod'
import { MergeConflict } from '../contract/envelope.ts'
import { type ErrorCode, GanglionError, ValidationError } from '../contract/errors.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionApproved } from '../kb/projection/version-queries.ts'
import { baseOf, type MainView, markedPage } from '../kb/writing/merge-candidate.ts'
import { type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { unixLines } from '../rules/text/line-endings.ts'

/** Three texts of one page that cannot be merged. */
export type ConflictSides = {
  /** Common base of both sides. */
  base: string
  /** Present text of the Neuron. */
  current: string
  /** Text of the candidate; null if it removes the Neuron. */
  proposed: string | null
  /** Text of the Neuron with all changes of both, and markers around conflicts: the starting point of an edit. */
  merged: string
  conflicts: z.infer<typeof MergeConflict>[]
  /** Commit of the Neuron's present version: the base of an edit that resolves the conflict. */
  commit: string
  /** True if an edit of the content resolves it; otherwise the front matter conflicts, or a removal. */
  isSolvable: boolean
}

export type ReviewSides = {
  before: NeuronFile | undefined
  after: NeuronFile | undefined
  path: string | undefined
  /** Present path of the page, if approving moves it. */
  movedFrom?: string | undefined
  title: string
  /** Commit of the version in `before`. */
  commit?: string | undefined
  /** Reason why it cannot be approved as it is. */
  problem?: ErrorCode
  conflict?: ConflictSides
}

/** Returns what a candidate would change, or what an approved one changed. */
export async function sidesOf(kb: KnowledgeBase, row: CandidateRow, candidate: Candidate): Promise<ReviewSides> {
  const view = { sql: kb.projection.read, readText: (oid: string) => kb.repository.readText(oid), parser: kb.parser }
  return row.approval === undefined
    ? proposedSides(view, candidate)
    : approvedSides(view, row.approval, candidate.title)
}

async function proposedSides(view: ProposalView, candidate: Candidate): Promise<ReviewSides> {
  const target = candidate.target === null ? undefined : findNeuron(view.sql, candidate.target)
  const before = target && shownFile(await view.readText(target.blob))
  const shown = { before, title: candidate.title, path: target?.path, commit: target?.commit }
  try {
    const { text, ...proposal } = await proposalOf(view, candidate)
    return { ...shown, ...proposal, after: text === null ? undefined : shownFile(text) }
  } catch (error) {
    const own = candidate.removes ? undefined : unmergedFile(candidate, before)
    if (error instanceof ValidationError) return { ...shown, after: own, problem: 'malformed_request' }
    if (!(error instanceof GanglionError)) throw error
    if (error.code !== 'merge_conflict' || target === undefined || before === undefined) {
      return { ...shown, after: own, problem: error.code }
    }
    const base = shownFile((await baseOf(view, candidate)) ?? '')
    const marked = candidate.removes ? before : shownFile(await markedPage(view, candidate, target))
    const solved = await asSolved(view, candidate, { content: marked.content, base: target.commit })
    const after = candidate.removes ? undefined : (solved ?? marked)
    const conflict = {
      base: base.content,
      current: before.content,
      proposed: candidate.removes ? null : unixLines(candidate.content),
      merged: marked.content,
      conflicts: z.array(MergeConflict).parse(error.details.conflicts),
      commit: target.commit,
      isSolvable: solved !== undefined,
    }
    return { ...shown, after, problem: error.code, conflict }
  }
}

function shownFile(text: string): NeuronFile {
  const file = parseNeuronFile(text)
  return { ...file, content: unixLines(file.content) }
}

/** Returns the page of a candidate. One without front matter leaves the page its own. */
function unmergedFile({ frontMatter, content }: Candidate, before: NeuronFile | undefined): NeuronFile {
  if (frontMatter === null && before !== undefined) return { ...before, content: unixLines(content) }
  return shownFile((frontMatter ?? '') + content)
}

/** Returns the page as an edit of the text would make it; undefined if the front matter conflicts, too. */
async function asSolved(
  view: ProposalView,
  candidate: Candidate,
  edit: { content: string; base: string },
): Promise<NeuronFile | undefined> {
  try {
    const { text } = await proposalOf(view, candidate, { edit })
    return text === null ? undefined : shownFile(text)
  } catch (error) {
    if (error instanceof ValidationError || error instanceof GanglionError) return undefined
    throw error
  }
}

async function approvedSides(
  { sql, readText }: MainView,
  { seqId, commit }: NonNullable<CandidateRow['approval']>,
  title: string,
): Promise<ReviewSides> {
  const { before, after } = versionApproved(sql, seqId, commit)
  const fileOf = async (blob: string | null | undefined) =>
    blob === undefined || blob === null ? undefined : shownFile(await readText(blob))
  const movedFrom = before !== undefined && before.path !== after?.path ? before.path : undefined
  return {
    before: await fileOf(before?.blob),
    after: await fileOf(after?.blob),
    path: after?.path,
    movedFrom,
    title,
    commit: before?.commit,
  }
}
