import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { type Access, type Audience, effectiveAudience, maySee } from '../../rules/access/audience.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import { type Source, tagsOf } from '../../state/sources/source.ts'
import type { Context } from '../context.ts'
import { accessOf } from '../projection/neuron-queries.ts'
import type { MainTables, Projection } from '../projection/projection.ts'
import { lastBlob } from '../projection/version-queries.ts'
import type { ReadableKb } from '../readable-kb.ts'
import { type AttachmentLookup, attachmentLookup } from './attachment-lookup.ts'
import { accessIn } from './neuron-access.ts'

/** A knowledge base without its tables, which only a view asks. */
export type ViewedKb = Omit<ReadableKb, 'projection'> & { projection: Pick<Projection, 'revision'> }

type Query<Result> = (sql: MainTables, seqId: string) => Result

/**
 * A knowledge base as one audience sees it: a Neuron that it may not see is not there. All that is read for a caller is read through
 * a view, so that no reader of the tables can forget who asks.
 */
export class KbView {
  readonly kb: ViewedKb
  readonly audience: Audience
  readonly #sql: MainTables
  readonly #defaultAudience: readonly string[]
  readonly #uploader: string | undefined
  readonly #known = new Map<string, boolean>()
  #files: AttachmentLookup | undefined

  constructor(
    kb: ReadableKb,
    {
      audience,
      defaultAudience,
      uploader,
      sql = kb.projection.read,
    }: ViewOptions & { defaultAudience: readonly string[] },
  ) {
    this.kb = kb
    this.audience = audience
    this.#sql = sql
    this.#defaultAudience = defaultAudience
    this.#uploader = uploader
  }

  /** Whether a Neuron, or a version of one, that says this is seen. */
  sees(neuron: Access): boolean {
    return maySee(this.audience, neuron, this.#defaultAudience)
  }

  /** Whether main has this Neuron and it is seen. The tables are asked once. */
  seesNeuron(seqId: string): boolean {
    let isSeen = this.#known.get(seqId)
    if (isSeen === undefined) {
      const access = accessOf(this.#sql, seqId)
      isSeen = access !== undefined && this.sees(access)
      this.#known.set(seqId, isSeen)
    }
    return isSeen
  }

  /** Whether the versions of a Neuron are seen: its audience of today decides, or that of the last version of a deleted one. */
  async seesHistory(seqId: string): Promise<boolean> {
    const access = accessOf(this.#sql, seqId) ?? (await this.#lastAccess(seqId))
    return access !== undefined && this.sees(access)
  }

  /** A Source is seen like a Neuron that lists no audience. A key also sees the Sources that it uploaded. */
  seesSource(source: Pick<Source, 'tags' | 'uploader'>): boolean {
    return source.uploader.id === this.#uploader || this.sees({ tags: tagsOf(source) })
  }

  /** Those rows of a query whose Neuron is seen, read as they go. */
  *rows<Row extends { seqId: string }>(query: (sql: MainTables) => Iterable<Row>): Generator<Row, void> {
    for (const row of query(this.#sql)) if (this.#seesRow(row)) yield row
  }

  /** What the tables say of a Neuron that is seen; undefined of another. */
  about<Result>(seqId: string, query: Query<Result>): Result | undefined {
    return this.seesNeuron(seqId) ? query(this.#sql, seqId) : undefined
  }

  /** What the tables say of a Neuron's past, as {@link seesHistory} allows; undefined of another. */
  async aboutHistory<Result>(seqId: string, query: Query<Result>): Promise<Result | undefined> {
    return (await this.seesHistory(seqId)) ? query(this.#sql, seqId) : undefined
  }

  /** The files that links of pages lead to. */
  get files(): AttachmentLookup {
    const sees = (seqId: string) => this.seesNeuron(seqId)
    this.#files ??= attachmentLookup(this.#sql, this.audience === 'curator' ? undefined : sees)
    return this.#files
  }

  #seesRow(row: { seqId: string } & Partial<Access>): boolean {
    if (this.audience === 'curator') return true
    const { tags, audience } = row
    return tags !== undefined && 'audience' in row ? this.sees({ tags, audience }) : this.seesNeuron(row.seqId)
  }

  async #lastAccess(seqId: string): Promise<Access | undefined> {
    const blob = lastBlob(this.#sql, seqId)
    if (blob === undefined) return undefined
    return accessIn(parseNeuronFile(await this.kb.repository.readTextOnce(blob)), await this.kb.settings())
  }
}

type ViewOptions = {
  audience: Audience
  /** Whose own Sources are seen. */
  uploader?: string
  /** The tables at one commit; else those of now. */
  sql?: MainTables
}

export async function openView(ctx: Context, caller: Caller, kbName: string): Promise<KbView> {
  return viewFor(caller, await ctx.readableKb(caller.tenantId, kbName))
}

/** Does something with what a caller sees, or a curator where nobody calls, while main may move on. */
export function atOneCommit<Result>(
  kb: ReadableKb,
  caller: Caller | undefined,
  work: (view: KbView) => Promise<Result>,
): Promise<Result> {
  return kb.projection.withSnapshot(async (sql) =>
    work(await (caller === undefined ? viewAs(kb, { audience: 'curator', sql }) : viewFor(caller, kb, sql))),
  )
}

export function viewFor(
  caller: Pick<Caller, 'role' | 'audience' | 'id' | 'name'>,
  kb: ReadableKb,
  sql?: MainTables,
): Promise<KbView> {
  return viewAs(kb, { audience: effectiveAudience(caller), uploader: actorOf(caller).id, ...(sql && { sql }) })
}

/** What somebody sees who is served as an audience. */
export async function viewAs(kb: ReadableKb, options: ViewOptions): Promise<KbView> {
  const { defaultAudience } = await kb.settings()
  return new KbView(kb, { ...options, defaultAudience })
}
