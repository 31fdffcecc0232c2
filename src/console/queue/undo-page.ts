import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { parseSent } from '../../contract/faults.ts'
import { UndoInput } from '../../contract/undo.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { proposeUndo } from '../../review/propose-undo.ts'
import { button, type FormErrors, field, form, refusedForm, selectField } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { candidateUrl } from './view.ts'

const text = z.string().max(200).default('')
const Typed = z.object({ kb: text, by: text, writer: text, since: text })
type Typed = z.output<typeof Typed>

/** Adds the page on which a curator asks to take back what one writer wrote. */
export function undoPageRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'curator' } as const

  app.get('/undo', { config, schema: { querystring: Typed } }, async (request, reply) => {
    const { knowledgeBases } = await listKnowledgeBases(ctx, callerOf(request))
    return send(reply, undoPage(visitOf(request), { kbs: knowledgeBases, typed: request.query }))
  })

  app.post('/undo', { config, schema: { body: Typed } }, async (request, reply) => {
    const { body: typed } = request
    const caller = callerOf(request)
    const answer = (more: { errors?: FormErrors; notice?: string }, status = 200) =>
      listKnowledgeBases(ctx, caller).then(({ knowledgeBases }) =>
        send(reply, undoPage(visitOf(request), { kbs: knowledgeBases, typed, ...more }), status),
      )
    try {
      const since = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(typed.since) ? `${typed.since}:00Z` : typed.since
      const input = parseSent(UndoInput, { by: typed.by, writer: typed.writer.trim(), since })
      const { reversals, message } = await proposeUndo(ctx, caller, typed.kb, input)
      const first = reversals[0]?.candidateId ?? undefined
      if (first === undefined) return answer({ notice: message })
      return reply.redirect(candidateUrl(first, {}, { proposed: '1' }), 303)
    } catch (error) {
      const { status, errors } = refusedForm(error)
      return answer({ errors }, status)
    }
  })
}

function undoPage(
  visit: Visit,
  {
    kbs,
    typed: { kb, by, writer, since },
    errors,
    notice,
  }: { kbs: readonly { slug: string }[]; typed: Typed; errors?: FormErrors; notice?: string },
): Html {
  return page(visit, {
    title: 'Undo',
    notice,
    main: html`<h1>Undo what one writer wrote</h1>
      <p>For each page that it changed since then, a reversal waits in the queue. You approve or dismiss them as one.</p>
      ${form(visit, { action: '/undo', errors }, [
        selectField({
          name: 'kb',
          label: 'Knowledge base',
          value: kb,
          choices: kbs.map(({ slug }) => ({ value: slug, label: slug })),
          errors,
        }),
        selectField({
          name: 'by',
          label: 'Written by',
          value: by,
          choices: UndoInput.shape.by.options.map((value) => ({ value, label: value })),
          errors,
        }),
        field({
          name: 'writer',
          label: 'Name',
          value: writer,
          errors,
          hint: 'Of a key, connector or model its name, of a person the e-mail address, of a Source the UUID.',
          attributes: { required: true, maxlength: 200 },
        }),
        field({
          name: 'since',
          label: 'Since',
          value: since,
          errors,
          hint: 'A day or a time in UTC, such as 2026-11-26 or 2026-11-26T08:00:00Z.',
          attributes: { required: true },
        }),
        button('Propose to undo it'),
      ])}`,
  })
}
