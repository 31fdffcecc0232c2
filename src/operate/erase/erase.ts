import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkObjects } from '../../git/fsck.ts'
import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import { type GitObject, hashObject, type Oid } from '../../git/objects/object.ts'
import { listRefs, readRef } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import { putRepository } from '../../kb/cluster/pack-cache.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { candidateRefs } from '../../kb/refs/candidate-head-names.ts'
import { erasedCommits, erasedRef, formatErasedCommits, sharedRefs } from '../../kb/refs/kb-refs.ts'
import { ErasureUnfinished } from '../../state/database/database-errors.ts'
import { updateRows } from '../../state/database/store.ts'
import type { DataDirectory } from '../../state/directory/data-directory.ts'
import type { PackEntry } from '../../state/directory/repositories.ts'
import type { KbRecord } from '../../state/kb-store.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { syncDirectory, syncTree } from '../../system/durable-file.ts'
import { countHolders, eraseRows } from './erase-rows.ts'
import { type Erasing, erasingOf, fileKindOf } from './erasing.ts'
import { type ErasurePlan, type ErasureRequest, planErasure, requireDeciders } from './plan-erasure.ts'
import { HistoryRewrite } from './rewrite-history.ts'

/** Decided erasure: the new history is complete, and the remaining steps are always completed. */
type Journal = {
  kbId: string
  tenantId: string
  oids: [Oid, Oid][]
  /** Commit of {@link erasedRef} in the new history. */
  head: Oid
  /** Location of the new history in a cluster's bucket. */
  shared?: { refs: [string, Oid][]; packs: PackEntry[] }
  plan: ErasurePlan
}

export type ErasureStep = 'written' | 'decided' | 'switched' | 'removed' | 'rewritten'

/** Maximum number of objects in one pack. */
const objectsAtOnce = 1_000
/** Refs that are not copied, since they are derived or created here. */
const leftOut = [candidateRefs, erasedRef]

function placesOf({ erasure }: DataDirectory) {
  return { fresh: join(erasure, 'new.git'), old: join(erasure, 'old.git') }
}

/**
 * Writes the history of a knowledge base without the erased data, and decides the erasure. {@link finishErasure} does the rest. The
 * process must hold the data directory's lock, and no server may use the database.
 * @returns the erased data
 * @throws {Error} with a sentence for a person; then nothing is changed
 */
export function prepareErasure(
  ctx: Context,
  identity: KbRecord,
  request: ErasureRequest,
  onStep: (step: ErasureStep) => void = () => {},
): Promise<ErasurePlan> {
  const { cluster, database, directory, markers } = ctx
  const { id: kbId, tenantId } = identity
  return database.alone(async () => {
    if ((await markers.find('erasure')) !== undefined) throw new ErasureUnfinished()
    const version = await cluster?.repositories.version(kbId)
    const requireAlone = async () => {
      if (!(await database.isServed()) && (await cluster?.repositories.version(kbId)) === version) return
      throw new Error('A server uses the database: stop every node first.')
    }
    await requireAlone()
    await rm(directory.erasure, { recursive: true, force: true })
    await mkdir(directory.erasure, { mode: 0o700 })
    const { fresh: gitDir } = placesOf(directory)
    const { plan, ...written } = await inUse(async () => {
      const kb = await ctx.kbs.open(identity)
      await kb.writesEnded()
      await requireDeciders(ctx, kb, request)
      const plan = await planErasure(ctx, kb, request)
      return { plan, ...(await writeHistory(kb.repository, gitDir, { erasing: erasingOf(plan), at: ctx.now() })) }
    })
    const put = cluster && (await putRepository(cluster.packs, { kbId, gitDir, refs: sharedRefs }))
    onStep('written')
    const shared = put && { refs: [...put.refs], packs: put.packs }
    const journal: Journal = { kbId, tenantId, ...written, ...(shared && { shared }), plan }
    await markers.set('erasure', JSON.stringify(journal))
    await requireAlone().catch(async (error: unknown) => {
      await markers.forget('erasure')
      throw error
    })
    onStep('decided')
    return plan
  })
}

