import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { NewSite } from '../../contract/administration.ts'
import { parseSent } from '../../contract/faults.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { listQuestions } from '../../search/kb/list-questions.ts'
import {
  addSite,
  changeSite,
  disableSite,
  enableSite,
  listSites,
  readSite,
  removeSite,
} from '../../sites/manage-sites.ts'
import { refusedForm } from '../layout/form.ts'
import { KbParams } from '../layout/page-query.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { type OneSiteView, type SiteForm, type SitesView, sitePage, sitesPage, sitesPath } from './sites-page.ts'

const text = z.string().default('')
const Typed = z.object({ name: text, origins: text, perMinute: text, perDay: text })
const SiteParams = KbParams.extend({ id: z.uuid() })
const done = (...names: string[]) => z.object({ done: z.enum(names).optional().catch(undefined) })
const notices: Readonly<Record<string, string>> = {
  added: 'The site is added: paste the lines below into its pages.',
  changed: 'Saved.',
  disabled: 'The site is off: its readers are told so.',
  enabled: 'The site is on.',
  removed: 'The site is removed.',
}

/** Adds the pages of sites. */
export function sitesRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'curator' } as const
  const ofAll = { params: KbParams }
  const ofOne = { params: SiteParams }

  app.get('/kb/:kb/sites', { config, schema: { ...ofAll, querystring: done('removed') } }, async (request, reply) =>
    sendList(request, reply, request.params.kb, { notice: notices[request.query.done ?? ''] }),
  )

  app.post('/kb/:kb/sites', { config, schema: { ...ofAll, body: Typed } }, async (request, reply) => {
    const { kb } = request.params
    try {
      const { id } = await addSite(ctx, callerOf(request), kb, read(request.body))
      return reply.redirect(`${sitesPath(kb)}/${id}?done=added`, 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return sendList(request, reply, kb, { typed: request.body, errors }, status)
    }
  })

  app.get(
    '/kb/:kb/sites/:id',
    { config, schema: { ...ofOne, querystring: done('added', 'changed', 'disabled', 'enabled') } },
    async (request, reply) => sendOne(request, reply, request.params, { notice: notices[request.query.done ?? ''] }),
  )

  app.post('/kb/:kb/sites/:id', { config, schema: { ...ofOne, body: Typed } }, async (request, reply) => {
    const { kb, id } = request.params
    try {
      await changeSite(ctx, callerOf(request), { kb, id }, read(request.body))
      return reply.redirect(`${sitesPath(kb)}/${id}?done=changed`, 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return sendOne(request, reply, request.params, { typed: request.body, errors }, status)
    }
  })

  for (const [name, act] of Object.entries({ disable: disableSite, enable: enableSite })) {
    app.post(`/kb/:kb/sites/:id/${name}`, { config, schema: ofOne }, async (request, reply) => {
      const { kb, id } = request.params
      await act(ctx, callerOf(request), { kb, id })
      return reply.redirect(`${sitesPath(kb)}/${id}?done=${name}d`, 303)
    })
  }

  app.post('/kb/:kb/sites/:id/remove', { config, schema: ofOne }, async (request, reply) => {
    const { kb, id } = request.params
    await removeSite(ctx, callerOf(request), { kb, id })
    return reply.redirect(`${sitesPath(kb)}?done=removed`, 303)
  })

  async function sendList(
    request: FastifyRequest,
    reply: FastifyReply,
    kbName: string,
    said: Pick<SitesView, 'notice' | 'typed' | 'errors'>,
    status = 200,
  ): Promise<FastifyReply> {
    const caller = callerOf(request)
    const [kb, sites] = [await describeKb(ctx, caller, kbName), await listSites(ctx, caller, kbName)]
    return send(reply, sitesPage(visitOf(request), { kb, sites, ...said }), status)
  }

  async function sendOne(
    request: FastifyRequest,
    reply: FastifyReply,
    address: { kb: string; id: string },
    said: Pick<OneSiteView, 'notice' | 'typed' | 'errors'>,
    status = 200,
  ): Promise<FastifyReply> {
    const caller = callerOf(request)
    const site = await readSite(ctx, caller, address)
    const kb = await describeKb(ctx, caller, address.kb)
    const { questions: refused } = await listQuestions(ctx, caller, kb.slug, { order: 'refused', from: 0, limit: 10 })
    const base = ctx.urls.base || `${request.protocol}://${request.host}`
    return send(reply, sitePage(visitOf(request), { kb, site, base, refused, ...said }), status)
  }
}

function read({ origins, perMinute, perDay, ...typed }: SiteForm): NewSite {
  const lines = origins.split(/\s+/).filter((line) => line !== '')
  const numberOf = (typed: string) => (/^\d{1,9}$/.test(typed.trim()) ? Number(typed) : typed)
  const input = { name: typed.name.trim(), origins: lines, perMinute: numberOf(perMinute), perDay: numberOf(perDay) }
  return parseSent(NewSite, input)
}
