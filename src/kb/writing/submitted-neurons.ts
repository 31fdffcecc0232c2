import { isAncestor } from '../../git/history/history.ts'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { findResembling } from '../../rules/neurons/resemblance.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { compareText } from '../../rules/text/lines.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import {
  approvedOfFingerprint,
  type CandidateRow,
  candidatesOfOrigin,
  findCandidate,
} from '../projection/candidate-index.ts'
import { findNeuron } from '../projection/neuron-queries.ts'
import type { MainView } from './merge-candidate.ts'
import { type ProposalView, proposalOf } from './proposal.ts'
import { connectorOf, gitFingerprint, gitOriginOf, type Origin, type PushedNeuron } from './pushed-neurons.ts'

/** Main as seen by a push whose base is behind it. */
export type PushView = ProposalView & {
  /** True if main got a commit after the pusher started, and the pusher does not have its pushed commits either. */
  isSince(commit: Oid): Promise<boolean>
}

/** Returns the view of main for a push. @param from commit from which the pusher started */
export function pushView({ repository, parser }: KnowledgeBase, view: MainView, from: Oid): PushView {
  const isSince = async (commit: Oid) => {
    if (await isAncestor(repository, commit, from)) return false
    const [, pushed] = parentsOfCommit((await repository.read(commit)).data)
    // A pusher who has the merged commits knows of their pages, and may have removed one.
    return pushed === undefined || !(await isAncestor(repository, pushed, from))
  }
  return { ...view, parser, isSince }
}

/** Neuron of a push, with the page from which its pusher started. */
export type SubmittedNeuron = PushedNeuron & { base: { path: string; text: string } | undefined }

type Side = { blob: Oid; text: string; seqId: string | undefined }
type Page = { path: string; before: Side | undefined; after: Side | undefined }

/** Minimum similarity of two texts to count as the same page after a move. */
const leastResemblance = 0.5

/**
 * Returns the Neurons among changed files, by path, if the pusher's branch may be behind main. Its pages may lack the seqIds that main has
 * assigned since. They are matched by the pushed content, by the candidate that they name, and by similarity.
 */
export async function submittedNeurons(
  view: PushView,
  changes: readonly TreeChange[],
  origin: Origin,
): Promise<SubmittedNeuron[]> {
  const pages = await Promise.all(
    changes.filter(({ path }) => isNeuronPath(path)).map((change) => readPage(view, change)),
  )
  const bases = new Map(
    pages.flatMap(({ path, before }) =>
      before?.seqId === undefined ? [] : [[before.seqId, { path, text: before.text }]],
    ),
  )
  const moved = movedPages(pages)
  const present = new Map<string, SubmittedNeuron>()
  const added: SubmittedNeuron[] = []
  for (const { path, before, after } of pages) {
    if (after === undefined) continue
    const known = after.seqId ?? before?.seqId ?? moved.get(path)
    const earlier =
      known === undefined && before === undefined ? await earlierPage(view, { path, ...after }, origin) : undefined
    const seqId = known ?? earlier?.seqId
    const base = (seqId === undefined ? undefined : bases.get(seqId)) ?? earlier?.base
    const row = seqId === undefined ? undefined : findNeuron(view.sql, seqId)
    const neuron = { seqId, before: row, path, blob: after.blob, text: after.text, base }
    if (seqId === undefined || present.has(seqId))
      added.push({ ...neuron, seqId: undefined, before: undefined, base: undefined })
    else present.set(seqId, neuron)
  }
  const removed = [...bases].flatMap(([seqId, base]): SubmittedNeuron[] => {
    const before = present.has(seqId) ? undefined : findNeuron(view.sql, seqId)
    return before === undefined ? [] : [{ seqId, before, path: base.path, blob: undefined, text: null, base }]
  })
  return [...present.values(), ...added, ...removed].sort((a, b) => compareText(a.path, b.path))
}

async function readPage({ sql, readText }: PushView, { path, before, after }: TreeChange): Promise<Page> {
  const read = async (blob: Oid): Promise<Side> => {
    const text = await readText(blob)
    return { blob, text, seqId: parseNeuronFile(text).fields.seqId }
  }
  const was = before === undefined ? undefined : await read(before)
  const became = (side: Side) => (takenPage(sql, { path, ...side }) ?? namedBy(sql, side.text))?.approval?.seqId
  return {
    path,
    before: was && { ...was, seqId: was.seqId ?? became(was) },
    after: after === undefined ? undefined : await read(after),
  }
}

