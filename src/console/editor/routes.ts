import { z } from 'zod'
import { callerOf } from '../../http/auth.ts'
import type { Services } from '../../http/services.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { showEditor, showPreview, submitEdit } from './edit.ts'
import { PageForm } from './page-form.ts'

const KbParams = z.object({ kb: z.string() })
/** Without a seqId: of a new page. */
const PageParams = KbParams.extend({ seqId: z.string().exactOptional() })
const Given = z.object({ title: z.string().max(500).exactOptional(), folder: z.string().max(1000).exactOptional() })
const Typed = z.object({
  kind: z.enum(['link', 'heading', 'tag']),
  q: z.string().max(200),
  target: z.string().max(500).exactOptional(),
  path: z.string().max(1000).exactOptional(),
})

const people = 'curator'

/** Adds the editor of pages and what it asks for while somebody types. */
export function editorRoutes(app: ZodFastify, services: Services): void {
  for (const url of ['/kb/:kb/neurons/:seqId/edit', '/kb/:kb/new']) {
    app.get(
      url,
      { config: { people }, schema: { hide: true, params: PageParams, querystring: Given } },
      async (request, reply) => {
        const { title = '', folder } = request.query
        const isNew = request.params.seqId === undefined
        const given = isNew ? { title, path: folder === undefined ? '' : `${folder}/` } : {}
        return showEditor({ services, request, reply, place: request.params }, given)
      },
    )
    app.post(
      url,
      { config: { people, keepsForm: true }, schema: { hide: true, params: PageParams, body: PageForm } },
      async (request, reply) => submitEdit({ services, request, reply, place: request.params }, request.body),
    )
    // It changes nothing, so it asks for no token: a form that outlived its session is shown here again.
    app.post(
      `${url}/preview`,
      {
        config: { people, keepsForm: true, readsForm: true, rate: 'read' },
        schema: { hide: true, params: PageParams, body: PageForm },
      },
      async (request, reply) => showPreview({ services, request, reply, place: request.params }, request.body),
    )
  }

  app.get(
    '/kb/:kb/complete',
    { config: { people }, schema: { hide: true, params: KbParams, querystring: Typed } },
    async (request) => ({ found: await services.complete(callerOf(request), request.params.kb, request.query) }),
  )

  app.get(
    '/edits/:id',
    { config: { people }, schema: { hide: true, params: z.object({ id: z.uuid() }) } },
    async (request) => ({ isSubmitted: await services.isSubmitted(callerOf(request), request.params.id) }),
  )
}
