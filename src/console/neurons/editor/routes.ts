import { z } from 'zod'
import type { AppContext } from '../../../app/open-context.ts'
import type { ZodFastify } from '../../../http/zod-compilers.ts'
import { complete } from '../../../pages/write/complete.ts'
import { isSubmitted } from '../../../pages/write/is-submitted.ts'
import { pagesOf } from '../../layout/page-routes.ts'
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

export function editorRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'curator' })
  for (const url of ['/kb/:kb/neurons/:seqId/edit', '/kb/:kb/new']) {
    pages.get(url, { params: PageParams, query: Given }, (sent) => {
      const { title = '', folder, with: mate } = sent.query
      const isNew = sent.params.seqId === undefined
      const given = isNew ? { title, path: folder === undefined ? '' : `${folder}/` } : {}
      return showEditor(ctx, sent, given, mate)
    })
    const typing = { params: PageParams, body: PageForm } as const
    pages.post(url, { ...typing, config: { keepsForm: true } }, (sent) => submitEdit(ctx, sent))
    // It changes nothing, so it asks for no token: a form that outlived its session is shown here again.
    const config = { keepsForm: true, readsForm: true, rate: 'read' } as const
    pages.post(`${url}/preview`, { ...typing, config }, (sent) => showPreview(ctx, sent))
  }

  const neuron = '/kb/:kb/neurons/:seqId'
  const typing = { params: NeuronParams, body: PageForm } as const
  pages.get(`${neuron}/rename`, { params: NeuronParams, query: Renaming }, (sent) => showRename(ctx, sent))
  pages.post(`${neuron}/rename`, typing, (sent) => submitRename(ctx, sent))
  pages.get(`${neuron}/remove`, { params: NeuronParams, query: Parts }, (sent) => showRemoval(ctx, sent, sent.query))
  pages.post(`${neuron}/remove`, typing, (sent) => submitRemoval(ctx, sent))

  pages.get('/kb/:kb/complete', { params: KbParams, query: Typed }, async ({ reply, caller, params, query }) =>
    reply.send({ found: await complete(ctx, caller, params.kb, query) }),
  )

  pages.get('/edits/:id', { params: z.object({ id: z.uuid() }) }, async ({ reply, caller, params }) =>
    reply.send({ isSubmitted: await isSubmitted(ctx, caller, params.id) }),
  )
}
