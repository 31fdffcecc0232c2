import { LRUCache } from 'lru-cache'
import { type Context, onePer } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { kbSearch } from '../search/kb/kb-search.ts'
import { folderSize } from '../system/folder-size.ts'
import { health, type Problem } from './health.ts'
import { packageVersion } from './package-version.ts'
import { type VerificationRun, verifications } from './verify/verifications.ts'

/** State of the server as an administrator of one tenant sees it. Sizes are in bytes. */
export type HealthReport = {
  version: string
  problems: Problem[]
  /** Time at which `ganglion backup` last ended here, ISO 8601, UTC. Undefined: never, or backups are made by other means. */
  backedUpAt: string | undefined
  /**
   * Knowledge bases. `meaning`: number of chunks with a vector, and of texts that lack one; undefined without an embeddings model, or while
   * the KB is not open.
   */
  kbs: {
    slug: string
    repository: number
    index: number
    meaning?: { embedded: number; lacking: number } | undefined
  }[]
  sources: { count: number; size: number }
  shared: { database: number; freeDisk: number } | undefined
  verification: VerificationRun | undefined
}

type Sizes = Pick<HealthReport, 'kbs' | 'sources'>

/** Milliseconds for which sizes are cached: a repository may have thousands of files. */
const sizesHoldMs = 60_000

/** Creates reports for the health page. Measures sizes at most once a minute. */
export const healthReports = onePer((ctx: Context) => {
  /** Sizes by tenant. */
  const measured = new LRUCache<string, Promise<Sizes>>({ max: 1_000, ttl: sizesHoldMs })

  async function read({ tenantId }: Pick<Caller, 'tenantId'>): Promise<HealthReport> {
    const { directory, markers, tenants } = ctx
    const isAlone = (await tenants.list()).length === 1
    return {
      version: packageVersion,
      problems: await health(ctx).problems(),
      backedUpAt: await markers.find('backup'),
      ...(await sizesOf(tenantId)),
      shared: isAlone ? { database: await ctx.database.size(), freeDisk: await directory.freeRatio() } : undefined,
      verification: verifications(ctx).latest(tenantId),
    }
  }

  function sizesOf(tenantId: string): Promise<Sizes> {
    const known = measured.get(tenantId)
    if (known !== undefined) return known
    const sizes = measure(tenantId)
    measured.set(tenantId, sizes)
    sizes.catch(() => measured.delete(tenantId))
    return sizes
  }

  async function measure(tenantId: string): Promise<Sizes> {
    const { knowledgeBases, directory, sources } = ctx
    const open = new Map((await ctx.kbs.all()).map((kb) => [kb.identity.id, kb]))
    const kbs: HealthReport['kbs'] = []
    for (const { id, slug } of await knowledgeBases.list(tenantId)) {
      const [repository, index] = [await folderSize(directory.repository(id)), await folderSize(directory.index(id))]
      const kb = open.get(id)
      kbs.push({ slug, repository, index, meaning: kb && kbSearch(kb, ctx).embedder?.progress })
    }
    return { kbs, sources: await sources.totalSize(tenantId) }
  }

  return { read }
})
