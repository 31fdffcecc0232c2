import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openContext } from '../../app/open-context.ts'
import { withoutCredentials } from '../../git/native/operators-git.ts'
import type { IncomingLimits } from '../../git/transport/quarantine.ts'
import { putRepository } from '../../kb/cluster/put-repository.ts'
import type { Context } from '../../kb/context.ts'
import { type CreatedKnowledgeBase, enterKnowledgeBase } from '../../kb/create-kb.ts'
import { sharedRefs } from '../../kb/refs/kb-refs.ts'
import { packLimits } from '../../push/git/git-transfers.ts'
import { Slug } from '../../rules/neurons/seq-id.ts'
import { runUnlessRunning } from '../../state/database/engines/advisory-lock.ts'
import { lockFile } from '../../state/directory/directory-lock.ts'
import { syncDirectory } from '../../system/durable-file.ts'
import { buildKb } from './build-kb.ts'
import { AdoptionRefused, fetchSource } from './fetch-source.ts'

const gibibyte = 1024 ** 3
/** Limits of a fetched history. A single object may be as large as in a push. */
const defaultLimits: IncomingLimits = {
  ...packLimits,
  maxPack: 4 * gibibyte,
  maxObjects: 5_000_000,
  maxUnpackedBytes: 64 * gibibyte,
}

export type AdoptOptions = {
  /** Folder or URL of the repository, in a form that git accepts. */
  source: string
  tenant: string
  /** Slug of the knowledge base. Default: the mirror's own, or one derived from the source. */
  slug?: string | undefined
  limits?: Partial<IncomingLimits>
}

export type AdoptedKnowledgeBase = CreatedKnowledgeBase & { isMirror: boolean; neurons: number }

/**
 * Creates a knowledge base from a repository and its history: a mirror keeps its id, prefix, queue and citations; the pages of any other
 * repository become Neurons. It is built and verified in a separate data directory, which the next start of a server removes after a crash,
 * and is moved to its place at the end.
 * @throws {AdoptionRefused} {Error} with git's message; errors of {@link enterKnowledgeBase}
 */
export async function adoptKnowledgeBase(ctx: Context, options: AdoptOptions): Promise<AdoptedKnowledgeBase> {
  const { directory, database } = ctx
  using lock = await lockFile(join(directory.tmp, 'adoption'), { waitMs: 0 })
  // Locked, since two adoptions of one mirror would both find its id unused.
  const adopted = lock && (await runUnlessRunning(database.db, 'adopt', () => adopt(ctx, options)))
  if (adopted !== undefined) return adopted
  throw new AdoptionRefused('Another adoption is under way: try again when it has ended.')
}

async function adopt(ctx: Context, options: AdoptOptions): Promise<AdoptedKnowledgeBase> {
  const { source: address, tenant, slug, limits } = options
  const { cluster, directory, threads, urls, now } = ctx
  const dataDir = join(directory.incoming, `adopted-${randomUUID()}`)
  const scratch = await openContext({ dataDir, threads, publicUrl: urls.base, now })
  try {
    const fetched = join(scratch.directory.incoming, 'fetched.git')
    const isMirror = await fetchSource(address, fetched, { ...defaultLimits, ...limits })
    const named = { tenant, slug: slug ?? (isMirror ? undefined : slugOf(address)) }
    const building = { ...named, fetched, isMirror, source: withoutCredentials(address) }
    const { neurons, ...identity } = await buildKb(scratch, building)
    await requireFreeId(ctx, identity.id)
    const builtDir = scratch.directory.repository(identity.id)
    const made = await enterKnowledgeBase(ctx, { ...identity, tenant }, async ({ id }, gitDir) => {
      // No entry has the id: an interrupted adoption left these files.
      for (const path of [gitDir, ...directory.derived(id)]) await rm(path, { recursive: true, force: true })
      if (cluster === undefined) await rename(builtDir, gitDir)
      else await cluster.replace(await putRepository(cluster.packs, { kbId: id, gitDir: builtDir, refs: sharedRefs }))
      await syncDirectory(directory.repositories)
    })
    return { ...made, isMirror, neurons }
  } finally {
    await scratch.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function requireFreeId({ knowledgeBases }: Context, id: string): Promise<void> {
  const same = (await knowledgeBases.all()).find((kb) => kb.id === id)
  if (same !== undefined)
    throw new AdoptionRefused(
      `The knowledge base ${same.slug} here has the id ${id} already, which citations and candidates name: adopt the copy into another data directory, or delete that one first (ganglion kb delete).`,
    )
  if ((await knowledgeBases.deleted()).includes(id))
    throw new AdoptionRefused(
      `A deleted knowledge base had the id ${id}: try again when a server has removed the rest.`,
    )
}

/** Returns a slug derived from the last part of a repository's address. */
function slugOf(address: string): string {
  const path = address.replace(/\/+$/, '').replace(/(?:\/?\.git|\.bundle)$/, '')
  const name =
    path
      .split(/[/:\\]/)
      .at(-1)
      ?.toLowerCase() ?? ''
  const { success, data } = Slug.safeParse(name.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, ''))
  if (!success) throw new AdoptionRefused(`No slug can be made of the name ${name}: give one with --slug.`)
  return data
}