/** Returns the refs that the new history also has. */
async function keptRefs({ gitDir }: Repository): Promise<[ref: string, oid: Oid][]> {
  return [...(await listRefs(gitDir))].filter(([ref]) => !leftOut.some((one) => ref.startsWith(one)))
}

async function writeHistory(
  from: Repository,
  gitDir: string,
  { erasing, at }: { erasing: Erasing; at: Date },
): Promise<Pick<Journal, 'oids' | 'head'>> {
  using to = await Repository.init(gitDir)
  const refs = await keptRefs(from)
  let batch = new Map<Oid, GitObject>()
  const flush = async () => {
    const release = await to.writeObjects(batch)
    batch = new Map()
    await release()
  }
  const rewrite = new HistoryRewrite(from, erasing, async (type, data) => {
    batch.set(hashObject(type, data), { type, data })
    if (batch.size >= objectsAtOnce) await flush()
  })
  const tips = refs.map(([, oid]) => oid)
  const commits = await runGit(from.gitDir, ['rev-list', '--topo-order', '--reverse', '--stdin'], {
    input: `${tips.join('\n')}\n`,
    timeLimit: longTimeLimit,
  })
  const old = commits.split('\n').filter((line) => line !== '')
  await rewrite.run(old)
  const replaced = old.filter((oid) => rewrite.newId(oid) !== oid)
  const commitIds = replaced.map((oid): [Oid, Oid] => [oid, rewrite.newId(oid)])
  const earlier = [...(await erasedCommits(from))].map(([oid, now]) => [oid, now && rewrite.newId(now)] as const)
  const record = formatErasedCommits(new Map([...earlier, ...commitIds]), at)
  for (const object of record) batch.set(hashObject(object.type, object.data), object)
  const [recordTip = ''] = [...batch.keys()].slice(-1)
  await flush()
  const alternates = join(gitDir, 'objects/info/alternates')
  await writeFile(alternates, `${join(from.gitDir, 'objects')}\n`)
  for (const [ref, oid] of refs) await to.updateRef(ref, undefined, rewrite.newId(oid))
  await to.updateRef(erasedRef, undefined, recordTip)
  await runGit(gitDir, ['repack', '-a', '-d', '-q'], { timeLimit: longTimeLimit })
  await rm(alternates)
  const wrong = await checkObjects(gitDir, AbortSignal.timeout(longTimeLimit))
  if (wrong.length > 0) throw new Error(`The new history is not whole: ${wrong[0]}`)
  await syncTree(gitDir)
  return { oids: [...rewrite.oids, ...commitIds], head: recordTip }
}

/**
 * Completes a decided erasure: puts the new history in place, removes everything derived from the old one, and rewrites the database. Can
 * be repeated after a crash at any point. The process must hold the lock, with no knowledge base open.
 * @returns true if there was one
 */
export function finishErasure(ctx: Context, onStep: (step: ErasureStep) => void = () => {}): Promise<boolean> {
  const { database, directory, markers } = ctx
  return database.alone(async () => {
    const marker = await markers.find('erasure')
    if (marker === undefined) return false
    const journal: Journal | null = JSON.parse(marker)
    if (journal !== null) {
      await switchHistory(ctx, journal)
      onStep('switched')
      await removeOld(ctx, journal)
      onStep('removed')
      const { oids, ...rows } = journal
      await eraseRows(database.db, { ...rows, oids: new Map(oids) }, async (transaction) => {
        // The journal itself names erased data.
        await updateRows(transaction, 'stamps', { name: 'erasure' }, { at: 'null' })
      })
    }
    await database.compact()
    onStep('rewritten')
    await rm(directory.erasure, { recursive: true, force: true })
    await markers.forget('erasure')
    return true
  })
}

