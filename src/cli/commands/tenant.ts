import type { Command } from 'commander'
import { z } from 'zod'
import { recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import { changeTenant, type LifecycleChange } from '../../operate/life-cycle.ts'
import { type TenantUsage, usageOf } from '../../operate/usage.ts'
import { Slug } from '../../rules/neurons/seq-id.ts'
import type { StoredAuditEntry } from '../../state/accounts/audit-store.ts'
import type { Quotas } from '../../state/tenants.ts'
import { actOn } from '../act-on.ts'
import { addDelete, exportOption } from '../delete-option.ts'
import { argument, option } from '../options.ts'
import { table } from '../table.ts'
import { requireTenant } from '../with-ganglion.ts'

const One = z.object({ tenant: argument(z.string()) })
const entriesAtOnce = 500
const limit = /^(?:\d{1,15}|none)$/
const Limit = z.string().regex(limit, 'must be a whole number, or none').exactOptional()

export function addTenantCommands(program: Command): void {
  const tenant = program.command('tenant').description('list, rename, disable and delete tenants')
  const change = async (ctx: Context, slug: string, change: LifecycleChange, done: string) => {
    const found = await requireTenant(ctx.tenants, slug)
    await changeTenant(ctx, { ...operator, tenantId: found.id }, found, change)
    return { json: { id: found.id, slug: change.slug ?? found.slug }, text: done }
  }

  actOn(
    tenant.command('list').description('list tenants, with their usage and limits'),
    z.object({}),
    async (_, ctx) => {
      const tenants = []
      for (const each of await ctx.tenants.list()) tenants.push({ ...each, usage: await usageOf(ctx, each) })
      const rows = tenants.map(({ slug, disabledAt, quotas, usage }) => [
        slug,
        disabledAt === null ? 'enabled' : 'disabled',
        ...usageCells(usage, quotas),
      ])
      return {
        json: { tenants },
        text: rows.length === 0 ? 'There are no tenants.' : table([...columns], rows),
      }
    },
  )

  actOn(
    tenant.command('rename').description('rename a tenant; its old name still leads to it'),
    One.extend({ slug: argument(Slug, 'the new name: a-z, 0-9 and -') }),
    ({ tenant, slug }, ctx) => change(ctx, tenant, { slug }, `Renamed ${tenant} to ${slug}.`),
  )
  actOn(
    tenant.command('disable').description('refuse all requests for a tenant, and do no work for it; nothing is lost'),
    One,
    ({ tenant }, ctx) => change(ctx, tenant, { isDisabled: true }, `Disabled ${tenant}.`),
  )
  actOn(tenant.command('enable').description('serve a tenant again'), One, ({ tenant }, ctx) =>
    change(ctx, tenant, { isDisabled: false }, `Enabled ${tenant}.`),
  )

  actOn(
    tenant.command('quota').description('limit what a tenant may store'),
    One.extend({
      sourceBytes: option(Limit, '<bytes>', 'bytes of all its Sources, or none for no limit'),
      kbs: option(Limit, '<count>', 'number of knowledge bases, or none'),
    }),
    async ({ tenant, sourceBytes, kbs }, ctx) => {
      const found = await requireTenant(ctx.tenants, tenant)
      const read = (text: string | undefined, known: number | null) =>
        text === undefined ? known : text === 'none' ? null : Number(text)
      const quotas = {
        sourceBytes: read(sourceBytes, found.quotas.sourceBytes),
        knowledgeBases: read(kbs, found.quotas.knowledgeBases),
      }
      await ctx.tenants.setQuotas(found, quotas)
      const bound = `${quotas.sourceBytes ?? 'any number of'} bytes of Sources and ${quotas.knowledgeBases ?? 'any number of'} knowledge bases`
      const act = { action: 'tenant.bounded', subject: found.slug, detail: `to ${bound}` }
      await recordAct(ctx, { ...operator, tenantId: found.id }, act)
      return { json: { tenant, quotas }, text: `${tenant} may have ${bound}.` }
    },
  )

  actOn(
    tenant.command('audit').description('print who did what to a tenant, a line of JSON each, the latest first'),
    One.extend({ since: option(z.coerce.date().exactOptional(), '<time>', 'from then on, e.g. 2026-01-31') }),
    async ({ tenant, since }, { audit, tenants }) => {
      const { id } = await requireTenant(tenants, tenant)
      const entries: StoredAuditEntry[] = []
      for (let before: number | undefined; ; before = entries.at(-1)?.id) {
        const page = await audit.list(id, { before, limit: entriesAtOnce })
        entries.push(...page.filter(({ at }) => since === undefined || at >= since.toISOString()))
        if (page.length < entriesAtOnce || entries.at(-1)?.id !== page.at(-1)?.id) break
      }
      return { json: { entries }, text: entries.map((entry) => JSON.stringify(entry)).join('\n') }
    },
  )

  addDelete(
    tenant.command('delete').description('delete a tenant with all that it has, after an export'),
    One.extend(exportOption),
    async ({ tenant }, ctx) => ({ tenant: await requireTenant(ctx.tenants, tenant) }),
  )
}

const columns = ['TENANT', 'STATE', 'KBS', 'NEURONS', 'PENDING', 'SOURCES', 'SOURCE BYTES', 'DISK BYTES'] as const

function usageCells({ knowledgeBases, sources, sourceBytes }: TenantUsage, quotas: Quotas): string[] {
  const sum = (figure: 'neurons' | 'pending' | 'diskBytes') =>
    String(knowledgeBases.reduce((total, kb) => total + (kb[figure] ?? 0), 0))
  const of = (used: number, most: number | null) => (most === null ? String(used) : `${used} of ${most}`)
  return [
    of(knowledgeBases.length, quotas.knowledgeBases),
    ...[sum('neurons'), sum('pending'), String(sources)],
    ...[of(sourceBytes, quotas.sourceBytes), sum('diskBytes')],
  ]
}
