import formbody from '@fastify/formbody'
import { z } from 'zod'
import { GanglionError } from '../contract/errors.ts'
import type { PagesContext } from '../http/server.ts'
import type { ZodFastify } from '../http/zod-compilers.ts'
import { chatPageRoutes } from './ask/chat-page-routes.ts'
import { questionsRoutes } from './ask/questions-page.ts'
import { searchPageRoutes } from './ask/search-page-routes.ts'
import { sitesRoutes } from './ask/sites-page.ts'
import { answerWithPage, guardPages } from './guard.ts'
import { assetPrefix, findAsset, isCurrent } from './layout/asset.ts'
import { editorRoutes } from './neurons/editor/routes.ts'
import { neuronPageRoutes } from './neurons/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { previewRoutes } from './queue/preview-page.ts'
import { queuePageRoutes } from './queue/routes.ts'
import { testsPageRoutes } from './queue/tests-page.ts'
import { undoPageRoutes } from './queue/undo-page.ts'
import { consentRoutes } from './session/consent-page.ts'
import { openRoutes } from './session/open-routes.ts'
import { accountRoutes } from './session/routes.ts'
import { stopMailsRoutes } from './session/stop-mails.ts'
import { peopleRoutes } from './settings/people-page.ts'
import { settingsRoutes } from './settings/routes.ts'
import { sourceRoutes } from './sources/routes.ts'

const AssetPath = z.object({ version: z.string(), '*': z.string() })

/** Bytes: the largest content of a Neuron, each of them percent-encoded, and its other fields. */
const formLimit = 2 * 1024 * 1024

export async function consoleRoutes(app: ZodFastify, context: PagesContext): Promise<void> {
  const { ctx } = context
  await app.register(formbody, { bodyLimit: formLimit })
  app.setErrorHandler(answerWithPage)
  // With `no-referrer` browsers would not say from where a form comes.
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
    accountRoutes(pages, ctx)
    consentRoutes(pages, ctx)
    peopleRoutes(pages, ctx)
    overviewRoutes(pages, ctx)
    settingsRoutes(pages, ctx)
    await sourceRoutes(pages, ctx)
    queuePageRoutes(pages, ctx)
    undoPageRoutes(pages, ctx)
    testsPageRoutes(pages, ctx)
    chatPageRoutes(pages, ctx)
    questionsRoutes(pages, ctx)
    sitesRoutes(pages, ctx)
    neuronPageRoutes(pages, ctx)
    editorRoutes(pages, ctx)
    searchPageRoutes(pages, ctx)
    await previewRoutes(pages, ctx)
  })
}

/** Serves styles and scripts to anybody: they tell nothing. */
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
        // A page of an earlier server gets what there is now.
        'cache-control': isCurrent(version) ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
      })
      return reply.type(asset.type).send(isCompressed ? await asset.compressed() : await asset.content())
    },
  )
}
