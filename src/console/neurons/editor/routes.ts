import { z } from 'zod'
import { complete } from '../../../pages/write/complete.ts'
import { isSubmitted } from '../../../pages/write/open-page.ts'
import { consolePages } from '../../layout/page-routes.ts'
import { showEditor, showPreview, submitEdit } from './edit.ts'
import { PageForm } from './page-form.ts'

const KbPath = z.object({ kb: z.string() })
/** Parameters of an editor's route; a new page has no seqId. */
const EditPath = KbPath.extend({ seqId: z.string().exactOptional() })
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

export const editorRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  for (const url of ['/kb/:kb/neurons/:seqId/edit', '/kb/:kb/new']) {
    pages.get(url, { params: EditPath, query: Given }, (sent) => {
      const { title = '', folder, with: mate } = sent.query
      const isNew = sent.params.seqId === undefined
      const given = isNew ? { title, path: folder === undefined ? '' : `${folder}/` } : {}
      return showEditor(ctx, sent, given, mate)
    })
    const typing = { params: EditPath, body: PageForm } as const
    pages.post(url, { ...typing, config: { keepsForm: true } }, (sent) => submitEdit(ctx, sent))
    // The preview changes nothing, so it needs no token: a form that outlived its session is shown here again.
    const config = { keepsForm: true, readsForm: true, rate: 'read' } as const
    pages.post(`${url}/preview`, { ...typing, config }, (sent) => showPreview(ctx, sent))
  }

  pages.get('/kb/:kb/complete', { params: KbPath, query: Typed }, async ({ reply, caller, params, query }) =>
    reply.send({ found: await complete(ctx, caller, params.kb, query) }),
  )

  pages.get('/edits/:id', { params: z.object({ id: z.uuid() }) }, async ({ reply, caller, params }) =>
    reply.send({ isSubmitted: await isSubmitted(ctx, caller, params.id) }),
  )
})
