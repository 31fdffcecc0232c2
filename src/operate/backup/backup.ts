import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtempDisposable, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { sql } from 'kysely'
import { writeBundle } from '../../git/bundle.ts'
import { GitError } from '../../git/git-error.ts'
import type { Oid } from '../../git/objects/object.ts'
import { brokenRefs, listRefs } from '../../git/refs/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { fetchWhole } from '../../kb/cluster/pack-cache.ts'
import type { Context } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { projectionFile } from '../../kb/projection/projection.ts'
import { candidateRefs } from '../../kb/refs/candidate-head-names.ts'
import { mainRef, queueRef, RefMissing, RepositoryMissing } from '../../kb/refs/kb-refs.ts'
import { nextNumber } from '../../kb/writing/commits.ts'
import { latestMigration } from '../../state/database/migrations/migrations.ts'
import { openDatabase } from '../../state/database/open-database.ts'
import { updateRows } from '../../state/database/store.ts'
import { inTransaction } from '../../state/database/transaction.ts'
import { KnowledgeBases } from '../../state/kb-store.ts'
import { removeKbRows, removePeopleOfNone, removeTenantRows } from '../../state/removal.ts'
import { Tenants } from '../../state/tenants.ts'
import { syncDirectory, syncTree, writeSynced } from '../../system/durable-file.ts'
import { copyProjection } from '../copy-projection.ts'
import { BackupError, backupFiles, blobsOf, copyBlobs, type Manifest, sumsOf, withChecksum } from './backup-manifest.ts'

const attempts = 100

/** Part of a deployment to back up: a tenant with the knowledge bases of these ids. */
export type BackupPart = { tenantId: string; kbIds: readonly string[] }

/**
 * Copies everything that is not derived into a folder that is empty or does not exist, while servers may be running. The database comes
 * first, since it names files of the rest. The manifest comes last, when everything is on the disk. The folder is the same for every kind
 * of deployment. On failure, the copied files are removed.
 * @throws {BackupError} for a folder that is not empty, and missing packs; {GitError} for a repository that cannot be copied completely;
 * errors of the bucket
 */
export async function backup(
  ctx: Context,
  target: string,
  { version, only }: { version: string; only?: BackupPart },
): Promise<{ dir: string; manifest: Manifest }> {
  const dir = resolve(target)
  const damaged = await ctx.database.problems()
  if (damaged.length > 0) throw new BackupError(`The database is damaged, nothing was backed up: ${damaged.join('; ')}`)
  const isNew = await makeEmptyFolder(dir)
  try {
    const manifest = await fill(ctx, dir, { version, only })
    if (only === undefined) await ctx.markers.set('backup', manifest.createdAt)
    return { dir, manifest }
  } catch (error) {
    await removeMade(dir, isNew).catch(() => {}) // The original error is more informative.
    throw error
  }
}

async function fill(
  ctx: Context,
  dir: string,
  { version, only }: { version: string; only: BackupPart | undefined },
): Promise<Manifest> {
  const files = backupFiles(dir)
  const createdAt = ctx.now().toISOString()
  await ctx.database.copyTo(files.database)
  if (only !== undefined) await leaveOnly(files.database, only)
  await mkdir(files.repositories, { mode: 0o700 })
  const kbs: Manifest['kbs'] = []
  for (const { tenant, ...identity } of await registered(files.database)) {
    const { id, slug } = identity
    const held = await backUpRepository(ctx, identity, files.bundle(id)).catch((error: unknown) => {
      const isKnown = error instanceof GitError || error instanceof RefMissing || error instanceof RepositoryMissing
      if (!isKnown) throw error
      throw new BackupError(`The repository of ${slug} cannot be backed up: ${error.message}. Run "ganglion verify".`)
    })
    kbs.push({ id, slug, tenant, ...held })
  }
  const ids = kbs.map(({ id }) => id)
  const hashes = await blobsOf(ctx.sources, ids)
  const missingBlobs = await copyBlobs(ctx.blobs, hashes, files.blobs)
  await makePrivate(dir)
  await syncTree(dir)
  const made = { schema: latestMigration(), createdAt, ganglion: version }
  const manifest = withChecksum({ ...made, kbs, missingBlobs, files: await sumsOf(dir) })
  await writeSynced(files.manifest, `${JSON.stringify(manifest, undefined, 2)}\n`, 0o600)
  await syncDirectory(dir)
  await syncDirectory(dirname(dir))
  return manifest
}

