import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { requireStopLink } from '../../events/notices/stop-link.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { html } from '../layout/html-template.ts'
import { barePage } from '../layout/page.ts'
import { send } from '../layout/page-routes.ts'

const Link = z.object({ to: z.uuid(), signature: z.string().max(100) })

/**
 * Adds the page behind the link in a mail by which a person unsubscribes without signing in. Mail programs send its form by themselves (RFC
 * 8058), without a cookie or an `Origin`: the signature is sufficient. Opening the link, as scanners of links do, does not unsubscribe.
 */
export function stopMailsRoutes(app: ZodFastify, ctx: AppContext): void {
  // The body does not matter: the link contains everything.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, body, done) => void body.resume().once('end', () => done(null)))
  app.route({
    ...{ method: ['GET', 'POST'], url: '/notices/stop', bodyLimit: 16 * 1024 },
    schema: { querystring: Link },
    handler: async ({ query, method }, reply) => {
      await requireStopLink(ctx, query)
      if (method === 'POST') await ctx.users.setNotices(query.to, 'off')
      const main =
        method === 'POST'
          ? html`<h1>Stopped</h1><p>You get no more mails. To get them again, choose so in <a href="/account#mails">your account</a>.</p>`
          : html`<h1>Stop mails</h1><p>You can choose one mail a day instead, in <a href="/account#mails">your account</a>.</p><form method="post"><button type="submit">Stop all mails to me</button></form>`
      return send(reply.header('cache-control', 'no-store'), barePage({ title: 'Mails', main }))
    },
  })
}
