export type ElementAttributes = Readonly<Record<string, string | false | undefined>>
export type Child = Node | string

/** Creates an element. Strings become text nodes, so nothing is parsed as markup. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: ElementAttributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) made.setAttribute(key, value)
  }
  made.append(...children)
  return made
}

/** Creates a button that does not submit a form. */
export function pushButton(
  act: () => void,
  attributes: ElementAttributes,
  ...children: readonly Child[]
): HTMLButtonElement {
  const button = make('button', { type: 'button', ...attributes }, ...children)
  button.addEventListener('click', act)
  return button
}
