import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../app/open-context.ts'
import { rateAnswer } from '../chat/rate-answer.ts'
import { ChatInput, VoteInput } from '../contract/chat.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { RetrieveInput } from '../contract/search.ts'
import { retrieve } from '../search/kb/retrieve.ts'
import { openSite, questionRefusal, type VisitingPage, visitorOf, visitorToken } from '../sites/site-visitor.ts'
import type { Site } from '../state/sites.ts'
import { bearerToken, callerOf } from './access/auth.ts'
import type { Limits } from './access/rate-limits.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { chatAnswers } from './v1/chat-routes.ts'
import type { ZodFastify } from './zod-compilers.ts'

/** Maximum requests of an address per minute: for tokens, each of which is a new visitor, and by all its visitors. */
const most = { token: 60, use: 300 }

const SitePath = z.object({ site: z.string() })
const siteUrl = '/v1/sites/:site'
const names = ['ganglion-chat.js', 'trail-chat.js']

type Script = { code: string; version: string }
let made: Promise<Script> | undefined

/** Returns the script, which a release has in its widget package. A checkout builds it at the first request. */
function widgetScript(): Promise<Script> {
  made ??= readOrBundle().then(
    (code) => ({ code, version: hash('sha256', code).slice(0, 12) }),
    (error) => {
      made = undefined
      throw error
    },
  )
  return made
}

async function readOrBundle(): Promise<string> {
  if (import.meta.url.endsWith('.js')) return readFile(new URL('../widget/ganglion-chat.js', import.meta.url), 'utf8')
  const { bundleWidget } = await import('#widget')
  return bundleWidget()
}

/** Adds the script of the widget, and its endpoints for the pages of sites. */
export async function widgetRoutes(app: ZodFastify, ctx: AppContext, limits: Limits): Promise<void> {
  await app.register(async (open: ZodFastify) => {
    // Any page may load it.
    open.addHook('onRequest', async (_, reply) => {
      reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    })
    const refuse = refuseOtherMethods(open)
    for (const name of names) {
      open.get(`/v1/${name}`, async (_, reply) => {
        const { version } = await widgetScript()
        return reply.header('cache-control', 'public, max-age=300').redirect(`/widget/v1/${version}/${names[0]}`)
      })
    }
    const params = z.object({ version: z.string() })
    open.get(`/v1/:version/${names[0]}`, { schema: { params } }, async (request, reply) => {
      const { code, version } = await widgetScript()
      // A page with an earlier version gets the present one.
      const age = request.params.version === version ? 'public, max-age=31536000, immutable' : 'no-cache'
      return reply
        .type('text/javascript; charset=utf-8')
        .headers({ 'cache-control': age, etag: `"${version}"` })
        .send(code)
    })
    refuse()
  })
  await app.register(async (site: ZodFastify) => siteRoutes(site, ctx, limits))
}

function siteRoutes(app: ZodFastify, ctx: AppContext, limits: Limits): void {
  const sites = new WeakMap<FastifyRequest, Site>()
  const siteOf = (request: FastifyRequest): Site => {
    const site = sites.get(request)
    if (site === undefined) throw new GanglionError('not_found')
    return site
  }

  // These endpoints use no cookies, so every page may read why a request is rejected.
  app.addHook('onRequest', async (_, reply) => {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'retry-after, x-request-id',
      'cache-control': 'no-store',
    })
  })
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS') return
    const page = pageOf(request)
    const site = await openSite(ctx, SitePath.parse(request.params).site, page)
    sites.set(request, site)
    const kind = request.routeOptions.url?.endsWith('/token') ? 'token' : 'use'
    await limits.countNetwork(request, reply, { name: `site-${kind} ${site.id}`, most: most[kind] })
    if (kind === 'token') return
    request.caller = visitorOf(site, page, ctx.now(), bearerToken(request.headers.authorization))
    await limits.countRequest(request, reply, 'write')
    await limits.checkDisk()
  })
  const refuse = refuseOtherMethods(app)
  const schema = { params: SitePath }

  for (const name of ['token', 'chat', 'feedback', 'retrieve']) {
    app.options(`${siteUrl}/${name}`, { schema }, async (_, reply) =>
      reply
        .headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': 7200,
        })
        .code(204)
        .send(),
    )
  }

  app.post(`${siteUrl}/token`, { schema }, async (request) =>
    visitorToken(siteOf(request), pageOf(request), ctx.now(), bearerToken(request.headers.authorization)),
  )

  const answer = chatAnswers(app, ctx)
  app.post(`${siteUrl}/chat`, { schema: { ...schema, body: ChatInput } }, async (request, reply) => {
    const site = siteOf(request)
    const refusal = await questionRefusal(ctx, site, callerOf(request))
    if (refusal !== undefined) {
      reply.header('retry-after', refusal.seconds)
      throw new GanglionError('rate_limited', refusal.message)
    }
    const question = {
      ...request.body,
      knowledgeBaseId: site.kbId,
      audience: 'public' as const,
      history: [],
      blame: false,
    }
    return (await answer(request, reply, question)) ?? reply
  })

  // Visitors cannot propose answer tests.
  const body = VoteInput.omit({ shouldCite: true, replaces: true })
  app.post(`${siteUrl}/feedback`, { schema: { ...schema, body } }, async (request, reply) => {
    // Uses the stored question and answer, not those that a page sends.
    const { sessionId: id, turnId, question: _, answer: __, citations: ___, ...rating } = request.body
    if (id === undefined || turnId === undefined) throw new ValidationError({ turnId: ['must be given'] })
    const { candidateId, status } = await rateAnswer(
      ctx,
      callerOf(request),
      { kb: siteOf(request).kbId, id, turnId },
      rating,
    )
    return reply.code(201).send({ candidateId, status })
  })

  app.post(`${siteUrl}/retrieve`, { schema: { ...schema, body: RetrieveInput } }, async (request) =>
    retrieve(ctx, callerOf(request), siteOf(request).kbId, { ...request.body, audience: 'public', blame: false }),
  )
  refuse()
}

function pageOf({ headers }: FastifyRequest): VisitingPage {
  const { origin, 'sec-fetch-site': site } = headers
  return { origin, fetchSite: typeof site === 'string' ? site : undefined }
}
