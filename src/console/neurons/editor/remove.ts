import type { FastifyReply } from 'fastify'
import { proposedPage } from '../../../contract/console-paths.ts'
import { callerOf } from '../../../http/access/auth.ts'
import { readNeuron } from '../../../pages/read-neuron.ts'
import { openPage } from '../../../pages/write/open-page.ts'
import { removePage } from '../../../pages/write/write-page.ts'
import { type HtmlPart, html } from '../../layout/html-template.ts'
import { send } from '../../layout/send.ts'
import { visitOf } from '../../layout/visit.ts'
import { noteOf, type PageForm } from './page-form.ts'
import type { PagePlace, Reading } from './reading.ts'
import { removalPage } from './remove-page.ts'

/** As many pages that link to one as an answer holds. */
const most = 1000

export async function showRemoval(
  { ctx, request, reply, place }: Reading<PagePlace>,
  shown: { part: number; note?: string; candidateId?: string; warning?: HtmlPart; status?: number },
): Promise<FastifyReply> {
  const caller = callerOf(request)
  const { status = 200, part, note = '', warning } = shown
  const opened = await openPage(ctx, caller, place)
  const { backlinks } = await readNeuron(ctx, caller, place)
  const linking = [...new Map(backlinks.map((link) => [link.seqId, link])).values()]
  const candidateId = shown.candidateId ?? opened.candidateId
  const view = { opened, candidateId, linking, isMore: backlinks.length >= most, note, warning, part }
  return send(reply, removalPage(visitOf(request), view), status)
}

/** Proposes a removal, or removes the page. A page that was changed since it was shown is shown again. */
export async function submitRemoval(reading: Reading<PagePlace>, form: PageForm): Promise<FastifyReply> {
  const { ctx, request, reply, place } = reading
  const target = { seqId: place.seqId, base: form.base }
  const submitted = await removePage(ctx, callerOf(request), target, {
    kb: place.kb,
    candidateId: form.candidate,
    note: noteOf(form),
    publish: form.do === 'publish',
  })
  const { candidateId } = submitted
  if (submitted.status === 'approved' || submitted.refusal === undefined) {
    return reply.redirect(proposedPage(candidateId), 303)
  }
  const warning = html`<p>Somebody has changed this page since you saw it, so it is not removed. Look at it again.
    The removal waits in <a href="/queue/${candidateId}">the queue</a>; if you send it again, that takes its place.</p>`
  return showRemoval(reading, { part: 1, note: form.note, candidateId, warning, status: 409 })
}