/** Returns the candidate by which main accepted a page exactly as it was pushed. */
function takenPage(sql: PushView['sql'], page: { path: string; blob: Oid }): CandidateRow | undefined {
  return approvedOfFingerprint(sql, connectorOf({ door: 'main' }), gitFingerprint(page))
}

/** Returns the candidate that a page names, as in a page merged from the candidate's head. */
function namedBy(sql: PushView['sql'], text: string): CandidateRow | undefined {
  const { candidate } = parseNeuronFile(text).fields
  return candidate === undefined ? undefined : findCandidate(sql, candidate)
}

/** Returns the seqIds of moved pages that have none in their front matter, by new path. */
function movedPages(pages: readonly Page[]): Map<string, string> {
  const gone = pages.filter(
    ({ before, after }) => after === undefined && before?.seqId !== undefined && !hasSeqId(before.text),
  )
  const added = pages.filter(
    ({ before, after }) => before === undefined && after !== undefined && after.seqId === undefined,
  )
  const moved = new Map<string, string>()
  const claimed = new Set<string>()
  const claim = (path: string, seqId: string) => {
    if (moved.has(path) || claimed.has(seqId)) return
    moved.set(path, seqId)
    claimed.add(seqId)
  }
  for (const { path, after } of added) {
    const same = gone.find(({ before }) => before?.blob === after?.blob && !claimed.has(before?.seqId ?? ''))
    if (same?.before?.seqId !== undefined) claim(path, same.before.seqId)
  }
  const texts = added.map(({ path, after }) => ({ name: path, text: after?.text ?? '' }))
  const others = gone.map(({ before }) => ({ name: before?.seqId ?? '', text: before?.text ?? '' }))
  const alike = findResembling(texts, others, leastResemblance)
  for (const [at, { name: path }] of texts.entries()) for (const { name: seqId } of alike[at] ?? []) claim(path, seqId)
  return moved
}

function hasSeqId(text: string): boolean {
  return parseNeuronFile(text).fields.seqId !== undefined
}

/**
 * Returns the Neuron that an added page has become on main: by the same content, by the candidate that it names, or by an earlier push of
 * this pusher.
 */
async function earlierPage(
  view: PushView,
  { path, blob, text }: { path: string; blob: Oid; text: string },
  origin: Origin,
): Promise<(Pick<SubmittedNeuron, 'base'> & { seqId: string }) | undefined> {
  const same = takenPage(view.sql, { path, blob })
  if (same?.approval !== undefined && (await view.isSince(same.approval.commit))) {
    return { seqId: same.approval.seqId, base: { path, text } }
  }
  for (const row of [namedBy(view.sql, text), ...ownPages(view.sql, path, origin)]) {
    if (row?.approval === undefined || row.target !== null || !(await view.isSince(row.approval.commit))) continue
    const { seqId } = row.approval
    const [latest = row] = pagesOfOrigin(view.sql, { seqId, path }, origin)
    return { seqId, base: { path, text: await earlierText(view, latest, text) } }
  }
  return undefined
}

/** Returns earlier versions that this pusher had at a path, before they had a seqId. */
function ownPages(sql: PushView['sql'], path: string, origin: Origin): CandidateRow[] {
  return (['main', 'for'] as const).flatMap((door) =>
    pagesOfOrigin(sql, { seqId: undefined, path }, { ...origin, door }).slice(0, 1),
  )
}

function pagesOfOrigin(
  sql: PushView['sql'],
  neuron: Pick<PushedNeuron, 'seqId' | 'path'>,
  origin: Origin,
): CandidateRow[] {
  return candidatesOfOrigin(sql, connectorOf(origin), gitOriginOf(neuron, origin)).filter(
    ({ approval }) => approval !== undefined,
  )
}

/**
 * Returns the page of a candidate as its author wrote it: without keys that the approval added, unless `text`, the next version, has them.
 */
async function earlierText(view: PushView, { blob }: CandidateRow, text: string): Promise<string> {
  const record = parseCandidate(await view.readText(blob))
  const { frontMatter, content } = record
  const page = frontMatter === null ? (await proposalOf(view, record)).text : editNeuron(frontMatter, {}, content)
  const { candidate, title } = parseNeuronFile(text).fields
  return editNeuron(page ?? '', { candidate, ...(title === undefined ? { title } : {}) })
}
