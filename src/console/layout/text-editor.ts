import { kbPage } from '../../contract/console-paths.ts'
import type { Controls } from './form.ts'
import { type Attributes, type HtmlPart, html } from './html-template.ts'

type EditorPlace = {
  kb: { slug: string }
  /** Path of the page, to rank completions of links. */
  path: string | undefined
  /** Path that returns the preview of the text. */
  preview: string
}

/** Returns attributes of a form whose text areas become editors if scripts run (`islands/editor.ts`). */
export function editorAttributes({ kb, path, preview }: EditorPlace): Attributes {
  const completeAt = `${kbPage(kb.slug)}/complete`
  return { 'data-editor': true, 'data-complete-at': completeAt, 'data-path': path, 'data-preview': preview }
}

export function contentArea({ area }: Controls, rows: number): HtmlPart {
  return area('content', 'Text', {
    hint: html`Markdown. <code>[[</code> links to a page, <code>[[supersedes:</code> says how.
      <span class="with-scripts"><kbd>Ctrl+B</kbd> bold, <kbd>Ctrl+I</kbd> italic, <kbd>Ctrl+K</kbd> link, <kbd>Ctrl+S</kbd> keeps
      the draft. <kbd>Tab</kbd> takes a suggestion or goes to the next cell of a table, and otherwise leaves the text.</span>`,
    ...{ dir: 'auto', spellcheck: 'true', ...completes('text'), rows },
  })
}

export function tagsArea({ area }: Controls): HtmlPart {
  return area('tags', 'Tags', { hint: 'Separated by commas.', rows: 2, dir: 'auto', ...completes('tags') })
}

export function completes(kind: 'text' | 'tags' | 'edges'): Attributes {
  return { 'data-complete': kind, autocomplete: 'off' }
}

/** Renders a form next to the preview of its text. */
export function besideForm(form: HtmlPart, beside: HtmlPart): HtmlPart {
  return html`<div class="editor">
    ${form}
    <section class="beside" id="beside" aria-label="Preview and findings" tabindex="-1">
      ${beside ?? html`<p class="empty">The preview of your text appears here.</p>`}
    </section>
  </div>`
}
