import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkObjects } from '../../git/fsck.ts'
import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import type { GitObject, Oid } from '../../git/objects/object.ts'
import { hashObject } from '../../git/objects/object.ts'
import { listRefs } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import type { Context } from '../../kb/context.ts'
import { inUse } from '../../kb/open/kb-use.ts'
import { candidateRefs } from '../../kb/refs/candidate-head-names.ts'
import { erasedCommits, erasedRef, formatErasedCommits } from '../../kb/refs/erased-commits.ts'
import { isPostgres } from '../../state/database/is-postgres.ts'
import type { DataDirectory } from '../../state/directory/data-directory.ts'
import type { KbRecord } from '../../state/kb-store.ts'
import { syncDirectory, syncTree, writeSynced } from '../../system/durable-file.ts'
import { eraseRows } from './erase-rows.ts'
import { Erasing } from './erasing.ts'
import { type ErasurePlan, type ErasureRequest, planErasure } from './plan-erasure.ts'
import { HistoryRewrite } from './rewrite-history.ts'

/** An erasure that is decided: the new history is whole, and the rest follows whatever happens. */
type Journal = { kbId: string; database: string; oids: [Oid, Oid][]; plan: ErasurePlan }

export type ErasureStep = 'written' | 'decided' | 'switched' | 'removed' | 'rewritten'

/** Objects that are written as one pack. */
const objectsAtOnce = 1_000
/** Refs that are derived, or made here. */
const leftOut = [candidateRefs, erasedRef]

function placesOf({ erasure, erasureJournal: journal }: DataDirectory) {
  return { journal, fresh: join(erasure, 'new.git'), old: join(erasure, 'old.git') }
}

/**
 * Writes the history of a knowledge base anew, beside it, without what is to be erased, and decides on it. {@link finishErasure} does the
 * rest. For a process that holds the data directory's lock.
 * @returns what is erased @throws {Error} with a sentence for a person, and nothing is changed
 */
export async function prepareErasure(
  ctx: Context,
  identity: KbRecord,
  request: ErasureRequest,
  onStep: (step: ErasureStep) => void = () => {},
): Promise<ErasurePlan> {
  const database = ctx.databaseAddress ?? ctx.directory.database
  if (ctx.cluster !== undefined || isPostgres(ctx.database.db)) {
    throw new Error(
      'Erasure works on a data directory with its own database; not with GANGLION_DATABASE or GANGLION_OBJECTS.',
    )
  }
  if ((await ctx.forgeLinks.list(identity.tenantId)).some(({ kbId }) => kbId === identity.id)) {
    throw new Error('The knowledge base is linked to a forge, whose main would bring everything back: unlink it first.')
  }
  const { directory } = ctx
  const { journal, fresh } = placesOf(directory)
  await rm(directory.erasure, { recursive: true, force: true })
  await mkdir(directory.erasure, { mode: 0o700 })
  const { plan, oids } = await inUse(async () => {
    const kb = await ctx.kbs.open(identity)
    await kb.writesEnded()
    const plan = await planErasure(ctx, kb, request)
    return { plan, oids: await writeHistory(kb.repository, fresh, { erasing: new Erasing(plan), at: ctx.now() }) }
  })
  onStep('written')
  const decided: Journal = { kbId: identity.id, database, oids: [...oids], plan }
  await writeSynced(`${journal}.new`, JSON.stringify(decided), 0o600)
  await rename(`${journal}.new`, journal)
  await syncDirectory(directory.erasure)
  onStep('decided')
  return plan
}

async function writeHistory(
  from: Repository,
  gitDir: string,
  { erasing, at }: { erasing: Erasing; at: Date },
): Promise<ReadonlyMap<Oid, Oid>> {
  const to = await Repository.init(gitDir)
  try {
    const refs = [...(await listRefs(from.gitDir))].filter(([ref]) => !leftOut.some((one) => ref.startsWith(one)))
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
    const record = formatErasedCommits([...(await erasedCommits(from)), ...replaced], at)
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
    return new Map([...rewrite.oids, ...replaced.map((oid): [Oid, Oid] => [oid, rewrite.newId(oid)])])
  } finally {
    to.close()
  }
}

/**
 * Does what is left of an erasure that is decided: puts the new history in place, removes what was derived from the old one, and rewrites
 * the database. May be repeated, after a crash at any point. For a process that holds the lock, with nothing open.
 * @returns whether there was one
 */
export async function finishErasure(
  directory: DataDirectory,
  onStep: (step: ErasureStep) => void = () => {},
): Promise<boolean> {
  const { journal, fresh, old } = placesOf(directory)
  if (!existsSync(journal)) return false
  const { kbId, database, oids, plan }: Journal = JSON.parse(await readFile(journal, 'utf8'))
  const gitDir = directory.repository(kbId)
  if (existsSync(fresh)) {
    if (existsSync(gitDir)) {
      await rm(old, { recursive: true, force: true })
      await rename(gitDir, old)
    }
    await rename(fresh, gitDir)
    await syncDirectory(dirname(gitDir))
    await syncDirectory(directory.erasure)
  }
  onStep('switched')
  const bytes = plan.sources
    .filter(({ isOnly }) => isOnly)
    .map(({ contentHash: hash }) => join(hash.slice(0, 2), hash.slice(2, 4), hash))
  const gone = [
    ...[old, directory.index(kbId)],
    ...['', '-wal', '-shm'].map((ending) => `${directory.vectors(kbId)}${ending}`),
    ...bytes.map((path) => join(directory.blobs, path)),
    ...plan.extracts.map((name) => join(directory.extracts, name)),
    ...(await readdir(directory.incoming)).map((name) => join(directory.incoming, name)),
  ]
  for (const path of gone) await rm(path, { recursive: true, force: true })
  onStep('removed')
  eraseRows(database, { kbId, oids: new Map(oids), plan })
  onStep('rewritten')
  await rm(journal)
  await rm(directory.erasure, { recursive: true, force: true })
  return true
}
