import { kbPage, neuronPage } from '../../../contract/console-paths.ts'
import { edgeTypes } from '../../../contract/enumerations.ts'
import type { Rendered } from '../../../pages/render-page.ts'
import type { PageFinding } from '../../../pages/write/check-page.ts'
import type { BlankPage } from '../../../pages/write/open-page.ts'
import { foldPictures } from '../../layout/diff.ts'
import { button, controlsOf, errorItems, type FormErrors, form, hidden } from '../../layout/form.ts'
import { content, type Html, type HtmlPart, html } from '../../layout/html-template.ts'
import { page, type Visit } from '../../layout/page.ts'
import { besideForm, completes, contentArea, editorAttributes, tagsArea } from '../../layout/text-editor.ts'
import { audienceField, type PageFields } from './page-form.ts'

export type EditorView = Pick<BlankPage, 'kb' | 'candidateId' | 'waiting'> & {
  /** The page that is edited; left out for a new one. */
  target?: { seqId: string; base: string; path: string; title: string } | undefined
  fields: PageFields
  note: string
  /** True if the fields are those that were sent, not those of the page. */
  isTyped: boolean
  errors?: FormErrors | undefined
  /** Warning above the form: why the page was rejected as it was sent. */
  warning?: HtmlPart
  conflict?: PageConflict | undefined
  beside?: Beside | undefined
}

export function editorPage(visit: Visit, view: EditorView): Html {
  const { kb, target, warning, conflict } = view
  const heading = target === undefined ? 'New page' : html`Edit <span dir="auto">${target.title}</span>`
  return page(visit, {
    title: `${target === undefined ? 'New page' : `Edit ${target.title}`} · ${kb.title}`,
    kb,
    islands: ['editor', 'drafts'],
    hasCode: true,
    main: html`<h1>${heading}</h1>
      ${warning && html`<div class="warning" role="alert">${warning}</div>`}
      ${conflict && conflictSection(conflict)}
      ${togetherWith(view)}
      <div data-drafts></div>
      ${besideForm(editorForm(visit, view), view.beside && beside(view.beside))}`,
  })
}

/** Renders the person's pending candidates that the edit can form a bundle with. */
function togetherWith({ kb, target, waiting }: EditorView): Html | undefined {
  const mate = waiting.find(({ isTogether }) => isTogether)
  if (mate !== undefined)
    return html`<p class="hint">It will be one entry of the queue, together with <bdi>${mate.title}</bdi>.</p>`
  if (waiting.length === 0) return undefined
  const action = target === undefined ? newPath(kb.slug) : editPath(kb.slug, target.seqId)
  return html`<details><summary>Propose it together with what you wrote already</summary>
    <ul>${waiting.map(({ id, title }) => html`<li><a href="${action}?with=${id}" dir="auto">${title}</a></li>`)}</ul></details>`
}

function editorForm(visit: Visit, view: EditorView): Html {
  const { kb, candidateId, target, fields, note, errors } = view
  const action = target === undefined ? newPath(kb.slug) : editPath(kb.slug, target.seqId)
  const preview = `${action}/preview`
  const attributes = {
    ...editorAttributes({ kb, path: target?.path, preview }),
    'data-draft': JSON.stringify([visit.session.user.id, kb.id, target?.seqId ?? '']),
    'data-typed': view.isTyped,
    autocomplete: 'off',
  }
  const controls = controlsOf({ ...fields, note }, errors)
  const { text, area } = controls
  return form(visit, { action, errors, attributes }, [
    hidden({ candidate: candidateId, base: target?.base ?? '' }),
    text('title', 'Title', { required: true, dir: 'auto', autofocus: target === undefined && errors === undefined }),
    target === undefined &&
      text('path', 'Folder and file name (optional)', {
        hint: 'Such as guides/on-call. Left empty, the page goes into a folder of this month.',
      }),
    contentArea(controls, 24),
    tagsArea(controls),
    area('aliases', 'Other names', {
      hint: 'Other names that links may use for the page, one on each line.',
      ...{ rows: 2, dir: 'auto' },
    }),
    area('edges', 'Relations to other pages', {
      hint: `One on each line, such as “supersedes: Old policy”. Types: ${edgeTypes.join(', ')}.`,
      ...{ rows: 3, dir: 'auto', ...completes('edges') },
    }),
    audienceFields(view),
    area('note', 'What have you changed, and why? (optional)', {
      hint: 'Reviewers see it beside the change.',
      ...{ rows: 2, maxlength: 2000, dir: 'auto' },
    }),
    html`<div class="row write-bar">
      ${button('Preview', { class: 'second', formaction: preview, formnovalidate: true })}
      ${button('Propose', { class: 'second', name: 'do', value: 'propose' })}
      ${button('Publish', { name: 'do', value: 'publish', 'aria-keyshortcuts': 'Control+Enter' })}
    </div>
    <p class="hint draft-status" role="status" data-draft-status></p>
    <p class="hint">“Propose” puts the change into the queue for somebody to review. “Publish” (Ctrl+Enter) approves it in your name.</p>`,
  ])
}

