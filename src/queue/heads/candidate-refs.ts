import { setTimeout as delay } from 'node:timers/promises'
import type { GitObject, Oid } from '../../git/objects/object.ts'
import { clearBrokenRefs, moveDerivedRefs } from '../../git/refs/derived-refs.ts'
import { listRefs } from '../../git/refs/refs.ts'
import { type Context, onePer } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { firstPending, pendingRecord } from '../../kb/projection/candidate-index.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { askedHeads, candidateRefs, headOfRef, idsOfHead, refOfHead } from '../../kb/refs/candidate-head-names.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { pauses } from '../../system/pauses.ts'
import { candidateChange, type StagedHead, stackChanges, stageHead } from './candidate-change.ts'

/** Number of candidates with a permanent head, and maximum number of heads that are kept after a request. */
const standing = 200
const maxAsked = 100
/** Milliseconds between runs of the background work, and its maximum share of the time. */
const restMs = 1_000
const workingShare = 1 / 20
/** Maximum bytes of objects that are staged before they are written. */
const maxStagedBytes = 32 * 1024 * 1024

type Sql = Projection['read']
/** Last built head: its inputs and its commit; undefined if it proposes nothing. */
type Made = { main: Oid; records: string | undefined; head: Oid | undefined; blobs: ReadonlySet<Oid> }

export const candidateHeads = onePer((kb: KnowledgeBase, { onError }: Context) => new CandidateRefs(kb, { onError }))

/**
 * Heads of an open knowledge base's pending candidates: refs to main plus one commit that proposes the candidate. They are derived, and can
 * be deleted at any time. The first candidates of the queue have one; others get one on request.
 */
class CandidateRefs {
  readonly #kb: KnowledgeBase
  readonly #onError: (error: unknown) => void
  readonly #closing = new AbortController()
  readonly #made = new Map<string, Made>()
  /** Requested heads, least recently requested first. */
  readonly #asked = new Set<string>()
  #isRepaired = false
  #last: Promise<unknown> = Promise.resolve()
  #isDue = false
  #background: Promise<void> | undefined

  constructor(kb: KnowledgeBase, { onError }: { onError: (error: unknown) => void }) {
    this.#kb = kb
    this.#onError = onError
  }

  /** Brings all heads up to the present projection. */
  readonly follow = coalesce(() => this.#alone(() => this.#update(undefined)))

  /** Schedules {@link follow} in the background, which may take only a small part of the time. */
  followSoon(): void {
    this.#isDue = true
    this.#background ??= this.#followWhileDue()
  }

  async #followWhileDue(): Promise<void> {
    const { signal } = this.#closing
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false
      const begin = performance.now()
      await this.follow().catch(this.#onError)
      const rest = Math.max(restMs, (performance.now() - begin) / workingShare)
      await delay(rest, undefined, { signal }).catch(() => {})
    }
    this.#background = undefined
  }