async function switchHistory({ cluster, directory }: Context, { kbId, head, shared }: Journal): Promise<void> {
  const { fresh, old } = placesOf(directory)
  const gitDir = directory.repository(kbId)
  if (cluster !== undefined && shared !== undefined) {
    await cluster.replace({ kbId, refs: new Map(shared.refs), packs: shared.packs })
    await rm(gitDir, { recursive: true, force: true })
    return
  }
  if (existsSync(fresh)) {
    if (existsSync(gitDir)) {
      await rm(old, { recursive: true, force: true })
      await rename(gitDir, old)
    }
    await rename(fresh, gitDir)
    await syncDirectory(dirname(gitDir))
    await syncDirectory(directory.erasure)
  }
  if ((await readRef(gitDir, erasedRef)) === head) return
  throw new Error(`The new history is not in ${directory.root}: go on with the settings that the erasure began with.`)
}

async function removeOld(ctx: Context, { kbId, plan }: Journal): Promise<void> {
  const { blobs, directory, texts, uploads, uploadBytes } = ctx
  const left = [directory.incoming, directory.tmp].map(async (folder) =>
    (await readdir(folder)).map((name) => join(folder, name)),
  )
  const kept = [directory.incoming, directory.uploads]
  const scratch = (await Promise.all(left)).flat().filter((path) => !kept.includes(path))
  for (const path of [placesOf(directory).old, ...directory.derived(kbId), ...scratch]) {
    await rm(path, { recursive: true, force: true })
  }
  for (const { contentHash, isOnly } of plan.sources) if (isOnly) await blobs.remove(contentHash)
  for (const name of plan.extracts) await texts.remove(name)
  // Incomplete uploads cannot be searched yet.
  for (const id of await uploads.begunIn(kbId)) {
    await uploads.remove(id)
    await uploadBytes.remove(id)
  }
}

/** Number of current pages, their versions, candidates, other files, commits and database rows that contain a text. */
export type TextPlaces = { text: string } & Record<(typeof textPlaces)[number], number>

export const textPlaces = ['pages', 'versions', 'candidates', 'files', 'commits', 'rows'] as const

/** Finds the places of each text of a plan in the whole history, as an erasure would. */
export async function findTexts(
  ctx: Pick<Context, 'database'>,
  { identity: { id: kbId, tenantId }, repository, projection }: KnowledgeBase,
  plan: ErasurePlan,
): Promise<TextPlaces[]> {
  const sought = plan.texts.map((text) => {
    const only = { ...plan, texts: [text] }
    return { text: text.text, only, erasing: erasingOf(only), found: new Set<string>() }
  })
  const input = [...(await keptRefs(repository)).map(([, oid]) => `${oid}\n`)].join('')
  const list = async (...args: string[]) =>
    (await runGit(repository.gitDir, ['rev-list', '--stdin', ...args], { input, timeLimit: longTimeLimit })).split('\n')
  const blobs = await list('--objects', '--filter=object:type=blob', '--filter-provided-objects')
  for (const line of [...(await list()), ...blobs].filter((each) => each !== '')) {
    const [, oid = '', path = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
    const kind = path === '' ? 'commit' : fileKindOf(path)
    const text = (await repository.readOnce(oid)).data.toString('utf8')
    // A page counts once for each of its texts; other files count once.
    const key = `${kind} ${kind === 'record' || kind === 'file' ? path : oid}`
    for (const { erasing, found } of sought) {
      if ([path, text].some((each) => erasing.replace(each) !== each)) found.add(key)
    }
  }
  const pages = projection.read.all`SELECT blob FROM neurons`.map(({ blob }) => `page ${blob}`)
  const places = sought.map(async ({ text, only, found }) => {
    const count = (kind: string) => [...found].filter((key) => key.startsWith(`${kind} `)).length
    return {
      ...{ text, pages: pages.filter((key) => found.has(key)).length, versions: count('page') },
      ...{ candidates: count('record'), files: count('file'), commits: count('commit') },
      rows: await countHolders(ctx.database.db, { kbId, tenantId, oids: new Map(), plan: only }),
    }
  })
  return Promise.all(places)
}