function audienceFields({ kb, fields }: EditorView): Html {
  const names = [...new Set([...audienceField, ...fields.readers])]
  const radio = (value: string, label: HtmlPart) => html`<div class="check">
    <input type="radio" id="audience-${value}" name="audience" value="${value}"${fields.audience === value && html` checked`}>
    <label for="audience-${value}">${label}</label>
  </div>`
  return html`<fieldset class="field">
    <legend>Who may read the page, beside curators</legend>
    ${radio('default', `As everywhere here: ${kb.defaultAudience.join(', ') || 'nobody'}`)}
    ${radio('listed', 'Only these, or nobody if none is chosen:')}
    <div class="row">${names.map(
      (name) => html`<div class="check">
        <input type="checkbox" id="reader-${name}" name="readers" value="${name}"${fields.readers.includes(name) && html` checked`}>
        <label for="reader-${name}">${name}</label>
      </div>`,
    )}</div>
  </fieldset>`
}

function newPath(kbSlug: string): string {
  return `${kbPage(kbSlug)}/new`
}

function editPath(kbSlug: string, seqId: string): string {
  return `${neuronPage(kbSlug, seqId)}/edit`
}

/** Places that the person and somebody else have changed differently. */
export type PageConflict = {
  fields: readonly { label: string; theirs: string; yours: string }[]
  lines: readonly { line: number; current: string; proposed: string }[]
}

function conflictSection({ fields, lines }: PageConflict): Html {
  return html`<section class="conflict" aria-labelledby="conflict">
    <h2 id="conflict">Changed by both of you</h2>
    <p>The editor has everything that was changed. Where both of you changed the text, both versions are between the lines
      <code>&lt;&lt;&lt;&lt;&lt;&lt;&lt;</code> and <code>&gt;&gt;&gt;&gt;&gt;&gt;&gt;</code>: write what is right in their place, then send it again.
      Of the other fields, the editor has your version.</p>
    ${fields.map(({ label, theirs, yours }) => both(label, theirs, yours))}
    ${lines.map(({ line, current, proposed }) => both(`From line ${line} of the present text`, current, proposed))}
  </section>`
}

function both(label: string, theirs: string, yours: string): Html {
  return html`<h3>${label}</h3>
    <div class="conflict-versions">
      <figure><figcaption>Theirs</figcaption><pre tabindex="0" dir="auto">${shown(theirs)}</pre></figure>
      <figure><figcaption>Yours</figcaption><pre tabindex="0" dir="auto">${shown(yours)}</pre></figure>
    </div>`
}

function shown(text: string): Html {
  return text === '' ? html`<em>nothing</em>` : html`${foldPictures(text)}`
}

/** Preview and findings of a text, shown next to it. */
export type Beside = {
  rendered: Rendered
  findings: readonly PageFinding[]
  errors: FormErrors
  /** True if the page has changed since the edit began. */
  isBehind: boolean
}

export function beside({ rendered, findings, errors, isBehind }: Beside): Html {
  return html`${isBehind && html`<p class="warning">Somebody has changed this page since you began. What you write is merged with it.</p>`}
    ${findingList(findings, errors)}
    <h2>Preview</h2>
    ${rendered.isPlain && html`<p class="hint">The text is too complex for a preview.</p>`}
    ${content(rendered)}`
}

function findingList(findings: readonly PageFinding[], errors: FormErrors): Html {
  const items = errorItems(errors)
  const count = findings.length + items.length
  if (count === 0) return html`<h2>Findings</h2><p class="empty">Nothing is wrong with the page.</p>`
  return html`<h2>Findings (${count})</h2>
    <ul class="findings">
      ${items}
      ${findings.map(finding)}
    </ul>`
}

function finding({ severity, message, line }: PageFinding): Html {
  const badge =
    severity === 'error' ? html`<span class="badge bad">Error</span>` : html`<span class="badge warn">Warning</span>`
  const text =
    line === undefined
      ? message
      : html`<a href="#field-content" data-line="${line}" data-severity="${severity}" data-message="${message}">Line ${line}</a>: ${message}`
  return html`<li>${badge} <span dir="auto">${text}</span></li>`
}
