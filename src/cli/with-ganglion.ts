import { type ContextOptions, openContext } from '../app/open-context.ts'
import type { Acting } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { operator } from '../kb/create-kb.ts'
import type { WhenOlder } from '../state/database/migrations/migrate.ts'
import { DataDirectory } from '../state/directory/data-directory.ts'
import { requireRows } from '../state/directory/rows-place.ts'
import type { Tenant, Tenants } from '../state/tenants.ts'
import { UsageError } from './cli-errors.ts'
import type { Environment } from './settings/environment.ts'

/**
 * Opens a data directory while `use` runs, also next to a running server.
 * @throws {Error} if there is no data directory, unless a database and a bucket hold its content, or if the database is of an older version
 * and `whenOlder` does not migrate it
 */
export async function withContext<Result>(
  {
    dataDir,
    database,
    bucket,
    objects,
    finishes,
    isAlone,
  }: Pick<Environment, 'dataDir' | 'database' | 'bucket' | 'objects'> & Pick<ContextOptions, 'finishes' | 'isAlone'>,
  use: (ctx: Context) => Promise<Result>,
  whenOlder: WhenOlder = 'refuse',
): Promise<Result> {
  requireDataDirectory({ dataDir, database, objects })
  await using ctx = await openContext({ dataDir, database, bucket, objects, whenOlder, finishes, isAlone })
  return await use(ctx)
}

/** Requires a data directory. @throws {Error} with a sentence for people, see {@link requireRows} */
export function requireDataDirectory({
  dataDir,
  database,
  objects,
}: Pick<Environment, 'dataDir' | 'database' | 'objects'>): void {
  const directory = DataDirectory.at(dataDir)
  requireRows({ directory, address: database }, { mayCreate: false, isCache: objects !== undefined })
}

export async function requireTenant(tenants: Tenants, slug: string): Promise<Tenant> {
  const tenant = await tenants.find(slug)
  if (tenant !== undefined) return tenant
  const slugs = (await tenants.list()).map((known) => known.slug)
  throw new Error(`There is no tenant ${slug}. Known tenants: ${slugs.join(', ') || 'none'}.`)
}

/** Returns the operator as an administrator of a tenant. */
export function operatorFor(tenantId: string): Acting {
  return { ...operator, tenantId, isAdmin: true }
}

/** Returns the operator as an administrator of a tenant. @param slug undefined if the option was not given */
export async function operatorIn({ tenants }: Context, slug: string | undefined): Promise<Acting> {
  if (slug === undefined) throw new UsageError('--tenant or --server must be given')
  return operatorFor((await requireTenant(tenants, slug)).id)
}

export async function tenantSlugs(tenants: Tenants): Promise<Map<string, string>> {
  return new Map((await tenants.list()).map(({ id, slug }) => [id, slug]))
}
