import { kbPage, neuronPage } from '../../contract/console-paths.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import { conflictMarks } from '../../rules/neurons/merge.ts'
import { foldPictures } from '../layout/diff.ts'
import { button, controlsOf, type FormErrors, form, hidden } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { besideForm, contentArea, editorAttributes, tagsArea } from '../layout/text-editor.ts'
import { candidateUrl, type QueueParams } from './view.ts'

export type TypedEdit = { title: string; content: string; tags: string; base: string }

type Editing = { params: QueueParams; typed: TypedEdit | undefined; errors: FormErrors | undefined }

export function editForm(visit: Visit, review: CandidateReview, { params, typed, errors }: Editing): Html {
  const { entry, sides, kb } = review
  const { base, ...fields } = typed ?? proposedEdit(review)
  const controls = controlsOf(fields, errors)
  const page =
    entry.intent.does === 'add' ? `${kbPage(kb.slug)}/new` : `${neuronPage(kb.slug, entry.intent.seqId)}/edit`
  const attributes = {
    ...{ class: 'edit', 'data-decide': 'approve', 'data-keep': `edit-${entry.id}` },
    ...editorAttributes({ kb, path: sides.path, preview: `${page}/preview` }),
  }
  const edited = form(visit, { action: candidateUrl(entry.id, params, {}, 'approve'), errors, attributes }, [
    hidden({ seen: entry.seen, base }),
    controls.text('title', 'Title', { required: true, maxlength: 1000, dir: 'auto' }),
    contentArea(controls, 20),
    tagsArea(controls),
    html`<div class="row">${button('Approve with these edits')}
      <a class="button second" href="${candidateUrl(entry.id, params)}">Cancel</a></div>`,
  ])
  return html`<section id="edit" aria-labelledby="edit-title">
    <h2 id="edit-title">${sides.conflict === undefined ? 'Edit before approving' : 'Solve the conflict'}</h2>
    ${besideForm(edited, undefined)}
  </section>`
}

/** Returns the initial fields of the form: the page that an approval would make, with conflict markers. */
export function proposedEdit({ sides, entry }: Pick<CandidateReview, 'sides' | 'entry'>): TypedEdit {
  return {
    title: sides.title,
    content: sides.conflict?.merged ?? sides.after?.content ?? '',
    tags: (sides.after?.fields.tags ?? entry.tags).join(', '),
    base: sides.commit ?? '',
  }
}

export function editConflict({ sides: { conflict } }: CandidateReview, typed: TypedEdit | undefined): Html | undefined {
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
        ${threeTexts(base, current, theirs)}</div>`,
    )}
    ${conflicts.length > maxShown && html`<p>${conflicts.length - maxShown} more places conflict.</p>`}
    <details><summary>The whole texts</summary>
      <div class="three">${threeTexts(conflict.base, conflict.current, proposed ?? '')}</div>
    </details>
  </section>`
}

/** Maximum number of places of a conflict, and of characters of each text. */
const maxShown = 20
const maxText = 20_000

function threeTexts(...texts: readonly [base: string, current: string, proposed: string]): Html[] {
  const labels = ['Before both changes', 'The page now', 'This candidate']
  return texts.map((whole, index) => {
    const text = foldPictures(whole)
    const cut = text.length > maxText ? `${text.slice(0, maxText)}…` : text
    return html`<div><h3>${labels[index]}</h3><pre dir="auto" tabindex="0">${text === '' ? html`<em>nothing</em>` : cut}</pre></div>`
  })
}
