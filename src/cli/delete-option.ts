import type { Command } from 'commander'
import { z } from 'zod'
import { recordAct } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { operator } from '../kb/create-kb.ts'
import { markDeleted, removeDeleted } from '../operate/life-cycle.ts'
import { acquireLock, DataDirectoryInUse } from '../state/directory/directory-lock.ts'
import type { KbRecord } from '../state/kb-store.ts'
import type { Tenant } from '../state/tenants.ts'
import { actOn } from './act-on.ts'
import { option } from './options.ts'
import type { Environment } from './settings/environment.ts'

const Exported = z.union([z.string().min(1), z.literal(false)], 'give --export DIR, or --no-export')
const exportText = 'new or empty folder for a backup that "ganglion restore" accepts'
/** Option of commands that delete. It is required, so that nothing is deleted without a decision about an export. */
export const exportOption = { export: option(Exported, '<dir>', exportText, { negated: 'delete it without a backup' }) }

/** Makes a command delete the tenant or knowledge base that `find` returns. */
export function addDelete<Input extends { export: string | false }>(
  command: Command,
  schema: z.ZodObject & z.ZodType<Input>,
  find: (input: Input, ctx: Context) => Promise<{ tenant: Tenant; kb?: KbRecord }>,
): void {
  const help = '\nSafe to run next to a running server, which then removes the files. It cannot be undone.'
  actOn(command.addHelpText('after', help), schema, async (input, ctx, environment) => {
    const subject = await find(input, ctx)
    const { id, slug } = subject.kb ?? subject.tenant
    await markDeleted(ctx, subject, input.export || undefined)
    if (subject.kb !== undefined) {
      const by = { ...operator, tenantId: subject.tenant.id }
      await recordAct(ctx, by, { action: 'kb.deleted', subject: slug, detail: input.export || 'not exported' })
    }
    const isRemoved = await removeNow(ctx, environment)
    const rest = isRemoved ? '' : ' The running server removes its files within a minute.'
    const exported = input.export ? ` It is exported to ${input.export}.` : ''
    return {
      json: { id, slug, export: input.export || null, isRemoved },
      text: `Deleted ${slug}.${exported}${rest}`,
    }
  })
}

/** Removes deleted files if no running server does. Returns false if one does. */
async function removeNow(ctx: Context, { objects }: Environment): Promise<boolean> {
  if (objects !== undefined) return false
  try {
    using _lock = await acquireLock(ctx.directory, { waitMs: 0 })
    return await removeDeleted(ctx)
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return false
    throw error
  }
}
