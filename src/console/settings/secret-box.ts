import { type Html, html } from '../layout/html-template.ts'

/** Something that is shown this once, with a button that copies it. */
export function secretBox({ label, secret, advice }: { label: string; secret: string; advice: string }): Html {
  return html`<section class="notice secret" aria-labelledby="secret-label">
    <h2 id="secret-label">${label}</h2>
    <p>${advice} It is shown only now.</p>
    <p class="row"><input readonly id="secret" value="${secret}" aria-labelledby="secret-label" autocomplete="off" data-copy></p>
  </section>`
}
