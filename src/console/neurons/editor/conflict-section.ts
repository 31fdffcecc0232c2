import { foldPictures } from '../../layout/diff.ts'
import { type Html, html } from '../../layout/html-template.ts'

/** Where somebody else has changed the same as the person who edits, in another way. */
export type PageConflict = {
  /** Fields beside the text, by their label. */
  fields: readonly { label: string; theirs: string; yours: string }[]
  /** Lines of the text. */
  lines: readonly { line: number; current: string; proposed: string }[]
}

export function conflictSection({ fields, lines }: PageConflict): Html {
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
