import { accessIn, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { type Access, type Audience, effectiveAudience, maySee } from '../../rules/access/audience.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import { type Source, tagsOf } from '../../state/sources/source.ts'
import { memoized } from '../../system/memoized.ts'
import type { Context } from '../context.ts'
import { accessOf } from '../projection/neuron-queries.ts'
import type { MainTables, Projection } from '../projection/projection.ts'
import { lastBlob } from '../projection/version-queries.ts'
import type { ReadableKb } from '../readable-kb.ts'
import { type AttachmentLookup, attachmentLookup } from './attachment-lookup.ts'

/** Knowledge base without its tables, which are only read through a view. */
export type ViewedKb = Omit<ReadableKb, 'projection'> & { projection: Pick<Projection, 'revision'> }

type Query<Result> = (sql: MainTables, seqId: string) => Result

/**
 * Knowledge base as one audience sees it: hidden Neurons are absent. All reads on behalf of a caller go through a view, so that no reader
 * of the tables can forget the caller.
 */
export class KbView {
  readonly kb: ViewedKb
  readonly audience: Audience
  readonly #sql: MainTables
  readonly #defaultAudience: readonly string[]
  readonly #uploader: string | undefined
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

  /** True if the audience sees a Neuron, or a version of one, with these fields. */
  sees(neuron: Access): boolean {
    return maySee(this.audience, neuron, this.#defaultAudience)
  }

  /** True if main has this Neuron and the audience sees it. Cached. */
  readonly seesNeuron = memoized((seqId: string): boolean => {
    const access = accessOf(this.#sql, seqId)
    return access !== undefined && this.sees(access)
  })

  /** True if the audience sees the versions of a Neuron: its present audience decides, or for a deleted Neuron that of its last version. */
  async seesHistory(seqId: string): Promise<boolean> {
    const access = accessOf(this.#sql, seqId) ?? (await this.#lastAccess(seqId))
    return access !== undefined && this.sees(access)
  }

  /** True if the audience sees a Source, by the rules for a Neuron without an audience. A key also sees its own uploads. */
  seesSource(source: Pick<Source, 'tags' | 'uploader'>): boolean {
    return source.uploader.id === this.#uploader || this.sees({ tags: tagsOf(source) })
  }

  /** Yields the rows of a query whose Neuron is visible. */
  *rows<Row extends { seqId: string }>(query: (sql: MainTables) => Iterable<Row>): Generator<Row, void> {
    for (const row of query(this.#sql)) if (this.#seesRow(row)) yield row
  }

  /** Runs a query about a visible Neuron; undefined for a hidden one. */
  about<Result>(seqId: string, query: Query<Result>): Result | undefined {
    return this.seesNeuron(seqId) ? query(this.#sql, seqId) : undefined
  }

  /** Runs a query about a Neuron's past, if {@link seesHistory} allows it; undefined otherwise. */
  async aboutHistory<Result>(seqId: string, query: Query<Result>): Promise<Result | undefined> {
    return (await this.seesHistory(seqId)) ? query(this.#sql, seqId) : undefined
  }

  /** Look-up of the files that links on pages lead to. */
  get files(): AttachmentLookup {
    this.#files ??= attachmentLookup(this.#sql, this.audience === 'curator' ? undefined : this.seesNeuron)
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
  /** Caller whose own Sources are visible. */
  uploader?: string
  /** Tables at one commit; by default the present ones. */
  sql?: MainTables
}

export async function openView(ctx: Context, caller: Caller, kbName: string): Promise<KbView> {
  return viewFor(caller, await ctx.readableKb(caller.tenantId, kbName))
}

/** Runs work on a view of a single commit for a caller, or for a curator if there is none, while main may move on. */
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

/** Returns the view of an audience. */
export async function viewAs(kb: ReadableKb, options: ViewOptions): Promise<KbView> {
  const { defaultAudience } = await kb.settings()
  return new KbView(kb, { ...options, defaultAudience })
}

/** Returns whether a Source is visible to a caller. */
export type SourceSight = (source: Pick<Source, 'tags' | 'uploader' | 'fileType' | 'extractedAt'>) => boolean

/** File types whose text may begin with front matter. */
const mayOpenHidden: ReadonlySet<string> = new Set(['md', 'txt', 'html', 'htm'])

/**
 * Returns which Sources of a knowledge base are visible to a caller. A Source whose own text may hide it is visible only after it has been
 * extracted. Its earlier events are shown, since they do not name it. A curator sees all, so the repository is not opened for one. @throws
 * {GanglionError} `not_found`, `unavailable`
 */
export async function sourceSight(ctx: Context, caller: Caller, kbId: string): Promise<SourceSight> {
  if (caller.role === 'curator') return () => true
  const view = await viewFor(caller, await ctx.kb(caller.tenantId, kbId))
  const { id } = actorOf(caller)
  return (source) => {
    const isRead = source.extractedAt !== null || !mayOpenHidden.has(source.fileType)
    return (isRead || source.uploader.id === id) && view.seesSource(source)
  }
}
