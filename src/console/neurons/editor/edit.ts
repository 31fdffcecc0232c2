import type { AppContext } from '../../../app/open-context.ts'
import { neuronPage, proposedPage } from '../../../contract/console-paths.ts'
import { GanglionError, undefinedOn, ValidationError } from '../../../contract/errors.ts'
import { renderMarkdown } from '../../../pages/render-page.ts'
import { checkPage } from '../../../pages/write/check-page.ts'
import { type BlankPage, type OpenPage, openBlankPage, openPage } from '../../../pages/write/open-page.ts'
import { rebasePage } from '../../../pages/write/rebase-page.ts'
import type { Refusal } from '../../../pages/write/submit-page.ts'
import { writePage } from '../../../pages/write/write-page.ts'
import type { PageWrite } from '../../../pages/write/written-page.ts'
import type { Caller } from '../../../rules/access/caller.ts'
import type { FormErrors } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { type ConsoleRequest, isFragment, type PageAnswer } from '../../layout/page-routes.ts'
import { type Beside, beside } from './beside.ts'
import { type EditorView, editorPage, type PageConflict } from './editor-page.ts'
import {
  blankFields,
  fieldsOf,
  formChanges,
  isTooLarge,
  isTyped,
  noteOf,
  type PageFields,
  type PageForm,
  typedIn,
} from './page-form.ts'

const labels: readonly [keyof PageFields, string][] = [
  ['title', 'Title'],
  ['tags', 'Tags'],
  ['aliases', 'Other names'],
  ['edges', 'Relations to other pages'],
  ['audience', 'Who may read the page'],
  ['readers', 'Who may read the page'],
]

type EditPlace = { kb: string; seqId?: string | undefined }
type SentEdit = ConsoleRequest<EditPlace, unknown, PageForm>

/** An edit as its form has it: the version that it began from, and what it changes there. */
type Edit = { opened: OpenPage | BlankPage; fields: PageFields; write: PageWrite; errors: FormErrors }

export async function showEditor(
  ctx: AppContext,
  { visit, caller, params }: ConsoleRequest<EditPlace>,
  given: Partial<PageFields>,
  mate: string | undefined,
): Promise<Html> {
  const opened = await open(ctx, caller, params, { mate })
  const view = viewOf(opened, { ...shownIn(opened), ...given })
  const problems = 'seqId' in opened ? opened.problems : []
  const warning = problems.length > 0 ? unreadable(problems) : isTooLarge(view.fields) && tooLarge
  return editorPage(visit, { ...view, warning })
}

/** Shows what a form's page would look like and what is wrong with it, and writes nothing. */
export async function showPreview(ctx: AppContext, sent: SentEdit): Promise<Html> {
  const edit = await readEdit(ctx, sent)
  const seen = await lookAt(ctx, sent.caller, edit)
  if (isFragment(sent.request)) return beside(seen)
  return editorPage(sent.visit, { ...viewOf(edit.opened, edit.fields, sent.body), beside: seen })
}

/** Proposes or publishes what a form says. What cannot be taken is shown again with all that was typed. */
export async function submitEdit(ctx: AppContext, sent: SentEdit): Promise<PageAnswer> {
  const { visit, caller, params, body: form } = sent
  const edit = await readEdit(ctx, sent)
  const again = async (status: number, more: Partial<EditorView>) => {
    const seen = await lookAt(ctx, caller, edit)
    return { page: editorPage(visit, { ...viewOf(edit.opened, edit.fields, form), beside: seen, ...more }), status }
  }
  if (hasErrors(edit.errors)) return again(422, { errors: edit.errors })
  try {
    const submitted = await writePage(ctx, caller, edit.write, {
      kb: params.kb,
      candidateId: form.candidate,
      note: noteOf(form),
      publish: form.do === 'publish',
    })
    const { candidateId } = submitted
    if (submitted.status === 'approved')
      return { to: `${neuronPage(edit.opened.kb.slug, submitted.seqId)}?done=published` }
    const { refusal } = submitted
    if (refusal === undefined) return { to: proposedPage(candidateId) }
    return again(409, await afterRefusal(ctx, sent, { fields: edit.fields, candidateId, refusal }))
  } catch (error) {
    if (error instanceof ValidationError) return again(422, { errors: error })
    if (error instanceof GanglionError && error.status < 500) return again(error.status, { warning: error.message })
    throw error
  }
}

/** The editor on the present version of its page, after main could not take what was written on an earlier one. */
async function afterRefusal(
  ctx: AppContext,
  { caller, params: { kb, seqId }, body: form }: SentEdit,
  { fields: typed, candidateId, refusal }: { fields: PageFields; candidateId: string; refusal: Refusal },
): Promise<Partial<EditorView>> {
  const waits = html`What you wrote is kept: it waits in <a href="/queue/${candidateId}">the queue</a>.`
  if (refusal.code !== 'merge_conflict' || seqId === undefined) {
    return { candidateId, warning: html`<p>${reasonOf(refusal)} ${waits}</p>` }
  }
  const opened = await openPage(ctx, caller, { kb, seqId, at: form.base })
  const onBase = { kb, seqId, base: form.base, content: typed.content }
  const { latest, content, conflicts } = await rebasePage(ctx, caller, onBase)
  const { fields, conflict } = rebased(typed, { before: fieldsOf(opened), latest: fieldsOf(latest) })
  const warning = html`<p>Somebody has changed this page in the same places since you began. ${waits}
    If you solve the conflict here and send it again, that takes its place.</p>`
  return {
    ...viewOf(latest, { ...fields, content }, form),
    ...{ candidateId, warning, conflict: { fields: conflict, lines: conflicts } },
  }
}

