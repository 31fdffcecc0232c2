import { asset } from './asset.ts'
import { type Html, html } from './html-template.ts'

/** One of the symbols of `icons.svg`. It says nothing to screen readers: a label beside it does. */
export function icon(name: string): Html {
  return html`<svg class="icon" aria-hidden="true" focusable="false"><use href="${asset('layout/icons.svg')}#${name}"/></svg>`
}
