import type { NewSite } from '../contract/administration.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { utcDay } from '../contract/moment.ts'
import { type Acting, recordAct } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import type { Site } from '../state/sites.ts'

export type SiteView = Omit<Site, 'secret' | 'day' | 'asked'> & { askedToday: number }
type SiteContext = Pick<Context, 'sites' | 'knowledgeBases' | 'audit' | 'now' | 'onError'>
type SiteAddress = { kb: string; id: string }

const maxSites = 50

/** Allows the pages of some origins to query a knowledge base. @throws {GanglionError} `not_found` @throws {ValidationError} */
export async function addSite(ctx: SiteContext, by: Acting, kb: string, input: NewSite): Promise<SiteView> {
  const kbId = await kbIdOf(ctx, by, kb)
  if ((await ctx.sites.list(kbId)).length >= maxSites) {
    throw new ValidationError({}, [`There are ${maxSites} sites, the most that a knowledge base may have.`])
  }
  const site = await ctx.sites.create({ tenantId: by.tenantId, kbId }, input, ctx.now())
  await recordAct(ctx, by, { action: 'site.added', subject: site.name, detail: input.origins.join(', ') })
  return viewOf(ctx, site)
}

/** Lists the sites of a knowledge base. @throws {GanglionError} `not_found` */
export async function listSites(ctx: SiteContext, by: Pick<Acting, 'tenantId'>, kb: string): Promise<SiteView[]> {
  const sites = await ctx.sites.list(await kbIdOf(ctx, by, kb))
  return sites.map((site) => viewOf(ctx, site))
}

/** Returns a site. @throws {GanglionError} `not_found` */
export async function readSite(
  ctx: SiteContext,
  by: Pick<Acting, 'tenantId'>,
  { kb, id }: SiteAddress,
): Promise<SiteView> {
  const [kbId, site] = [await kbIdOf(ctx, by, kb), await ctx.sites.find(id)]
  if (site === undefined || site.kbId !== kbId) throw new GanglionError('not_found')
  return viewOf(ctx, site)
}

/** Changes a site, effective with the next request, also of visitors with a token. @throws {GanglionError} `not_found` */
export async function changeSite(ctx: SiteContext, by: Acting, address: SiteAddress, input: NewSite): Promise<void> {
  const { id } = await readSite(ctx, by, address)
  await ctx.sites.change(id, input)
  const detail = `${input.origins.join(', ')}; ${input.perMinute} a minute, ${input.perDay} a day`
  await recordAct(ctx, by, { action: 'site.changed', subject: input.name, detail })
}

/** Disables a site. @throws {GanglionError} `not_found` */
export async function disableSite(ctx: SiteContext, by: Acting, address: SiteAddress): Promise<void> {
  const { id, name } = await readSite(ctx, by, address)
  await ctx.sites.setDisabled(id, ctx.now())
  await recordAct(ctx, by, { action: 'site.disabled', subject: name })
}

/** Enables a site. @throws {GanglionError} `not_found` */
export async function enableSite(ctx: SiteContext, by: Acting, address: SiteAddress): Promise<void> {
  const { id, name } = await readSite(ctx, by, address)
  await ctx.sites.setDisabled(id, null)
  await recordAct(ctx, by, { action: 'site.enabled', subject: name })
}

/** Removes a site. @throws {GanglionError} `not_found` */
export async function removeSite(ctx: SiteContext, by: Acting, address: SiteAddress): Promise<void> {
  const { id, name } = await readSite(ctx, by, address)
  await ctx.sites.remove(id)
  await recordAct(ctx, by, { action: 'site.removed', subject: name })
}

async function kbIdOf(ctx: SiteContext, { tenantId }: Pick<Acting, 'tenantId'>, kb: string): Promise<string> {
  const identity = await ctx.knowledgeBases.find(tenantId, kb)
  if (identity === undefined) throw new GanglionError('not_found')
  return identity.id
}

function viewOf({ now }: Pick<Context, 'now'>, { secret: _, day, asked, ...site }: Site): SiteView {
  return { ...site, askedToday: day === utcDay(now()) ? asked : 0 }
}
