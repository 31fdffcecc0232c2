import type { Command } from 'commander'
import { z } from 'zod'
import { type ContextOptions, openContext } from '../app/open-context.ts'
import type { Context } from '../kb/context.ts'
import type { WhenOlder } from '../state/database/migrations/migrate.ts'
import { DataDirectory } from '../state/directory/data-directory.ts'
import { requireRows } from '../state/directory/rows-place.ts'
import type { KbRecord } from '../state/kb-store.ts'
import type { Tenant, Tenants } from '../state/tenants.ts'
import { act, type CommandAnswer, option } from './command.ts'
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

/** Makes a command work on the open data directory: as {@link act}, with its context. */
export function actOn<Schema extends z.ZodObject>(
  command: Command,
  schema: Schema,
  run: (input: z.output<Schema>, ctx: Context, environment: Environment) => Promise<CommandAnswer>,
): Command {
  return act(command, schema, (input, environment) => withContext(environment, (ctx) => run(input, ctx, environment)))
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

/** Returns the id of the tenant that an option names, if it is given. */
export async function tenantIdOf(tenants: Tenants, slug: string | undefined): Promise<string | undefined> {
  return slug === undefined ? undefined : (await requireTenant(tenants, slug)).id
}

export async function tenantSlugs(tenants: Tenants): Promise<Map<string, string>> {
  return new Map((await tenants.list()).map(({ id, slug }) => [id, slug]))
}

/** Options that select all knowledge bases, those of a tenant, or one. */
export const Selection = z.object({
  tenant: option(z.string().exactOptional(), '<slug>', 'knowledge bases of one tenant only'),
  kb: option(z.string().exactOptional(), '<slug>', 'one knowledge base only, by slug or id'),
})

export async function select(ctx: Context, { tenant, kb }: z.infer<typeof Selection>): Promise<KbRecord[]> {
  const all = await ctx.knowledgeBases.all(await tenantIdOf(ctx.tenants, tenant))
  if (kb === undefined) return all
  const selected = all.filter(({ id, slug }) => id === kb || slug === kb)
  if (selected.length > 0) return selected
  throw new Error(`There is no knowledge base ${kb}. Known: ${all.map(({ slug }) => slug).join(', ') || 'none'}.`)
}