  /**
   * Prepares the heads that a fetch requests by ref prefixes (none: all of them). A head that cannot be built is absent, and does not fail
   * the others.
   */
  async prepare(prefixes: readonly string[]): Promise<void> {
    const { names, others } = askedHeads(prefixes)
    if (names.length === 0 && !others) return
    try {
      await this.#kb.sync()
      const asked: string[] = []
      for (const name of names) if (this.#note(name) || (await this.#isThere(name))) asked.push(name)
      if (asked.length > 0) await this.#alone(() => this.#update(asked))
      if (others) await this.follow()
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Returns the present head of a pending candidate, as {@link prepare} would build it. @throws {GitError} if it cannot be written */
  async headOf(candidateId: string): Promise<Oid | undefined> {
    if (!this.#note(candidateId)) return undefined
    const { read: sql } = this.#kb.projection
    if (!this.#isMade(sql, candidateId)) await this.#alone(() => this.#update([candidateId]))
    return this.#made.get(candidateId)?.head
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#background
    await this.#last
  }

  /** True if a head's ref exists, perhaps of a decided candidate. */
  async #isThere(name: string): Promise<boolean> {
    return (await this.#kb.repository.readRef(refOfHead(name))) !== undefined
  }

  /** Records a request for a head, unless there can be none. */
  #note(name: string): boolean {
    if (recordsOf(this.#kb.projection.read, name) === undefined) return false
    this.#asked.delete(name)
    this.#asked.add(name)
    for (const oldest of this.#asked) {
      if (this.#asked.size <= maxAsked) break
      this.#asked.delete(oldest)
    }
    return true
  }

  #isMade(sql: Sql, name: string): boolean {
    const made = this.#made.get(name)
    const { main } = this.#kb.projection.heads(sql)
    return made !== undefined && made.main === main && made.records === recordsOf(sql, name)?.join(' ')
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /** Updates heads. @param only names of the heads to update; absent: all */
  async #update(only: readonly string[] | undefined): Promise<void> {
    if (this.#closing.signal.aborted) return
    const present = this.#isRepaired ? await this.#list() : await this.#repair()
    await this.#kb.projection.withSnapshot(async (sql) => {
      const wanted = new Set(only ?? [...firstPending(sql, standing), ...this.#asked])
      const unwanted = only === undefined ? [...present.keys()].filter((ref) => !wanted.has(headOfRef(ref) ?? '')) : []
      await this.#move(new Map(unwanted.map((ref) => [ref, undefined])))
      if (only === undefined) for (const name of this.#made.keys()) if (!wanted.has(name)) this.#made.delete(name)
      await this.#make(sql, wanted, present)
    })
  }

  #list(): Promise<Map<string, Oid | undefined>> {
    return listRefs(this.#kb.repository.gitDir, candidateRefs)
  }

  /**
   * Repairs refs after a crash: broken refs are removed, and those whose commit is lost are rebuilt. Any of the others may have been
   * requested.
   */
  async #repair(): Promise<Map<string, Oid | undefined>> {
    await clearBrokenRefs(this.#kb.repository.gitDir, candidateRefs)
    const present = await this.#list()
    for (const [ref, oid] of present) {
      if (oid === undefined || (await this.#kb.repository.find(oid)) === undefined) present.set(ref, undefined)
    }
    const first = new Set(firstPending(this.#kb.projection.read, standing))
    const found = [...present.keys()].flatMap((ref) => headOfRef(ref) ?? []).filter((name) => !first.has(name))
    for (const name of [...found, ...this.#asked]) this.#note(name)
    this.#isRepaired = true
    return present
  }

  async #make(sql: Sql, names: Iterable<string>, present: ReadonlyMap<string, Oid | undefined>): Promise<void> {
    const { main } = this.#kb.projection.heads(sql)
    if (main === undefined) return
    const pause = pauses()
    const batch = new Batch()
    for (const name of names) {
      if (this.#closing.signal.aborted) return
      await pause()
      const ref = refOfHead(name)
      const [held, before] = [present.get(ref), this.#made.get(name)]
      if (this.#isMade(sql, name) && before?.head === held) continue
      const records = recordsOf(sql, name)
      if (records === undefined) this.#asked.delete(name)
      const staged = records === undefined ? undefined : await this.#stage(sql, main, records)
      const made = { main, records: records?.join(' '), head: staged?.oid, blobs: blobsOf(staged) }
      if (held === made.head && (held !== undefined || !present.has(ref))) this.#made.set(name, made)
      // Objects reachable from the present ref exist until it moves.
      else batch.add(name, made, staged, before?.head === held ? before?.blobs : undefined)
      if (batch.bytes > maxStagedBytes) await this.#write(batch)
    }
    await this.#write(batch)
  }

  async #stage(sql: Sql, main: Oid, records: readonly Oid[]): Promise<StagedHead | undefined> {
    const { repository, parser } = this.#kb
    const view = { sql, readText: (oid: Oid) => repository.readText(oid), parser }
    const changes = []
    for (const record of records) {
      const change = await candidateChange(view, main, parseCandidate(await repository.readTextOnce(record)))
      if (change === undefined) return undefined
      changes.push(change)
    }
    const [first, ...others] = changes.length > 1 ? ((await stackChanges(view, changes)) ?? []) : changes
    return first && stageHead(repository, [first, ...others])
  }

  async #write(batch: Batch): Promise<void> {
    const { repository } = this.#kb
    const { objects, made } = batch.take()
    if (made.size === 0) return
    const release = await repository.writeObjects(await withBases(objects, (oid) => repository.read(oid)))
    try {
      await this.#move(new Map([...made].map(([name, { head }]) => [refOfHead(name), head])))
    } finally {
      await release()
    }
    for (const [name, head] of made) this.#made.set(name, head)
  }

  #move(refs: ReadonlyMap<string, Oid | undefined>): Promise<void> {
    return moveDerivedRefs(this.#kb.repository.gitDir, candidateRefs, refs)
  }
}

class Batch {
  bytes = 0
  #objects = new Map<Oid, GitObject>()
  #made = new Map<string, Made>()

  /** Adds a built head. @param known objects that exist already */
  add(name: string, made: Made, staged: StagedHead | undefined, known: ReadonlySet<Oid> = new Set()): void {
    this.#made.set(name, made)
    for (const [oid, object] of staged?.objects ?? []) {
      if (known.has(oid) || this.#objects.has(oid)) continue
      this.#objects.set(oid, object)
      this.bytes += object.data.length
    }
  }

  take(): { objects: ReadonlyMap<Oid, GitObject>; made: ReadonlyMap<string, Made> } {
    const taken = { objects: this.#objects, made: this.#made }
    this.#objects = new Map()
    this.#made = new Map()
    this.bytes = 0
    return taken
  }
}

function blobsOf(staged: StagedHead | undefined): Set<Oid> {
  const blobs = [...(staged?.objects ?? [])].filter(([, { type }]) => type === 'blob')
  return new Set(blobs.map(([oid]) => oid))
}

/** Returns objects, each after a similar one that its delta can be based on. Main's large trees are stored once, not per head. */
async function withBases(
  objects: ReadonlyMap<Oid, GitObject>,
  read: (oid: Oid) => Promise<GitObject>,
): Promise<Map<Oid, GitObject>> {
  const ordered = new Map<Oid, GitObject>()
  for (const { from } of objects.values()) {
    if (from !== undefined && !objects.has(from.base)) ordered.set(from.base, await read(from.base))
  }
  return new Map([...ordered, ...objects])
}

/** Returns the blobs of the records of a head's candidates, if all are pending. */
function recordsOf(sql: Sql, name: string): Oid[] | undefined {
  const records = idsOfHead(name).map((id) => pendingRecord(sql, id))
  return records.every((record) => record !== undefined) ? records : undefined
}
