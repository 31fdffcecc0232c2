import type { FastifyReply } from 'fastify'
import { neuronPage, proposedPage } from '../../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../../contract/errors.ts'
import { callerOf } from '../../../http/access/auth.ts'
import { type OpenPage, openPage } from '../../../pages/write/open-page.ts'
import { type PageRename, previewRename } from '../../../pages/write/preview-rename.ts'
import { writePage } from '../../../pages/write/write-page.ts'
import type { FormErrors } from '../../layout/form.ts'
import { type HtmlPart, html } from '../../layout/html-template.ts'
import { send, visitOf } from '../../layout/page-routes.ts'
import { fieldsOf, formChanges, type PageForm, typedIn } from './page-form.ts'
import type { PagePlace, Reading } from './reading.ts'
import { type Names, type RenameView, renamePage } from './rename-page.ts'

export async function showRename(
  { ctx, request, reply, place }: Reading<PagePlace>,
  { title, path, part }: Partial<Names> & { part: number },
): Promise<FastifyReply> {
  const caller = callerOf(request)
  const opened = await openPage(ctx, caller, place)
  const shown = fieldsOf(opened)
  const typed = { title: title ?? shown.title, path: path ?? shown.path }
  const view: RenameView = { opened, candidateId: opened.candidateId, typed, part }
  if (title === undefined || path === undefined) return send(reply, renamePage(visitOf(request), view))
  const { write, errors } = renameOf(opened, typed)
  try {
    if (errors !== undefined) throw new ValidationError(errors)
    const preview = await previewRename(ctx, caller, write, { kb: place.kb })
    return send(reply, renamePage(visitOf(request), { ...view, preview }))
  } catch (error) {
    return sendRefused({ request, reply }, view, error)
  }
}

export async function submitRename(
  { ctx, request, reply, place }: Reading<PagePlace>,
  form: PageForm,
): Promise<FastifyReply> {
  const caller = callerOf(request)
  const opened = await openPage(ctx, caller, { ...place, at: form.base })
  const { title, path } = typedIn(form, fieldsOf(opened))
  const typed = { title, path }
  const view: RenameView = { opened, candidateId: form.candidate, typed, part: 1 }
  try {
    const { write, errors } = renameOf(opened, typed)
    if (errors !== undefined) throw new ValidationError(errors)
    const submitted = await writePage(ctx, caller, write, {
      kb: place.kb,
      candidateId: form.candidate,
      publish: form.do === 'publish',
    })
    if (submitted.status === 'approved') {
      return reply.redirect(`${neuronPage(opened.kb.slug, submitted.seqId)}?done=renamed`, 303)
    }
    const { candidateId, refusal } = submitted
    if (refusal === undefined) return reply.redirect(proposedPage(candidateId), 303)
    const warning = html`<p>${refusal.message} The rename waits in <a href="/queue/${candidateId}">the queue</a>.</p>`
    return send(reply, renamePage(visitOf(request), { ...view, warning }), 409)
  } catch (error) {
    return sendRefused({ request, reply }, view, error)
  }
}

function renameOf(
  opened: OpenPage,
  { title, path }: Names,
): { write: PageRename; errors: Record<string, string[]> | undefined } {
  const shown = fieldsOf(opened)
  const { changes, errors } = formChanges({ ...shown, title, path }, shown)
  const target = { seqId: opened.seqId, base: opened.commit }
  const refused = Object.entries(errors.fieldErrors ?? {}).map(([name, messages = []]) => [name, [...messages]])
  if (path.trim() === '') refused.push(['path', ['must not be blank']])
  return {
    write: { target, ...(path === shown.path ? {} : { path }), changes },
    errors: refused.length === 0 ? undefined : Object.fromEntries(refused),
  }
}

function sendRefused(
  { request, reply }: Pick<Reading<PagePlace>, 'request' | 'reply'>,
  view: RenameView,
  error: unknown,
): FastifyReply {
  const show = (status: number, shown: { errors?: FormErrors; warning?: HtmlPart }) =>
    send(reply, renamePage(visitOf(request), { ...view, ...shown }), status)
  if (error instanceof ValidationError) return show(422, { errors: error })
  if (error instanceof GanglionError && error.status < 500) {
    return show(error.status, { warning: error.message })
  }
  throw error
}
