import { placeId, sourcePage } from '../../contract/console-paths.ts'
import type { SourceText } from '../../sources/read-source-text.ts'
import { type Html, html } from '../layout/html.ts'
import { placeWords } from './place-words.ts'

/** A part of a Source's text, as it was read from the file: text, never markup. Where a page of it begins has an id. */
export function sourceText(kbSlug: string, id: string, text: SourceText | undefined): Html {
  return html`<section class="source-text" aria-labelledby="text"><h2 id="text">Text</h2>${contents(kbSlug, id, text)}</section>`
}

function contents(kbSlug: string, id: string, text: SourceText | undefined): Html {
  if (text === undefined) return html`<p class="empty">It has not been read yet.</p>`
  const { passages, part, parts } = text
  if (passages.length === 0) return html`<p class="empty">There is no text in it.</p>`
  const turn = (label: string) => parts > 1 && turnPages(label, sourcePage(kbSlug, id), part, parts)
  return html`${turn('Parts of the text')}
    ${passages.map(({ place, isBeginning, text }) => {
      const words = placeWords(place)
      const heading = words !== undefined && isBeginning && html`<h3 id="${placeId(place)}">${words}</h3>`
      return html`${heading}<div class="verbatim" dir="auto">${text}</div>`
    })}
    ${turn('Parts of the text, below it')}`
}

function turnPages(label: string, path: string, part: number, parts: number): Html {
  return html`<nav class="row" aria-label="${label}">
    ${part > 1 && html`<a rel="prev" href="${path}?part=${part - 1}#text">Before</a>`}
    <span>Part ${part} of ${parts}</span>
    ${part < parts && html`<a rel="next" href="${path}?part=${part + 1}#text">Next</a>`}
  </nav>`
}
