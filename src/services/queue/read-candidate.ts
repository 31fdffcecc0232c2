import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { CandidateDetail } from '../../contract/candidates.ts'
import { GanglionError } from '../../contract/errors.ts'
import { authorOfCommit } from '../../git/object.ts'
import type { Candidate } from '../../knowledge/candidate.ts'
import { parseCandidate } from '../../markdown/candidate-file.ts'
import { parseNeuronFile } from '../../markdown/neuron-file.ts'
import { type CandidateRow, findCandidate } from '../../store/candidate-index.ts'
import { findNeuron, versionAt, versionBefore } from '../../store/neuron-queries.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { toSummary } from './list-candidates.ts'
import { mergeIntoTarget } from './merge-candidate.ts'

type Sides = { before: string | null; after: string | null }

/** A candidate as a curator reviews it: what it says, what was decided, and what it changes. @throws {GanglionError} `not_found` */
export async function readCandidate(ganglion: Ganglion, caller: Caller, candidateId: string): Promise<CandidateDetail> {
  const kb = await ganglion.kbOfCandidate(caller.tenantId, candidateId)
  const row = findCandidate(kb.projection.read, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  const candidate = parseCandidate(await kb.repository.readText(row.blob))
  const sides =
    row.approval === undefined ? await sidesOfProposal(kb, candidate) : await sidesOfApproval(kb, row.approval)
  return {
    ...toSummary(ganglion, kb.identity.id, row),
    content: candidate.content,
    metadata: candidate.metadata,
    decisions: [
      ...candidate.decisions.map(({ action, at, by, reason }) => ({
        action,
        at,
        by: by.name,
        ...(reason === undefined ? {} : { reason }),
      })),
      ...(await approvalDecision(kb, row)),
    ],
    ...sides,
    diff: unifiedDiff(sides),
  }
}

async function approvalDecision(kb: KnowledgeBase, { approval }: CandidateRow): Promise<CandidateDetail['decisions']> {
  if (approval === undefined) return []
  const { name, at } = authorOfCommit((await kb.repository.read(approval.commit)).data)
  return [{ action: 'approve', at: at.toISOString(), by: name }]
}

/** What approval would change: a text that cannot be merged has no `after`. */
async function sidesOfProposal(kb: KnowledgeBase, candidate: Candidate): Promise<Sides> {
  if (candidate.target === null) return { before: null, after: candidate.content }
  const target = findNeuron(kb.projection.read, candidate.target)
  if (target === undefined) return { before: null, after: null }
  const before = parseNeuronFile(await kb.repository.readText(target.blob)).content
  try {
    return { before, after: await mergeIntoTarget(kb, kb.repository, candidate, {}, target) }
  } catch (error) {
    if (error instanceof GanglionError && error.code === 'merge_conflict') return { before, after: null }
    throw error
  }
}

async function sidesOfApproval(
  kb: KnowledgeBase,
  { seqId, commit }: NonNullable<CandidateRow['approval']>,
): Promise<Sides> {
  const { read: sql } = kb.projection
  const after = versionAt(sql, seqId, commit)
  const before = after === undefined ? undefined : versionBefore(sql, seqId, after.version)
  const contentOf = async (blob: string | null | undefined) =>
    blob === undefined || blob === null ? null : parseNeuronFile(await kb.repository.readText(blob)).content
  return { before: await contentOf(before?.blob), after: await contentOf(after?.blob) }
}

function unifiedDiff({ before, after }: Sides): string {
  if (after === null) return ''
  const endingInNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
  const oldName = before === null ? '/dev/null' : 'before'
  return (
    createTwoFilesPatch(oldName, 'after', endingInNewline(before ?? ''), endingInNewline(after), '', '', {
      headerOptions: FILE_HEADERS_ONLY,
      timeout: 2_000,
    }) ?? ''
  )
}
