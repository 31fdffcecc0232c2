import { randomUUID } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { GanglionError } from '../contract/errors.ts'
import { readRef } from '../git/refs/refs.ts'
import { Repository } from '../git/repository.ts'
import { parseKbFile } from '../markdown/file/kb-file.ts'
import { candidateBelongsTo, isUuid } from '../rules/candidates/candidate-id.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { type Context, onePer } from './context.ts'
import type { KbIdentity } from './kb-identity.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { openAtOnce } from './open/open-kbs.ts'
import { readProjectionAt } from './projection/overview-queries.ts'
import { type AllTables, type ProjectionHeads, projectionFile } from './projection/projection.ts'
import type { KbLabel } from './readable-kb.ts'
import { mainRef, queueRef } from './refs/kb-refs.ts'

/** Opens the knowledge base that a candidate's id names. @throws {GanglionError} `not_found` */
export async function kbOfCandidate(
  { kb, kbs, knowledgeBases }: Pick<Context, 'kb' | 'kbs' | 'knowledgeBases'>,
  tenantId: string,
  candidateId: string,
): Promise<KnowledgeBase> {
  if (!isUuid(candidateId)) throw new GanglionError('not_found')
  const isItsKb = (kb: KbIdentity) => kb.tenantId === tenantId && candidateBelongsTo(candidateId, kb.id)
  const identity = kbs.identities().find(isItsKb) ?? (await knowledgeBases.list(tenantId)).find(isItsKb)
  if (identity === undefined) throw new GanglionError('not_found')
  return kb(tenantId, identity.id)
}

/** Updates the repository in the data directory if it is a copy, for readers that do not open the knowledge base. */
export async function bringUp(
  { cluster, directory }: Pick<Context, 'cluster' | 'directory'>,
  { id }: Pick<KbIdentity, 'id'>,
): Promise<void> {
  const gitDir = directory.repository(id)
  if (cluster === undefined || !(await cluster.prepare(id, gitDir))) return
  const repository = new Repository(gitDir)
  await cluster
    .refsOf(id, repository)
    .readHeads()
    .finally(() => repository.close())
}

/** Returns the heads of a knowledge base without opening it. */
export async function headsOf(
  ctx: Pick<Context, 'cluster' | 'directory'>,
  identity: KbIdentity,
): Promise<ProjectionHeads> {
  await bringUp(ctx, identity)
  const gitDir = ctx.directory.repository(identity.id)
  return { main: await readRef(gitDir, mainRef), queue: await readRef(gitDir, queueRef) }
}

/** Reads the tables of a knowledge base at its present refs. Opens it only if they are behind, since a tenant may have many. */
export async function readTables<Result>(
  ctx: Pick<Context, 'cluster' | 'directory' | 'kbs'>,
  identity: KbIdentity,
  read: (sql: AllTables) => Result,
): Promise<Result> {
  const { id } = identity
  if (!ctx.kbs.has(id)) {
    const file = join(ctx.directory.index(id), projectionFile)
    const result = readProjectionAt(file, await headsOf(ctx, identity), (sql) => ({ value: read(sql) }))
    if (result !== undefined) return result.value
  }
  return inUse(async () => read((await ctx.kbs.open(identity)).projection.read))
}

/**
 * Opens as many knowledge bases of a tenant as stay open: changes made around the server are noticed at once only in an open one. One that
 * cannot be opened reports it to its next caller.
 */
export async function openSome(
  { kbs, knowledgeBases }: Pick<Context, 'kbs' | 'knowledgeBases'>,
  tenantId: string,
): Promise<void> {
  const identities = (await knowledgeBases.list(tenantId)).slice(0, openAtOnce)
  await Promise.allSettled(identities.map((identity) => inUse(() => kbs.open(identity))))
}

/** Moves a repository's copy and its index away, unless the knowledge base is open. @returns the paths to remove */
export function setAside({ kbs, directory }: Pick<Context, 'kbs' | 'directory'>, id: string): string[] {
  if (kbs.has(id)) return []
  // Synchronous, so that nobody opens it meanwhile. The next start removes what a crash leaves behind.
  const paths = [directory.repository(id), directory.index(id)].filter((path) => existsSync(path))
  return paths.map((path) => {
    const aside = join(directory.incoming, `evicted-${randomUUID()}`)
    renameSync(path, aside)
    return aside
  })
}

const knownSettings = onePer((_: SettingsContext) => new Map<string, { main: string; settings: KbSettings }>())

type SettingsContext = Pick<Context, 'cluster' | 'directory'>

/** Returns the label of a knowledge base in lists. An unreadable one has its slug, so that the list does not fail. */
export async function labelOnMain(
  ctx: SettingsContext,
  identity: KbIdentity,
): Promise<KbLabel & Pick<KbSettings, 'language'>> {
  const { title, language } = (await mainSettings(ctx, identity).catch(() => undefined)) ?? {}
  return { slug: identity.slug, title: title ?? identity.slug, language: language ?? 'en' }
}

/** Reads the settings of a knowledge base without opening it. Cached until main moves. */
export async function mainSettings(ctx: SettingsContext, identity: KbIdentity): Promise<KbSettings | undefined> {
  const [{ id }, known] = [identity, knownSettings(ctx)]
  await bringUp(ctx, identity)
  using repository = new Repository(ctx.directory.repository(id))
  const main = await repository.readRef(mainRef)
  if (main === undefined || known.get(id)?.main === main) return known.get(id)?.settings
  const blob = await repository.blobAt(main, 'kb.yaml')
  const { settings } = parseKbFile(blob === undefined ? '' : await repository.readText(blob))
  known.set(id, { main, settings })
  return settings
}
