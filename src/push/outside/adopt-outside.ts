import type { Oid } from '../../git/objects/object.ts'
import { PushTooLarge } from '../../git/pushed-objects.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { blobAtPath, seqIdAtPath } from '../../kb/projection/file-queries.ts'
import { commitAt, mainCommitsBetween, positionOf } from '../../kb/projection/main-changes.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import {
  type UnapprovedRow,
  type UnrecordedRow,
  unapproved,
  unrecorded,
  versionBefore,
  wasGiven,
} from '../../kb/projection/version-queries.ts'
import { isByServer } from '../../kb/refs/commit-message.ts'
import { commitToMain, commitToQueue } from '../../kb/writing/commits.ts'
import { type LostHistory, readLostHistory } from '../../kb/writing/lost-history.ts'
import { approvalTrailers, subjectOf } from '../../kb/writing/push-main.ts'
import {
  gitCandidate,
  madeAgain,
  type PushedNeuron,
  PushRefused,
  pageParts,
  withoutCopiedOrigin,
} from '../../kb/writing/pushed-neurons.ts'
import { takeNeurons, takePictures } from '../../kb/writing/take-neurons.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { settingsFinding } from '../../rules/check/check-kb.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { checkPushedObjects } from '../checks/check-objects.ts'
import { checkTip, settingsProblems } from '../checks/check-tip.ts'

/** Maximum records in one commit of the queue. */
const chunkRecords = 250

/** Maximum Neurons in one commit, during which main is locked. */
const chunkNeurons = 250
const outside: Actor = { id: 'git', name: 'Git, around the server' }

/**
 * Adopts commits that reached main without the server, by path or ssh. Follow-up commits add what the server would have added:
 * seqIds, document ids, and a candidate for every changed, new or deleted Neuron. A Neuron that breaks a rule is left as it is,
 * and reported once.
 */
export class OutsideAdoption {
  readonly #kb: KnowledgeBase
  readonly #now: () => Date
  readonly #refused = new Set<string>()
  #seen: Oid | undefined
  /** Position on main up to which records exist, or cannot be made. */
  #recorded = 0

  /** Creates the adopter. @param seen head of main up to which everything was checked */
  constructor(kb: KnowledgeBase, seen: Oid | undefined, { now }: { now: () => Date }) {
    this.#kb = kb
    this.#seen = seen
    this.#now = now
  }

