import type { Command } from 'commander'
import type { z } from 'zod'
import type { Context } from '../kb/context.ts'
import type { Tenants } from '../state/tenants.ts'
import { act, type CommandAnswer } from './command.ts'
import type { Environment } from './settings/environment.ts'
import { requireTenant, withContext } from './with-ganglion.ts'

/** Makes a command work on the open data directory: as {@link act}, with its context. */
export function actOn<Schema extends z.ZodObject>(
  command: Command,
  schema: Schema,
  run: (input: z.output<Schema>, ctx: Context, environment: Environment) => Promise<CommandAnswer>,
): Command {
  return act(command, schema, (input, environment) => withContext(environment, (ctx) => run(input, ctx, environment)))
}

/** Returns the id of the tenant that an option names, if it is given. */
export async function tenantIdOf(tenants: Tenants, slug: string | undefined): Promise<string | undefined> {
  return slug === undefined ? undefined : (await requireTenant(tenants, slug)).id
}