function reasonOf({ code, message }: Refusal): string {
  if (code === 'target_not_found') return 'Somebody has removed this page since you began.'
  return message
}

async function open(
  ctx: AppContext,
  caller: Caller,
  { kb, seqId }: EditPlace,
  edit: { at?: string; candidateId?: string; mate?: string | undefined },
): Promise<OpenPage | BlankPage> {
  if (seqId === undefined) return openBlankPage(ctx, caller, { kb, ...edit })
  return openPage(ctx, caller, { kb, seqId, ...edit })
}

async function readEdit(ctx: AppContext, { caller, params, body: form }: SentEdit): Promise<Edit> {
  const { base: at, candidate: candidateId } = form
  const version = await open(ctx, caller, params, { at, candidateId }).catch(undefinedOn('not_found'))
  const opened: OpenPage | BlankPage = version ?? (await open(ctx, caller, params, { candidateId }))
  const shown = shownIn(opened)
  const fields = typedIn(form, shown)
  const { changes, errors } = formChanges(fields, shown)
  if (version === undefined) errors.formErrors = [goneVersion]
  const target = targetOf(opened)
  const path = target === undefined && fields.path.trim() !== '' ? { path: fields.path } : {}
  return { opened, fields, errors, write: { ...(target && { target }), ...path, changes } }
}

async function lookAt(
  ctx: AppContext,
  caller: Caller,
  { opened, fields: { content }, write, errors }: Edit,
): Promise<Beside> {
  const kb = opened.kb.slug
  const page = 'seqId' in opened ? opened : undefined
  const rendered = await renderMarkdown(ctx, caller, { kb, content, path: page?.path, idPrefix: 'preview-' })
  const isBehind = page !== undefined && !page.isLatest
  try {
    const { findings } = await checkPage(ctx, caller, write, { kb })
    return { rendered, findings, errors, isBehind }
  } catch (error) {
    if (error instanceof ValidationError) return { rendered, findings: [], errors: joined(errors, error), isBehind }
    if (!(error instanceof GanglionError)) throw error
    return { rendered, findings: [], errors: { ...errors, formErrors: [error.message] }, isBehind }
  }
}

function viewOf(opened: OpenPage | BlankPage, fields: PageFields, form?: PageForm): EditorView {
  const { kb, candidateId, waiting } = opened
  const target =
    'seqId' in opened ? { seqId: opened.seqId, base: opened.commit, path: opened.path, title: opened.title } : undefined
  return {
    kb,
    candidateId: form?.candidate || candidateId,
    waiting,
    target,
    fields,
    note: form?.note ?? '',
    isTyped: form !== undefined,
  }
}

function targetOf(opened: OpenPage | BlankPage): PageWrite['target'] {
  return 'seqId' in opened ? { seqId: opened.seqId, base: opened.commit } : undefined
}

function shownIn(opened: OpenPage | BlankPage): PageFields {
  return 'seqId' in opened ? fieldsOf(opened) : blankFields
}

const goneVersion =
  'The version that you began from is gone. Compare your text with the page as it is before you send it.'

const tooLarge = 'This page has more than 512 KB, and cannot be changed here. Change it with git.'

function unreadable(problems: readonly string[]): HtmlPart {
  return html`<p>The head of this page's file cannot be read, so the page cannot be changed here: ${problems.join(' ')}
    Mend the file with git.</p>`
}

function joined(one: FormErrors, other: FormErrors): FormErrors {
  return {
    fieldErrors: { ...one.fieldErrors, ...other.fieldErrors },
    formErrors: [...(one.formErrors ?? []), ...(other.formErrors ?? [])],
  }
}

function hasErrors({ fieldErrors = {}, formErrors = [] }: FormErrors): boolean {
  return formErrors.length > 0 || Object.keys(fieldErrors).length > 0
}

/**
 * Puts what a person typed on one version of a page upon a later one, field by field: what they have not changed is as the later
 * version has it. Where both changed a field, theirs wins, and the conflict is told.
 */
function rebased(
  typed: PageFields,
  { before, latest }: { before: PageFields; latest: PageFields },
): { fields: PageFields; conflict: PageConflict['fields'] } {
  const kept = labels.filter(([key]) => isTyped(key, typed, before))
  const fields = { ...typed, ...latest, ...Object.fromEntries(kept.map(([key]) => [key, typed[key]])) }
  const conflict = kept
    .filter(([key]) => isTyped(key, latest, before) && isTyped(key, latest, typed))
    .map(([key, label]) => ({ label, theirs: shown(latest[key]), yours: shown(typed[key]) }))
  return { fields, conflict }
}

function shown(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(', ')
}