  async adopt(): Promise<Finding[]> {
    const problems = await this.#objectProblems()
    await this.#recordLost()
    for (;;) {
      const rows = this.#waiting(this.#kb.projection.read)
      if (rows.length === 0) return problems
      const errors = await this.#errorsIn(rows)
      const wrong = new Set(errors.map(({ path }) => path))
      for (const row of rows) if (wrong.has(row.path)) this.#refused.add(keyOf(row))
      problems.push(...errors)
      const sound = new Set(rows.filter(({ path }) => !wrong.has(path)).map(keyOf))
      problems.push(...(await this.#takeAll(rows.filter((row) => sound.has(keyOf(row))))))
      for (const row of this.#waiting(this.#kb.projection.read))
        if (sound.has(keyOf(row))) this.#refused.add(keyOf(row))
    }
  }

  /** Recreates lost records, at first for all of main, since the server may have stopped before it had made them. */
  async #recordLost(): Promise<void> {
    const { read: sql } = this.#kb.projection
    const { main } = this.#kb.projection.heads(sql)
    const position = main === undefined ? undefined : positionOf(sql, main)
    if (position === undefined || position <= this.#recorded) return
    await recordLost(this.#kb, this.#recorded, outside, this.#now)
    this.#recorded = position
  }

  /** Returns the next Neurons that no candidate has brought. */
  #waiting(sql: Projection['read']): UnapprovedRow[] {
    const rows = unapproved(sql).filter((row) => !this.#refused.has(keyOf(row)))
    return rows.slice(0, chunkNeurons)
  }

  async #errorsIn(rows: readonly UnapprovedRow[]): Promise<Finding[]> {
    const changes = rows.flatMap(({ path, blob }) => (blob === undefined ? [] : [{ path, before: blob, after: blob }]))
    const { repository, projection } = this.#kb
    const findings = await checkTip(this.#kb, { repository, changes })
    return [...findings.filter(({ severity }) => severity === 'error'), ...identityProblems(projection.read, rows)]
  }

  /** Returns findings about commits that reached main since the last check. */
  async #objectProblems(): Promise<Finding[]> {
    const { projection } = this.#kb
    const [from, to] = [this.#seen, projection.heads(projection.read).main]
    this.#seen = to
    return from === undefined || to === undefined || from === to ? [] : outsideObjectProblems(this.#kb, from, to)
  }

  /** Adopts Neurons one by one, so that a rejected page does not block others. @returns findings about rejected ones */
  async #takeAll(rows: readonly UnapprovedRow[]): Promise<Finding[]> {
    const [row] = rows
    if (row === undefined) return []
    try {
      await this.#take(new Set(rows.map(keyOf)))
      return []
    } catch (error) {
      if (!(error instanceof PushRefused)) throw error
      if (rows.length === 1)
        return [{ rule: 'not-adopted', severity: 'error', path: row.path, line: 1, message: error.message }]
      const half = Math.ceil(rows.length / 2)
      return [...(await this.#takeAll(rows.slice(0, half))), ...(await this.#takeAll(rows.slice(half)))]
    }
  }

  /** Adopts the Neurons that have not changed since they passed the checks. */
  #take(sound: ReadonlySet<string>): Promise<void> {
    const kb = this.#kb
    return kb.write(async (staging) => {
      const rows = this.#waiting(kb.projection.write).filter((row) => sound.has(keyOf(row)))
      if (rows.length === 0) return
      const outsiders = await Promise.all(rows.map((row) => this.#read(row)))
      const at = this.#now()
      const brought = await takePictures(
        kb,
        outsiders.map(({ neuron }) => neuron),
      )
      const landed = await takeNeurons(kb, staging, brought.pages, {
        ...{ at, actor: outside, origin: { door: 'main', by: outside.id } },
        reason: 'committed to main around the server',
        aliases: new Map(outsiders.map(({ neuron, aliases }) => [neuron.seqId ?? '', aliases])),
      })
      const { candidates, neurons, removals } = landed
      await commitToQueue(kb, staging, candidates, { by: outside, at })
      await commitToMain(kb, staging, {
        // A deleted page is gone already, and another file may have its path.
        files: new Map<string, string | Buffer | null>([
          ...brought.files,
          ...[...landed.files].filter(([, text]) => text !== null),
        ]),
        ...{ removals, decided: { operator: outside }, at },
        subject: subjectOf(neurons),
        trailers: [...approvalTrailers(neurons), ['Connector', 'git']],
      })
    })
  }

  /** Reads the Neuron with its previous version, and its previous title, which others may still link to. */
  async #read({ seqId, version, path, blob }: UnapprovedRow): Promise<{ neuron: PushedNeuron; aliases: string[] }> {
    const { projection, repository } = this.#kb
    const text = blob === undefined ? null : withoutCopiedOrigin(projection.read, await repository.readTextOnce(blob))
    const earlier = seqId === undefined ? undefined : versionBefore(projection.write, seqId, version)
    const was = earlier?.blob ?? blob
    if (seqId === undefined || was === undefined) {
      return { neuron: { seqId, before: undefined, path, blob, text }, aliases: [] }
    }
    const old = parseNeuronFile(await repository.readTextOnce(was))
    const title = neuronTitle(old, earlier?.path ?? path)
    const before = { documentId: old.fields.id ?? null, path, blob: was, title }
    const isRenamed = text !== null && neuronTitle(parseNeuronFile(text), path) !== title
    return { neuron: { seqId, before, path, blob, text }, aliases: isRenamed ? [title] : [] }
  }
}

function keyOf({ seqId, version, path, blob }: UnapprovedRow): string {
  return JSON.stringify([seqId, version, path, blob])
}

/**
 * Returns the problems of files, names and settings that came to main without the server between two heads; none if only the server wrote.
 */
async function outsideObjectProblems(kb: KnowledgeBase, from: Oid, to: Oid): Promise<Finding[]> {
  if (!(await hasOutsiders(kb, from, to))) return []
  const { repository } = kb
  try {
    const { findings } = await checkPushedObjects(repository, { from, to })
    const [before, after] = [await repository.blobAt(from, 'kb.yaml'), await repository.blobAt(to, 'kb.yaml')]
    const change = { path: 'kb.yaml', ...(after === undefined ? {} : { after }) }
    const settings = before === after ? [] : await settingsProblems(kb.identity, repository, [change])
    return [...findings, ...settings.map(settingsFinding)].filter(({ severity }) => severity === 'error')
  } catch (error) {
    if (!(error instanceof PushTooLarge)) throw error
    return [{ rule: 'push-size', severity: 'error', path: '', line: 1, message: error.message }]
  }
}

/** True also if main was rewritten, so that the commits in between are unknown. */
async function hasOutsiders({ projection, repository }: KnowledgeBase, from: Oid, to: Oid): Promise<boolean> {
  const [begin, end] = [positionOf(projection.read, from), positionOf(projection.read, to)]
  if (begin === undefined || end === undefined) return true
  for (const { commit } of mainCommitsBetween(projection.read, begin, end)) {
    if (!isByServer((await repository.read(commit)).data)) return true
  }
  return false
}

/**
 * Recreates queue records that a restore lost, for approvals that came back to main without the server: one for each version of a Neuron in
 * the server's own commits. Other references to missing candidates stay as they are.
 * @param after position on main up to which everything was checked
 * @throws {GitError}
 */
async function recordLost(kb: KnowledgeBase, after: number, by: Actor, now: () => Date): Promise<void> {
  const floor = kb.projection.seqFloor()
  if (floor === 0) return
  let lost: LostHistory | undefined
  for (let rows = unrecorded(kb.projection.read, after, chunkRecords); rows.length > 0; ) {
    lost ??= await historySince(kb, rows[0]?.position ?? 0)
    const proven = rows.filter((row) => isProven(row, floor, lost))
    if (proven.length > 0) await record(kb, proven, by, now())
    rows = unrecorded(kb.projection.read, rows.at(-1)?.position ?? 0, chunkRecords)
  }
}

/** Returns the ids that the server's own commits on main assigned, from a position on. */
async function historySince(kb: KnowledgeBase, position: number): Promise<LostHistory | undefined> {
  const from = commitAt(kb.projection.read, position - 1)
  const { main: to } = kb.projection.heads(kb.projection.read)
  return from === undefined || to === undefined ? undefined : readLostHistory(kb, { from, to }, kb)
}

function isProven({ candidateId, seqId, blob }: UnrecordedRow, floor: number, lost: LostHistory | undefined): boolean {
  if ((parseSeqId(seqId)?.number ?? Number.POSITIVE_INFINITY) > floor) return false
  return blob === undefined ? lost?.removals.get(seqId) === candidateId : lost?.pages.get(candidateId)?.seqId === seqId
}

function record(kb: KnowledgeBase, rows: readonly UnrecordedRow[], by: Actor, at: Date): Promise<void> {
  return kb.write(async (staging) => {
    const missing = rows.filter(({ candidateId }) => findCandidate(kb.projection.write, candidateId) === undefined)
    const candidates = await Promise.all(missing.map((row) => recordOf(kb, row, by, at)))
    await commitToQueue(kb, staging, candidates, { by, at })
  })
}

async function recordOf(kb: KnowledgeBase, row: UnrecordedRow, actor: Actor, at: Date): Promise<Candidate> {
  const { candidateId: id, path, blob } = row
  const readText = (oid: string) => kb.repository.readTextOnce(oid)
  const before = row.before === undefined ? undefined : await pageBefore(row.before, path, readText)
  const text = blob === undefined ? null : await readText(blob)
  const neuron = { seqId: before === undefined ? undefined : row.seqId, before, path, blob, text }
  const parts = await pageParts(neuron, readText)
  const origin = { door: 'main', by: actor.id } as const
  return gitCandidate(kb.identity.id, neuron, { id, parts, origin, reason: madeAgain, actor, at })
}

async function pageBefore(blob: string, path: string, readText: (oid: string) => Promise<string>) {
  const file = parseNeuronFile(await readText(blob))
  return { documentId: file.fields.id ?? null, path, blob, title: neuronTitle(file, path) }
}

type Sql = Projection['read']

/**
 * Returns the problems of seqIds in pages that came to main without a candidate: invented, removed, or changed in a page that kept its
 * path. A push with them is rejected; commits that came without the server can only be reported.
 */
export function identityProblems(sql: Sql, rows: readonly UnapprovedRow[] = unapproved(sql)): Finding[] {
  const gone = new Map<string, string>()
  for (const { seqId, path, blob } of unapproved(sql)) {
    if (seqId !== undefined && blob === undefined && wasGiven(sql, seqId)) gone.set(path, seqId)
  }
  const problems = new Map<string, Finding>()
  for (const row of rows) {
    const { path } = row
    const seqId = row.blob === undefined ? seqIdAtPath(sql, path) : row.seqId
    const problem = problemOf(sql, row, { seqId, was: gone.get(path) })
    if (problem !== undefined) problems.set(path, { severity: 'error', path, line: 1, ...problem })
  }
  return [...problems.values()]
}

function problemOf(
  sql: Sql,
  { path, blob }: UnapprovedRow,
  { seqId, was }: { seqId: string | undefined; was: string | undefined },
): Pick<Finding, 'rule' | 'message'> | undefined {
  const isThere = blob !== undefined || blobAtPath(sql, path) !== undefined
  if (!isThere || (seqId !== undefined && wasGiven(sql, seqId))) return undefined
  if (was !== undefined) {
    const [rule, verb] = seqId === undefined ? ['removed-seq-id', 'removed'] : ['changed-seq-id', 'changed']
    return { rule, message: `The seqId ${was} was ${verb}: a Neuron keeps its seqId for ever. Put it back.` }
  }
  if (seqId === undefined) return undefined
  const message = `The seqId ${seqId} was never given: take it out of the page, and the server gives one.`
  return { rule: 'unknown-seq-id', message }
}
