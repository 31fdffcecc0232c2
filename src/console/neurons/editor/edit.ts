import type { AppContext } from '../../../app/open-context.ts'
import { neuronPage, proposedPage } from '../../../contract/console-paths.ts'
import { GanglionError, undefinedOn, ValidationError } from '../../../contract/errors.ts'
import { renderMarkdown } from '../../../pages/render-page.ts'
import { checkPage } from '../../../pages/write/check-page.ts'
import { type BlankPage, type OpenPage, openBlankPage, openPage, rebasePage } from '../../../pages/write/open-page.ts'
import type { Refusal } from '../../../pages/write/submit-page.ts'
import { writePage } from '../../../pages/write/write-page.ts'
import type { PageWrite } from '../../../pages/write/written-page.ts'
import type { Caller } from '../../../rules/access/caller.ts'
import type { FormErrors } from '../../layout/form.ts'
import { type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { type ConsoleRequest, isFragment, type PageAnswer } from '../../layout/page-routes.ts'
import { type Beside, beside, type EditorView, editorPage, type PageConflict } from './editor-page.ts'
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

/** An edit from its form: the version that it began from, and its changes. */
type Edit = Begun & { fields: PageFields; write: PageWrite; errors: FormErrors }

/** The version of the page that an edit begins from, with its fields. A new page has no version. */
type Begun = { opened: OpenPage | BlankPage; page: OpenPage | undefined; shown: PageFields }

export async function showEditor(
  ctx: AppContext,
  { visit, caller, params }: ConsoleRequest<EditPlace>,
  given: Partial<PageFields>,
  mate: string | undefined,
): Promise<Html> {
  const begun = await begin(ctx, caller, params, { mate })
  const view = viewOf(begun, { ...begun.shown, ...given })
  const problems = begun.page?.problems ?? []
  const warning = problems.length > 0 ? unreadable(problems) : isTooLarge(view.fields) && tooLarge
  return editorPage(visit, { ...view, warning })
}

/** Shows the preview and the findings of a form, without writing anything. */
export async function showPreview(ctx: AppContext, sent: SentEdit): Promise<Html> {
  const edit = await readEdit(ctx, sent)
  const seen = await lookAt(ctx, sent.caller, edit)
  if (isFragment(sent.request)) return beside(seen)
  return editorPage(sent.visit, { ...viewOf(edit, edit.fields, sent.body), beside: seen })
}

/** Proposes or publishes an edit. If it is rejected, shows the form again with everything that was typed. */
export async function submitEdit(ctx: AppContext, sent: SentEdit): Promise<PageAnswer> {
  const { visit, caller, params, body: form } = sent
  const edit = await readEdit(ctx, sent)
  const again = async (status: number, more: Partial<EditorView>) => {
    const seen = await lookAt(ctx, caller, edit)
    return { page: editorPage(visit, { ...viewOf(edit, edit.fields, form), beside: seen, ...more }), status }
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

/** Returns the editor on the latest version of the page, after an edit of an earlier version was rejected. */
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
    ...viewOf({ opened: latest, page: latest }, { ...fields, content }, form),
    ...{ candidateId, warning, conflict: { fields: conflict, lines: conflicts } },
  }
}

function reasonOf({ code, message }: Refusal): string {
  if (code === 'target_not_found') return 'Somebody has removed this page since you began.'
  return message
}

async function begin(
  ctx: AppContext,
  caller: Caller,
  { kb, seqId }: EditPlace,
  edit: { at?: string; candidateId?: string; mate?: string | undefined },
): Promise<Begun> {
  if (seqId === undefined)
    return { opened: await openBlankPage(ctx, caller, { kb, ...edit }), page: undefined, shown: blankFields }
  const page = await openPage(ctx, caller, { kb, seqId, ...edit })
  return { opened: page, page, shown: fieldsOf(page) }
}

async function readEdit(ctx: AppContext, { caller, params, body: form }: SentEdit): Promise<Edit> {
  const { base: at, candidate: candidateId } = form
  const version = await begin(ctx, caller, params, { at, candidateId }).catch(undefinedOn('not_found'))
  const begun = version ?? (await begin(ctx, caller, params, { candidateId }))
  const { page, shown } = begun
  const fields = typedIn(form, shown)
  const { changes, errors } = formChanges(fields, shown)
  if (version === undefined) errors.formErrors = [goneVersion]
  const path = page === undefined && fields.path.trim() !== '' ? { path: fields.path } : {}
  const target = page && { target: { seqId: page.seqId, base: page.commit } }
  return { ...begun, fields, errors, write: { ...target, ...path, changes } }
}

async function lookAt(
  ctx: AppContext,
  caller: Caller,
  { opened, page, fields: { content }, write, errors }: Edit,
): Promise<Beside> {
  const kb = opened.kb.slug
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

function viewOf({ opened, page }: Omit<Begun, 'shown'>, fields: PageFields, form?: PageForm): EditorView {
  const { kb, candidateId, waiting } = opened
  const target = page && { seqId: page.seqId, base: page.commit, path: page.path, title: page.title }
  const typed = { note: form?.note ?? '', isTyped: form !== undefined }
  return { kb, candidateId: form?.candidate || candidateId, waiting, target, fields, ...typed }
}

const goneVersion =
  'The version that you began from is gone. Compare your text with the page as it is before you send it.'

const tooLarge = 'This page has more than 512 KB, and cannot be changed here. Change it with git.'

function unreadable(problems: readonly string[]): HtmlPart {
  return html`<p>The front matter of this page's file cannot be read, so the page cannot be changed here: ${problems.join(' ')}
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
 * Rebases a person's fields from one version of a page onto a later one. Fields that they have not changed have the later version's value.
 * If both changed a field, the person's value wins, and the conflict is reported.
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
