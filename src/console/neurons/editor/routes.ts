import { z } from 'zod'
import type { AppContext } from '../../../app/open-context.ts'
import { callerOf } from '../../../http/access/auth.ts'
import type { ZodFastify } from '../../../http/zod-compilers.ts'
import { complete } from '../../../pages/write/complete.ts'
import { isSubmitted } from '../../../pages/write/is-submitted.ts'
import { showEditor, showPreview, submitEdit } from './edit.ts'
import { PageForm } from './page-form.ts'
import { showRemoval, submitRemoval } from './remove.ts'
import { showRename, submitRename } from './rename.ts'

const KbParams = z.object({ kb: z.string() })
/** Parameters of an editor's route; a new page has no seqId. */
const PageParams = KbParams.extend({ seqId: z.string().exactOptional() })
const NeuronParams = KbParams.extend({ seqId: z.string() })
const part = z
  .string()
  .regex(/^[1-9][0-9]?$/, 'must be a whole number from 1 to 99')
  .transform(Number)
  .default(1)
const Parts = z.object({ part })
const Renaming = z.object({ title: z.string().exactOptional(), path: z.string().exactOptional(), part })
const Given = z.object({
  title: z.string().max(500).exactOptional(),
  folder: z.string().max(1000).exactOptional(),
  with: z.uuid().exactOptional(),
})
const Typed = z.object({
  kind: z.enum(['link', 'heading', 'tag']),
  q: z.string().max(200),
  target: z.string().max(500).exactOptional(),
  path: z.string().max(1000).exactOptional(),
})

const people = 'curator'

export function editorRoutes(app: ZodFastify, ctx: AppContext): void {
  for (const url of ['/kb/:kb/neurons/:seqId/edit', '/kb/:kb/new']) {
    app.get(url, { config: { people }, schema: { params: PageParams, querystring: Given } }, async (request, reply) => {
      const { title = '', folder, with: mate } = request.query
      const isNew = request.params.seqId === undefined
      const given = isNew ? { title, path: folder === undefined ? '' : `${folder}/` } : {}
      return showEditor({ ctx, request, reply, place: request.params }, given, mate)
    })
    app.post(
      url,
      { config: { people, keepsForm: true }, schema: { params: PageParams, body: PageForm } },
      async (request, reply) => submitEdit({ ctx, request, reply, place: request.params }, request.body),
    )
    // It changes nothing, so it asks for no token: a form that outlived its session is shown here again.
    app.post(
      `${url}/preview`,
      {
        config: { people, keepsForm: true, readsForm: true, rate: 'read' },
        schema: { params: PageParams, body: PageForm },
      },
      async (request, reply) => showPreview({ ctx, request, reply, place: request.params }, request.body),
    )
  }

  const neuron = '/kb/:kb/neurons/:seqId'
  app.get(
    `${neuron}/rename`,
    { config: { people }, schema: { params: NeuronParams, querystring: Renaming } },
    async (request, reply) => showRename({ ctx, request, reply, place: request.params }, request.query),
  )
  app.post(
    `${neuron}/rename`,
    { config: { people }, schema: { params: NeuronParams, body: PageForm } },
    async (request, reply) => submitRename({ ctx, request, reply, place: request.params }, request.body),
  )
  app.get(
    `${neuron}/remove`,
    { config: { people }, schema: { params: NeuronParams, querystring: Parts } },
    async (request, reply) => showRemoval({ ctx, request, reply, place: request.params }, request.query),
  )
  app.post(
    `${neuron}/remove`,
    { config: { people }, schema: { params: NeuronParams, body: PageForm } },
    async (request, reply) => submitRemoval({ ctx, request, reply, place: request.params }, request.body),
  )

  app.get(
    '/kb/:kb/complete',
    { config: { people }, schema: { params: KbParams, querystring: Typed } },
    async (request) => ({ found: await complete(ctx, callerOf(request), request.params.kb, request.query) }),
  )

  app.get('/edits/:id', { config: { people }, schema: { params: z.object({ id: z.uuid() }) } }, async (request) => ({
    isSubmitted: await isSubmitted(ctx, callerOf(request), request.params.id),
  }))
}
