import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { answerFile } from '../../http/response/file-answer.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readFile } from '../../pages/attachments/read-file.ts'
import { KbParams, pagesOf } from '../layout/page-routes.ts'
import { graphRoutes } from './graph-page.ts'
import { historyRoutes } from './history-page.ts'
import { listingRoutes } from './listing-pages.ts'
import { neuronViewRoutes } from './neuron-page.ts'

/** Adds the pages that read Neurons: one of them, its history, folders, tags, the graph, and the files of a knowledge base. */
export function neuronPageRoutes(app: ZodFastify, ctx: AppContext): void {
  for (const addPages of [neuronViewRoutes, historyRoutes, listingRoutes, graphRoutes]) addPages(app, ctx)

  pagesOf(app, {}).get('/kb/:kb/files/*', { params: KbParams.extend({ '*': z.string() }) }, async (sent) => {
    const { kb, '*': path } = sent.params
    return answerFile(sent.request, sent.reply, await readFile(ctx, sent.caller, kb, path))
  })
}