/** Removes all other rows from a copy of the database, and from its free pages. */
async function leaveOnly(file: string, { tenantId, kbIds }: BackupPart): Promise<void> {
  await using database = await openDatabase(file)
  const { db } = database
  await inTransaction(db, async (transaction) => {
    const kbs = await transaction.selectFrom('knowledge_bases').select('id').execute()
    for (const { id } of kbs) if (!kbIds.includes(id)) await removeKbRows(transaction, id)
    const tenants = await transaction.selectFrom('tenants').select('id').where('id', '!=', tenantId).execute()
    for (const { id } of tenants) await removeTenantRows(transaction, id)
    await removePeopleOfNone(transaction)
    const kept = transaction.selectFrom('sources').select('content_hash')
    await transaction.deleteFrom('blob_keys').where('sha256', 'not in', kept).execute()
    for (const table of ['tenants', 'knowledge_bases'] as const) {
      await updateRows(transaction, table, {}, { disabled_at: null })
    }
  })
  await sql`vacuum`.execute(db)
}

/** Creates a folder, or checks that it is empty. @returns true if it did not exist */
async function makeEmptyFolder(dir: string): Promise<boolean> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 })
  if ((await readdir(dir)).length > 0) throw new BackupError(`${dir} is not empty: a backup needs a folder of its own.`)
  // Private from the start, while it is being filled.
  await chmod(dir, 0o700)
  return made !== undefined
}

async function removeMade(dir: string, isNew: boolean): Promise<void> {
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true })
  if (isNew) await rmdir(dir)
}

async function makePrivate(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)
  }
}

/** Returns the knowledge bases in the copied database: later ones are not in this backup. */
async function registered(file: string): Promise<(KbIdentity & { tenant: string })[]> {
  await using database = await openDatabase(file)
  const { db } = database
  const slugs = new Map((await new Tenants(db).list()).map(({ id, slug }) => [id, slug]))
  return (await new KnowledgeBases(db).all()).map((kb) => ({ ...kb, tenant: slugs.get(kb.tenantId) ?? '' }))
}

/** Copies a repository without writing to it or to its index, which belong to the server. */
async function backUpRepository(
  ctx: Context,
  identity: KbIdentity,
  file: string,
): Promise<Pick<Manifest['kbs'][number], 'refs' | 'highestNumber'>> {
  const { directory, parser } = ctx
  await using temporary = await mkdtempDisposable(join(directory.tmp, 'backup-'))
  const { path: scratch } = temporary
  const gitDir = await repositoryOf(ctx, identity, join(scratch, 'fetched.git'))
  const indexDir = join(scratch, 'index')
  await mkdir(indexDir)
  try {
    copyProjection(directory.index(identity.id), indexDir)
  } catch {
    // A damaged index must not prevent a backup: another is built.
    await rm(join(indexDir, projectionFile), { force: true })
  }
  await using kb = new KnowledgeBase(identity, { gitDir, indexDir, parser })
  if (!existsSync(gitDir)) throw new RepositoryMissing(gitDir)
  const refs = await refsOfOneMoment(kb.repository)
  await writeBundle(kb.repository, refs, file)
  const knownNumber = nextNumber(kb) // Includes numbers that main no longer has.
  await kb.followTo({ main: refs.get(mainRef), queue: refs.get(queueRef) })
  return { refs: Object.fromEntries(refs), highestNumber: Math.max(knownNumber, nextNumber(kb)) - 1 }
}

/** Returns the repository to copy. @param fetched folder for a shared repository, which is fetched anew so that no cache is used or filled */
async function repositoryOf(
  { cluster, directory }: Context,
  { id, slug }: KbIdentity,
  fetched: string,
): Promise<string> {
  if (cluster === undefined) return directory.repository(id)
  const wrong = (await fetchWhole(cluster, { kbId: id, gitDir: fetched })) ?? ['The database has no repository of it.']
  if (wrong.length > 0) throw new BackupError(`The repository of ${slug} cannot be copied whole. ${wrong.join(' ')}`)
  return fetched
}

/** Returns consistent refs: every approval on main is on the queue, and stays there. Other refs are independent. */
async function refsOfOneMoment(repository: Repository): Promise<Map<string, Oid>> {
  let [main, queue]: (Oid | undefined)[] = []
  for (let attempt = 0; attempt < attempts; attempt++) {
    main = await repository.readRef(mainRef)
    queue = await repository.readRef(queueRef)
    if (main === (await repository.readRef(mainRef))) break
  }
  const refs = await listRefs(repository.gitDir)
  for (const ref of await brokenRefs(repository)) refs.delete(ref)
  for (const ref of refs.keys()) if (ref.startsWith(candidateRefs)) refs.delete(ref) // These refs are derived.
  for (const [ref, oid] of [
    [mainRef, main],
    [queueRef, queue],
  ] as const) {
    if (oid === undefined) refs.delete(ref)
    else refs.set(ref, oid)
  }
  return refs
}
