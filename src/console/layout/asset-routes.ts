import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { assetPrefix, findAsset, isCurrent } from './asset.ts'

const AssetPath = z.object({ version: z.string(), '*': z.string() })

/** Serves styles and scripts to anybody: they tell nothing. */
export function assetRoutes(app: ZodFastify): void {
  app.get(
    `${assetPrefix}/:version/*`,
    { schema: { hide: true, params: AssetPath } },
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
