import { mkdirSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { type Acting, recordAct } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { setAside } from '../kb/kb-access.ts'
import { Slug } from '../rules/neurons/seq-id.ts'
import { sourceTexts } from '../sources/ingest/source-texts.ts'
import { inTransaction } from '../state/database/transaction.ts'
import type { KbRecord } from '../state/kb-store.ts'
import { type LifecycleFields, type LifecycleStore, SlugTaken } from '../state/lifecycle.ts'
import { removeKbRows, removeTenantRows } from '../state/removal.ts'
import type { Tenant } from '../state/tenants.ts'
import { inUse } from '../system/concurrency/present-work.ts'
import { backup } from './backup/backup.ts'
import { packageVersion } from './package-version.ts'

const all = { disabled: true }

export type LifecycleChange = { slug?: string | undefined; isDisabled?: boolean | undefined }
/** Knowledge base of the tenant. Absent: the tenant with everything in it. */
type Subject = { tenant: Pick<Tenant, 'id'>; kb?: KbRecord }

/** Renames, disables or enables a knowledge base. @throws {GanglionError} `already_exists` @throws {ValidationError} */
export function changeKb(ctx: Context, by: Acting, kb: KbRecord, change: LifecycleChange): Promise<void> {
  return changeLifecycle(ctx, by, { kind: 'kb', store: ctx.knowledgeBases, subject: kb }, change)
}

/** Renames, disables or enables a tenant. @throws {GanglionError} `already_exists` @throws {ValidationError} */
export function changeTenant(ctx: Context, by: Acting, tenant: Tenant, change: LifecycleChange): Promise<void> {
  return changeLifecycle(ctx, by, { kind: 'tenant', store: ctx.tenants, subject: tenant }, change)
}

/** Returns a knowledge base of a tenant, whether it is served or not. @throws {GanglionError} `not_found` */
export async function findAnyKb(ctx: Context, tenantId: string, name: string): Promise<KbRecord> {
  const kb = await ctx.knowledgeBases.find(tenantId, name, all)
  if (kb === undefined) throw new GanglionError('not_found')
  return kb
}

/**
 * Exports a disabled knowledge base on the server, then deletes it.
 * @returns the name of the export, a folder of `exports` in the data directory
 * @throws {GanglionError} `not_disabled`, `not_found`
 */
export async function deleteKb(ctx: Context, by: Acting, kb: KbRecord): Promise<string> {
  if (kb.disabledAt === null) throw new GanglionError('not_disabled')
  const folder = makeExportFolder(ctx, kb.slug)
  await markDeleted(ctx, { tenant: { id: kb.tenantId }, kb }, folder).catch(async (error: unknown) => {
    await rmdir(folder).catch(() => {})
    throw error
  })
  await recordAct(ctx, by, { action: 'kb.deleted', subject: kb.slug, detail: basename(folder) })
  return basename(folder)
}

type Store<Of> = Pick<LifecycleStore, 'setDisabled'> & { rename(subject: Of, slug: string): Promise<void> }

async function changeLifecycle<Of extends LifecycleFields>(
  ctx: Context,
  by: Acting,
  { kind, store, subject }: { kind: 'kb' | 'tenant'; store: Store<Of>; subject: Of },
  { slug, isDisabled }: LifecycleChange,
): Promise<void> {
  if (slug !== undefined && slug !== subject.slug) {
    requireSlug(slug)
    await store.rename(subject, slug).catch(refuseTaken)
    await recordAct(ctx, by, { action: `${kind}.renamed`, subject: subject.slug, detail: `to ${slug}` })
  }
  if (isDisabled === undefined || isDisabled === (subject.disabledAt !== null)) return
  await store.setDisabled(subject, isDisabled ? ctx.now() : null)
  const action = `${kind}.${isDisabled ? 'disabled' : 'enabled'}` as const
  await recordAct(ctx, by, { action, subject: slug ?? subject.slug })
}

/**
 * Stops serving a knowledge base or a tenant, exports it as a separate backup, and marks it as deleted: {@link removeDeleted} does the
 * rest. If the export fails, the previous state is kept.
 * @param exportTo a folder that is empty or does not exist; undefined: no export
 * @throws {GanglionError} `not_found`, `not_disabled` if another request deleted or enabled it meanwhile
 */
export async function markDeleted(ctx: Context, { tenant, kb }: Subject, exportTo: string | undefined): Promise<void> {
  const store = kb === undefined ? ctx.tenants : ctx.knowledgeBases
  const subject = kb ?? (await ctx.tenants.get(tenant.id))
  if (subject === undefined) throw new GanglionError('not_found')
  const { disabledAt } = subject
  if (disabledAt === null) await store.setDisabled(subject, ctx.now())
  const kbs = kb === undefined ? await ctx.knowledgeBases.all(tenant.id) : [kb]
  let exported: string | undefined
  try {
    const only = { tenantId: tenant.id, kbIds: kbs.map(({ id }) => id) }
    if (exportTo !== undefined) {
      for (const each of kbs) await inUse(async () => (await ctx.kbs.open(each)).writesEnded())
      await backup(ctx, exportTo, { version: packageVersion, only })
      exported = exportTo
    }
  } catch (error) {
    if (disabledAt === null) await store.setDisabled(subject, null)
    throw error
  }
  try {
    const now =
      kb === undefined ? await ctx.tenants.get(tenant.id) : await ctx.knowledgeBases.find(tenant.id, kb.id, all)
    // Somebody enabled it during the export, and it may have changed since.
    if (now?.disabledAt === null) throw new GanglionError('not_disabled')
    if (kb === undefined) for (const each of kbs) await ctx.knowledgeBases.setDeleted(each, ctx.now())
    if (!(await store.setDeleted(subject, ctx.now()))) throw new GanglionError('not_found')
  } catch (error) {
    // A concurrent deletion has an export of its own.
    if (exported !== undefined) await rm(exported, { recursive: true, force: true })
    throw error
  }
}

/**
 * Removes everything that is marked as deleted. Each step can be interrupted and repeated. Must run in one of the processes that share the
 * state; what others have open is kept.
 * @returns true if nothing is left
 */
export async function removeDeleted(ctx: Context): Promise<boolean> {
  let isDone = true
  for (const id of await ctx.knowledgeBases.deleted()) {
    if (await ctx.kbs.closeUnused(id)) await removeKb(ctx, id)
    else isDone = false
  }
  if (!isDone) return false
  for (const id of await ctx.tenants.deleted()) {
    await inTransaction(ctx.database.db, (transaction) => removeTenantRows(transaction, id))
  }
  return true
}

/** Removes files first: without a row they would not be found again. */
async function removeKb(ctx: Context, id: string): Promise<void> {
  for (const source of await ctx.sources.all(id)) await sourceTexts(ctx).remove(source)
  const aside = setAside(ctx, id)
  for (const path of [...aside, ...ctx.directory.derived(id)]) await rm(path, { recursive: true, force: true })
  await inTransaction(ctx.database.db, (transaction) => removeKbRows(transaction, id))
}

/** Creates a folder for an export of something that administrators delete; its name tells what and when. */
function makeExportFolder({ directory, now }: Pick<Context, 'directory' | 'now'>, slug: string): string {
  const exports = join(directory.root, 'exports')
  mkdirSync(exports, { recursive: true, mode: 0o700 })
  const name = `${slug}-${now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')}`
  for (let count = 1; ; count++) {
    const path = join(exports, count === 1 ? name : `${name}-${count}`)
    try {
      mkdirSync(path, { mode: 0o700 })
      return path
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

function requireSlug(slug: string): void {
  const { error } = Slug.safeParse(slug)
  if (error !== undefined) throw new ValidationError({ slug: error.issues.map(({ message }) => message) })
}

function refuseTaken(error: unknown): never {
  throw error instanceof SlugTaken ? new GanglionError('already_exists', error.message) : error
}
