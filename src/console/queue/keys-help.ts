import { type Html, html, icon } from '../layout/html-template.ts'

const keys: readonly [key: string, does: string][] = [
  ['j', 'Next candidate'],
  ['k', 'Previous candidate'],
  ['o', 'Open the candidate, or the first in the list (Enter opens the one in focus)'],
  ['x', 'Select the candidate in the list'],
  ['n', 'Next change of the candidate'],
  ['p', 'Previous change'],
  ['a', 'Approve'],
  ['d', 'Dismiss: type a reason, Enter sends it'],
  ['e', 'Edit before approving'],
  ['u', 'Undo the last decision'],
  ['?', 'Show this help'],
]

/** What the keys do, and the switch that turns them off. Only scripts show it, since only they make keys work. */
export function keysHelp(): Html {
  return html`<div class="keys with-scripts" data-keys>
    <button type="button" class="quiet" data-keys-open>${icon('keyboard')} Keyboard shortcuts</button>
    <dialog aria-labelledby="keys-title">
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <table>
        <thead><tr><th scope="col">Key</th><th scope="col">What it does</th></tr></thead>
        <tbody>${keys.map(([key, does]) => html`<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`)}</tbody>
      </table>
      <p>Keys work outside of text fields, without Ctrl, Alt or Cmd.</p>
      <div class="row">
        <button type="button" class="second" data-keys-switch aria-pressed="true">Shortcuts are on</button>
        <form method="dialog"><button type="submit">Close</button></form>
      </div>
    </dialog>
  </div>
  <div class="unseen" role="status" aria-live="polite" data-announce></div>`
}
