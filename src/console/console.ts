import querystring from 'node:querystring'
import formbody from '@fastify/formbody'
import { z } from 'zod'
import { GanglionError } from '../contract/errors.ts'
import { formTokenPath } from '../http/openapi.ts'
import type { PagesContext } from '../http/server.ts'
import type { ZodFastify } from '../http/zod-compilers.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { chatPageRoutes } from './ask/chat-page.ts'
import { paletteRoutes } from './ask/jumps.ts'
import { questionsRoutes } from './ask/questions-page.ts'
import { searchPageRoutes } from './ask/search-page.ts'
import { sitesRoutes } from './ask/sites-page.ts'
import { answerWithPage, guardPages } from './guard.ts'
import { assetPrefix, findAsset, isCurrent } from './layout/asset.ts'
import { pagesOf } from './layout/page-routes.ts'
import { renameRoutes } from './neurons/editor/rename-routes.ts'
import { editorRoutes } from './neurons/editor/routes.ts'
import { neuronPageRoutes } from './neurons/routes.ts'
import { activityRoutes } from './overview/activity-page.ts'
import { findingsRoutes } from './overview/findings-page.ts'
import { homeRoutes } from './overview/home-page.ts'
import { previewRoutes } from './queue/preview-page.ts'
import { queuePageRoutes } from './queue/routes.ts'
import { testsPageRoutes } from './queue/tests-page.ts'
import { undoPageRoutes } from './queue/undo-page.ts'
import { accountRoutes } from './session/account-page.ts'
import { consentRoutes } from './session/consent-page.ts'
import { openRoutes } from './session/open-routes.ts'
import { stopMailsRoutes } from './session/stop-mails.ts'
import { forgesRoutes } from './settings/forges-page.ts'
import { healthRoutes } from './settings/health-page.ts'
import { kbLifeRoutes } from './settings/kb-life-page.ts'
import { kbSettingsRoutes } from './settings/kb-settings-page.ts'
import { keysRoutes } from './settings/keys-page.ts'
import { peopleRoutes } from './settings/people-page.ts'
import { settingsRoutes } from './settings/routes.ts'
import { webhooksRoutes } from './settings/webhooks-page.ts'
import { sourceListRoutes } from './sources/source-list-page.ts'
import { sourceRoutes } from './sources/source-page.ts'

/** Pages of people who are signed in. */
const signedIn = [
  ...[accountRoutes, consentRoutes],
  ...[peopleRoutes, settingsRoutes, forgesRoutes, keysRoutes, webhooksRoutes, healthRoutes],
  ...[kbSettingsRoutes, kbLifeRoutes, homeRoutes, activityRoutes, findingsRoutes, sourceListRoutes, sourceRoutes],
  ...[queuePageRoutes, undoPageRoutes, testsPageRoutes, chatPageRoutes, questionsRoutes, sitesRoutes],
  ...[neuronPageRoutes, editorRoutes, renameRoutes, searchPageRoutes, paletteRoutes, previewRoutes],
]
const AssetPath = z.object({ version: z.string(), '*': z.string() })

/** Maximum bytes of a form: the largest content of a Neuron, percent-encoded, and its other fields. */
const formLimit = 2 * 1024 * 1024

export async function consoleRoutes(app: ZodFastify, context: PagesContext): Promise<void> {
  const { ctx } = context
  await app.register(formbody, { bodyLimit: formLimit, parser })
  app.setErrorHandler(answerWithPage)
  // With `no-referrer`, browsers would not send the origin of a form.
  app.addHook('onRequest', async (_, reply) => void reply.header('referrer-policy', 'same-origin'))
  assetRoutes(app)
  app.get('/*', async (request, reply) => {
    await app.sessions.read(request, reply)
    throw new GanglionError('not_found')
  })
  await app.register(async (open: ZodFastify) => openRoutes(open, ctx))
  await app.register(async (anybody: ZodFastify) => stopMailsRoutes(anybody, ctx))
  await app.register(async (pages: ZodFastify) => {
    guardPages(pages, context)
    for (const addPages of signedIn) await addPages(pages, ctx)
    // The page `/docs` is not rendered by the console, so it requests the token of its forms.
    pagesOf(pages, {}).get(formTokenPath, {}, ({ reply, visit }) => reply.type('text/plain').send(visit.formToken))
  })
}

/** Parses a form. Line endings become LF, since browsers send CRLF. */
function parser(form: string) {
  const decode = (text: string) => unixLines(querystring.unescape(text))
  return querystring.parse(form, '&', '=', { maxKeys: 0, decodeURIComponent: decode })
}

/** Serves styles and scripts to everybody: they contain no data. */
function assetRoutes(app: ZodFastify): void {
  app.get(
    `${assetPrefix}/:version/*`,
    { schema: { params: AssetPath } },
    async ({ params: { version, '*': name }, headers }, reply) => {
      const asset = findAsset(name)
      if (asset === undefined) throw new GanglionError('not_found')
      const isCompressed = /\bbr\b/.test(String(headers['accept-encoding'] ?? ''))
      if (isCompressed) reply.header('content-encoding', 'br')
      reply.headers({
        // A page of an earlier version gets the current file.
        'cache-control': isCurrent(version) ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
      })
      return reply.type(asset.type).send(isCompressed ? await asset.compressed() : await asset.content())
    },
  )
}
