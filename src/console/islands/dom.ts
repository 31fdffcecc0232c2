/** Path below which the server is reached, without a slash at the end: scripts are at `/assets/<version>/islands/` below it. */
export const root = new URL('../../..', import.meta.url).pathname.slice(0, -1)

type Attributes = Readonly<Record<string, string>>

/** Creates an element. Strings become text nodes, so nothing is parsed as markup. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** Creates a button that does not submit a form. */
export function pushButton(
  label: string,
  act: (event: MouseEvent) => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const button = make('button', { type: 'button', class: 'second', ...attributes }, label)
  button.addEventListener('click', act)
  return button
}

/** Returns the fields that a form sends, as text. */
export function fieldsOf(form: HTMLFormElement): [name: string, value: string][] {
  return [...new FormData(form)].map(([name, value]) => [name, String(value)])
}

/** Returns a message about a draft that is kept in this browser, with a button to restore it and one to discard it. */
export function draftOffer(message: string, does: { restore: () => void; discard: () => void }): HTMLElement {
  const buttons = [pushButton('Restore the draft', does.restore), pushButton('Discard it', does.discard)]
  return make('div', { class: 'warning row' }, make('span', { dir: 'auto' }, message), ...buttons)
}
