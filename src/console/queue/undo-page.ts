import { z } from 'zod'
import { parseSent } from '../../contract/faults.ts'
import { UndoInput } from '../../contract/undo.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { proposeUndo } from '../../review/propose-undo.ts'
import { button, choicesOf, controlsOf, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, type FormView } from '../layout/page-routes.ts'
import { candidateUrl } from './view.ts'

const text = z.string().max(200).default('')
const Typed = z.object({ kb: text, by: text, writer: text, onBehalfOf: z.string().max(400).default(''), since: text })
type Typed = z.output<typeof Typed>

export const undoPageRoutes = consolePages({ people: 'curator' }, (pages, ctx) => {
  pages.get('/undo', { query: Typed }, (sent) => undoPage(sent, { typed: sent.query }))

  pages.form('/undo', {
    body: Typed,
    async act(sent) {
      const typed = sent.body
      const since = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(typed.since) ? `${typed.since}:00Z` : typed.since
      const onBehalfOf = typed.onBehalfOf.trim()
      const only = onBehalfOf === '' ? {} : { onBehalfOf }
      const input = parseSent(UndoInput, { by: typed.by, writer: typed.writer.trim(), ...only, since })
      const { reversals, message } = await proposeUndo(ctx, sent.caller, typed.kb, input)
      const first = reversals[0]?.candidateId ?? undefined
      if (first === undefined) return undoPage(sent, { typed, notice: message })
      return { to: candidateUrl(first, {}, { proposed: '1' }) }
    },
    refused: (sent, { errors }) => undoPage(sent, { typed: sent.body, errors }),
  })

  async function undoPage(
    { visit, caller }: Pick<ConsoleRequest, 'visit' | 'caller'>,
    { notice, typed = {}, errors }: FormView<Partial<Typed>>,
  ): Promise<Html> {
    const { knowledgeBases } = await listKnowledgeBases(ctx, caller)
    const { text, select } = controlsOf(typed, errors)
    return page(visit, {
      title: 'Undo',
      notice,
      main: html`<h1>Undo what one writer wrote</h1>
        <p>For each page that it changed since then, a reversal waits in the queue. You approve or dismiss them as one.</p>
        ${form(visit, { action: '/undo', errors }, [
          select('kb', 'Knowledge base', choicesOf(knowledgeBases.map(({ slug }) => slug))),
          select('by', 'Written by', choicesOf(UndoInput.shape.by.options)),
          text('writer', 'Name', {
            hint: 'The name of a key, connector or model, the e-mail address of a person, or the UUID of a Source.',
            ...{ required: true, maxlength: 200 },
          }),
          text('onBehalfOf', 'Only on behalf of', {
            hint: 'The id of an end user whom the writer named in its candidates. Empty: all that it wrote.',
            maxlength: 400,
          }),
          text('since', 'Since', {
            hint: 'A day or a time in UTC, such as 2026-11-26 or 2026-11-26T08:00:00Z.',
            required: true,
          }),
          button('Propose to undo it'),
        ])}`,
    })
  }
})
