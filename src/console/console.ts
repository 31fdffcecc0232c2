import formbody from '@fastify/formbody'
import type { ZodFastify } from '../http/zod-compilers.ts'
import { assetRoutes } from './layout/asset-routes.ts'

/** Adds the pages for people who work in a browser, with their styles and scripts. */
export async function consoleRoutes(app: ZodFastify): Promise<void> {
  await app.register(formbody)
  assetRoutes(app)
}
