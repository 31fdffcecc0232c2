import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fsck } from '../../git/fsck.ts'
import { GitError } from '../../git/git-error.ts'
import { isAncestor } from '../../git/history/history.ts'
import { brokenRefs } from '../../git/refs/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { fetchWhole } from '../../kb/cluster/pack-cache.ts'
import type { Context } from '../../kb/context.ts'
import { isOwnValue, type KbIdentity } from '../../kb/kb-identity.ts'
import { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { compareProjections, type RowSample, type TableDifference } from '../../kb/projection/compare-projections.ts'
import { type ProjectionHeads, projectionFile } from '../../kb/projection/projection.ts'
import { mainRef, queueRef } from '../../kb/refs/kb-refs.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { checkCommit } from '../../push/clone-check/check-directory.ts'
import { identityProblems } from '../../push/outside/adopt-outside.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { type CheckedIndex, checkIndex } from '../../search/check-index.ts'
import { BlobNotFound } from '../../state/blobs/blob-store.ts'
import { unnamedKeys } from '../../state/s3/sweep-unnamed.ts'
import { forEachAtOnce } from '../../system/concurrency/for-each-at-once.ts'
import { copyProjection, type StoredProjection } from '../copy-projection.ts'
import { addProblems, type KbVerification, problems, type VerifyProblem } from './verification.ts'
import { verifyHistory, verifySearch } from './verify-history.ts'
import { verifyQueue } from './verify-queue.ts'

export type Verification = {
  ok: boolean
  /** Problems that concern all knowledge bases: of the database, and the ownership of files. */
  problems: VerifyProblem[]
  kbs: KbVerification[]
}

const fsckLimitMs = 30 * 60_000
/** Milliseconds after which a stored pack that no row names counts as an orphan. */
const namedWithinMs = 60 * 60_000
/** Maximum attempts, since another process may be packing the same objects, or creating a knowledge base. */
const attempts = 3
const betweenAttemptsMs = 300

/**
 * Verifies knowledge bases, even while a server is running: git's own consistency, the queue against main, the rules of `check`, and
 * the projection against a rebuilt one. Changes and repairs nothing.
 * @param selection absent: all of them, and repositories without an entry
 */
export async function verify(ctx: Context, selection?: readonly KbIdentity[]): Promise<Verification> {
  const kbs: KbVerification[] = []
  const shared: VerifyProblem[] = []
  if (selection === undefined) {
    shared.push(...problems('database', await ctx.database.problems()))
    shared.push(...problems('owner', await foreignFiles(ctx.directory.root)))
  }
  for (const identity of selection ?? (await ctx.knowledgeBases.all())) {
    kbs.push(await verifyKb(ctx, identity))
  }
  if (selection === undefined) {
    kbs.push(...(await unregistered(ctx)))
    await noteOrphans(ctx, kbs)
  }
  return { ok: shared.length === 0 && kbs.every((kb) => kb.problems.length === 0), problems: shared, kbs }
}

/** Returns the files that do not belong to the owner of the data directory, whose server cannot write them. */
async function foreignFiles(folder: string, owner?: number): Promise<string[]> {
  // Another process may remove the file meanwhile.
  const stats = await lstat(folder).catch(() => undefined)
  if (stats === undefined) return []
  const uid = owner ?? stats.uid
  const names = stats.isDirectory() ? await readdir(folder).catch(() => []) : []
  const found = stats.uid === uid ? [] : [`${folder} belongs to the user ${stats.uid}, not to ${uid}`]
  for (const name of names) found.push(...(await foreignFiles(join(folder, name), uid)))
  return found
}

async function verifyKb(ctx: Context, identity: KbIdentity): Promise<KbVerification> {
  const { id, slug } = identity
  const found: KbVerification = { id, slug, problems: [], notes: [] }
  const scratch = await mkdtemp(join(ctx.directory.tmp, 'verify-'))
  try {
    // Refs only advance. Reading them after the projection, and main before the queue, ensures that each contains what the previous one needs.
    const stored = storedProjection(ctx.directory.index(id), scratch, found)
    const index = await soundIndex(ctx.directory.index(id), found)
    addProblems(found, 'source', ...(await verifySources(ctx, id)))
    const gitDir = await repositoryOf(ctx, id, join(scratch, 'fetched.git'), found)
    if (gitDir === undefined) return found
    addProblems(found, 'repository', ...(await planted(gitDir)), ...(await soundness(gitDir)))
    await verifyContents(ctx, { identity, gitDir }, { stored, index, scratch }, found)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    addProblems(found, 'repository', oneLine(error.message, 1000))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  return found
}

/**
 * Returns the repository to verify. In a cluster it is fetched anew from the rows, so that objects on this machine alone do not hide that
 * others lack them. Undefined if it is missing or incomplete.
 * @param fetched folder for the fetched one
 */
async function repositoryOf(
  { cluster, directory }: Context,
  kbId: string,
  fetched: string,
  found: KbVerification,
): Promise<string | undefined> {
  const gitDir = directory.repository(kbId)
  const isHere = existsSync(join(gitDir, 'HEAD'))
  if (cluster === undefined) {
    if (isHere) return gitDir
    addProblems(found, 'repository', `There is no repository ${gitDir}.`)
    return undefined
  }
  const wrong = await fetchWhole(cluster, { kbId, gitDir: fetched })
  if (isHere) {
    const ofCopy = (await soundness(gitDir)).map((line) => `In the copy on this machine, which may be deleted: ${line}`)
    addProblems(found, 'repository', ...ofCopy)
  }
  addProblems(found, 'repository', ...(wrong ?? ['The database has no repository of it.']))
  // The remaining checks would only repeat the problem of missing packs.
  return wrong?.length === 0 ? fetched : undefined
}

function soundness(gitDir: string): Promise<string[]> {
  return untilClean(() => fsck(gitDir, AbortSignal.timeout(fsckLimitMs)))
}

/** Returns the problem of a missing config, and of hooks that git would run. */
async function planted(gitDir: string): Promise<string[]> {
  const found = existsSync(join(gitDir, 'config')) ? [] : ['The repository has no config.']
  const hooks = await readdir(join(gitDir, 'hooks')).catch(() => [])
  for (const hook of hooks)
    if (!hook.endsWith('.sample')) found.push(`hooks/${hook} is not of Ganglion: git would run it.`)
  return found
}

function storedProjection(indexDir: string, scratch: string, found: KbVerification): StoredProjection | undefined {
  try {
    const stored = copyProjection(indexDir, scratch)
    if (stored === undefined) found.notes.push('There is no index yet: it is built when the knowledge base is used.')
    return stored
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    addProblems(found, 'projection', `The index cannot be read (${reason}): run "ganglion rebuild".`)
    return undefined
  }
}

/** Returns the search index if it is intact. It reflects main from before the refs are read. */
async function soundIndex(indexDir: string, found: KbVerification): Promise<CheckedIndex | undefined> {
  let index: CheckedIndex | undefined
  // A server removes obsolete files meanwhile.
  const damage = await untilClean(async () => {
    index = checkIndex(indexDir)
    return index?.problems ?? []
  })
  const told = damage.map((problem) => `The search index is damaged (${problem}): run "ganglion rebuild".`)
  addProblems(found, 'search', ...told)
  return damage.length === 0 ? index : undefined
}

type Held = { stored: StoredProjection | undefined; index: CheckedIndex | undefined; scratch: string }

/** Adds the problems of the refs, their objects, and the indexes. */
async function verifyContents(
  { parser }: Context,
  { identity, gitDir }: { identity: KbIdentity; gitDir: string },
  { stored, index, scratch }: Held,
  found: KbVerification,
): Promise<void> {
  const indexDir = join(scratch, 'rebuilt')
  await using rebuilt = new KnowledgeBase(identity, { gitDir, indexDir, parser })
  const { repository } = rebuilt
  const main = await repository.readRef(mainRef)
  const queue = await repository.readRef(queueRef)
  const wrongRefs = await verifyRefs(repository, { main, queue }, stored)
  const broken = await brokenRefs(repository, [mainRef, queueRef])
  const left = broken.map((ref) => `${ref} leads to no object: clones, pushes and backups leave it out; remove it`)
  addProblems(found, 'ref', ...wrongRefs, ...left)
  if (stored?.heads.main !== undefined && wrongRefs.length === 0) {
    await rebuilt.followTo(stored.heads)
    const differences = compareProjections(stored.file, join(indexDir, projectionFile))
    addProblems(found, 'projection', ...differences.map(describeDifference))
  }
  const { candidateIds, wrong } = await verifyQueue(repository, identity.id, queue)
  addProblems(found, 'candidate', ...wrong)
  if (main === undefined) return
  await rebuilt.followTo({ main, queue })
  if (index !== undefined && wrongRefs.length === 0) {
    addProblems(found, 'search', ...verifySearch(rebuilt, index))
  }
  const history = await verifyHistory(rebuilt, candidateIds)
  const findings = await checkCommit(repository, main, { prefix: identity.prefix, parser })
  const errors = [
    // A candidate may contain conflict markers, too, which a curator will see.
    ...findings.filter(({ severity, rule }) => severity === 'error' && rule !== 'conflict-marker'),
    ...identityProblems(rebuilt.projection.read),
  ]
  const inFiles = errors.map(({ path, line, rule, message }) => `${oneLine(path, 200)}:${line} ${rule}: ${message}`)
  found.problems.push(...history.problems)
  addProblems(found, 'settings', ...(await verifySettings(repository, main, identity)))
  addProblems(found, 'file', ...inFiles)
  found.notes.push(...history.notes)
}

/** Finds refs that disappeared, or were moved so that their last known commit is no longer in their history. */
async function verifyRefs(
  repository: Repository,
  heads: ProjectionHeads,
  stored: StoredProjection | undefined,
): Promise<string[]> {
  const wrong: string[] = []
  for (const [name, ref] of [
    ['main', mainRef],
    ['queue', queueRef],
  ] as const) {
    const [head, seen, lost] = [heads[name], stored?.heads[name], stored?.lost[name]]
    if (head === undefined && seen !== undefined) wrong.push(`${ref} is gone; it was at ${seen}`)
    else if (head === undefined && name === 'main') wrong.push(`${ref} is gone`)
    const left = lost ?? seen
    if (head !== undefined && left !== undefined && !(await isAncestor(repository, left, head))) {
      wrong.push(`${ref} was moved from ${left} to ${head}, which does not follow it; "ganglion rebuild" accepts that`)
    }
  }
  return wrong
}

async function verifySettings(repository: Repository, main: string, identity: KbIdentity): Promise<string[]> {
  const blob = await repository.blobAt(main, 'kb.yaml')
  if (blob === undefined) return ['There is no kb.yaml.']
  const { settings } = parseKbFile(await repository.readText(blob))
  return (['id', 'slug', 'prefix'] as const)
    .filter((key) => !isOwnValue(identity, key, settings[key]))
    .map((key) => `kb.yaml has the ${key} ${settings[key]}, but it is ${identity[key]}`)
}

async function unregistered({ directory, knowledgeBases, cluster }: Context): Promise<KbVerification[]> {
  const strays = await untilClean(async () => {
    const places = new Map<string, string>()
    for (const id of (await cluster?.repositories.list()) ?? []) places.set(id, 'A repository in the database')
    for (const name of await readdir(directory.repositories)) {
      places.set(name.replace(/\.git$/, ''), join(directory.repositories, name))
    }
    for (const { id } of await knowledgeBases.all()) places.delete(id)
    for (const id of await knowledgeBases.deleted()) places.delete(id)
    return [...places]
  })
  return strays.map(([id, place]) => ({
    ...{ id, slug: null, notes: [] },
    problems: [{ kind: 'repository', message: `${place} is of no knowledge base.` }],
  }))
}

/** Adds notes on packs that no row names, which an interrupted writer leaves. Recent ones may be about to be named. */
async function noteOrphans({ cluster, now }: Context, kbs: KbVerification[]): Promise<void> {
  if (cluster === undefined) return
  const { repositories, packs } = cluster
  const orphans = new Map<string, number>()
  const before = new Date(now().getTime() - namedWithinMs)
  for await (const key of unnamedKeys(packs, (keys) => repositories.named(keys), before)) {
    const id = key.slice(0, Math.max(0, key.indexOf('/')))
    orphans.set(id, (orphans.get(id) ?? 0) + 1)
  }
  for (const [id, count] of orphans) {
    const note = `${count} packs of the bucket have no row: a server removes them after a day.`
    const known = kbs.find((kb) => kb.id === id)
    if (known === undefined) kbs.push({ id, slug: null, problems: [], notes: [note] })
    else known.notes.push(note)
  }
}

/** Returns the findings that every attempt has, since others may be changing the data. */
async function untilClean<Found>(look: () => Promise<Found[]>): Promise<Found[]> {
  for (let attempt = 1; ; attempt++) {
    const found = await look()
    if (found.length === 0 || attempt === attempts) return found
    await delay(betweenAttemptsMs)
  }
}

function describeDifference({ table, onlyLeft, onlyRight }: TableDifference): string {
  const side = ({ count, rows }: RowSample, whose: string) =>
    `${count} rows only in ${whose}${count === 0 ? '' : ` (${oneLine(rows.join(' '), 1000)})`}`
  return `${table} is not what git says: ${side(onlyLeft, 'the index')}, ${side(onlyRight, 'a rebuild')}`
}

const readAtOnce = 4

/** Returns the Sources whose bytes are missing or differ from the upload. Reads all of them. */
async function verifySources({ sources, blobs }: Context, kbId: string): Promise<string[]> {
  const wrong: string[] = []
  await forEachAtOnce(await sources.all(kbId), readAtOnce, async ({ id, filename, contentHash }) => {
    const hash = createHash('sha256')
    const problem = await blobs.get(contentHash).then(
      async (bytes) => {
        await pipeline(bytes, hash)
        return hash.digest('hex') === contentHash ? undefined : 'damaged'
      },
      (error: unknown) => {
        if (error instanceof BlobNotFound) return 'gone'
        throw error
      },
    )
    if (problem) wrong.push(`The bytes of ${oneLine(filename, 200)} (${id}) are ${problem}: ${contentHash}`)
  })
  return wrong
}
