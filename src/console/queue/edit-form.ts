import { kbPage, neuronPage } from '../../contract/console-paths.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import { conflictMarks } from '../../rules/neurons/merge.ts'
import { foldPictures } from '../layout/diff.ts'
import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { besideForm, contentArea, editorAttributes, tagsArea } from '../layout/text-editor.ts'
import { candidateUrl, type QueueParams } from './view.ts'

/** A curator's edit of a candidate before its approval, as it was typed. */
export type TypedEdit = { title: string; content: string; tags: string; base: string }

type Editing = { params: QueueParams; typed: TypedEdit | undefined; errors: FormErrors | undefined }

/** The title, tags and content with which a candidate is approved. After a conflict all three texts stand beside each other. */
export function editForm(visit: Visit, review: CandidateReview, { params, typed, errors }: Editing): Html {
  const { entry, sides, kb } = review
  const { title, content, tags, base } = typed ?? proposedEdit(review)
  const page =
    entry.intent.does === 'add' ? `${kbPage(kb.slug)}/new` : `${neuronPage(kb.slug, entry.intent.seqId)}/edit`
  const edited = form(
    visit,
    {
      action: candidateUrl(entry.id, params, {}, 'approve'),
      errors,
      attributes: {
        ...{ class: 'edit', 'data-decide': 'approve', 'data-keep': `edit-${entry.id}` },
        ...editorAttributes({ kb, path: sides.path, preview: `${page}/preview` }),
      },
    },
    html`<input type="hidden" name="seen" value="${entry.seen}">
      <input type="hidden" name="base" value="${base}">
      ${field({ name: 'title', label: 'Title', value: title, errors, attributes: { required: true, maxlength: 1000, dir: 'auto' } })}
      ${contentArea({ value: content, errors, attributes: { rows: 20 } })}
      ${tagsArea({ value: tags, errors })}
      <div class="row">${button('Approve with these edits')}
        <a class="button second" href="${candidateUrl(entry.id, params)}">Cancel</a></div>`,
  )
  return html`<section id="edit" aria-labelledby="edit-title">
    <h2 id="edit-title">${sides.conflict === undefined ? 'Edit before approving' : 'Solve the conflict'}</h2>
    ${besideForm(edited, undefined)}
  </section>`
}

/** Returns what the form begins with: the page as approving would make it, with markers where that conflicts. */
export function proposedEdit({ sides, entry }: Pick<CandidateReview, 'sides' | 'entry'>): TypedEdit {
  return {
    title: sides.title,
    content: sides.conflict?.merged ?? sides.after?.content ?? '',
    tags: (sides.after?.fields.tags ?? entry.tags).join(', '),
    base: sides.commit ?? '',
  }
}

export function editConflict(
  { sides }: Pick<CandidateReview, 'sides'>,
  typed: TypedEdit | undefined,
): Html | undefined {
  const { conflict } = sides
  if (conflict === undefined) return undefined
  const { conflicts, isSolvable, proposed } = conflict
  return html`<section aria-labelledby="conflict-title">
    <h2 id="conflict-title">Conflict</h2>
    <p class="warning">The page has changed since this was proposed, in the same lines. ${
      isSolvable
        ? typed === undefined || typed.content.includes(conflictMarks.current)
          ? 'The text below has the changes of both; these places are between markers. Write what is right there, then approve.'
          : 'The text below is what you wrote, with what the page says elsewhere now: approve it if it is right.'
        : proposed === null
          ? 'It cannot be removed as it is: dismiss this, and remove the page yourself if that is still right.'
          : 'Its properties conflict, which cannot be solved here: edit the page yourself, then dismiss this.'
    }</p>
    ${conflicts.slice(0, maxShown).map(
      (
        { line, base, current, proposed: theirs },
        index,
      ) => html`<div class="three" role="group" aria-label="Conflict ${index + 1} of ${conflicts.length}, line ${line}">
        ${text('Before both changes', cut(base))}${text('The page now', cut(current))}${text('This candidate', cut(theirs))}</div>`,
    )}
    ${conflicts.length > maxShown && html`<p>${conflicts.length - maxShown} more places conflict.</p>`}
    <details><summary>The whole texts</summary>
      <div class="three">${text('Before both changes', cut(conflict.base))}${text('The page now', cut(conflict.current))}${text('This candidate', cut(proposed ?? ''))}</div>
    </details>
  </section>`
}

/** Places of a conflict, and characters of each text. */
const maxShown = 20
const maxText = 20_000

function cut(whole: string): string {
  const text = foldPictures(whole)
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}

function text(label: string, value: string): Html {
  return html`<div><h3>${label}</h3><pre dir="auto" tabindex="0">${value === '' ? html`<em>nothing</em>` : value}</pre></div>`
}
