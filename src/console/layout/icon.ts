import { readFileSync } from 'node:fs'
import { type Html, html, trusted } from './html-template.ts'

const symbols = new Map(
  Array.from(
    readFileSync(new URL('./icons.svg', import.meta.url), 'utf8').matchAll(/<symbol id="([^"]+)"[^>]*>(.*)<\/symbol>/g),
    ([, name = '', shapes = '']) => [name, trusted(shapes)],
  ),
)

/** One of the symbols of `icons.svg`. It says nothing to screen readers: a label beside it does. */
export function icon(name: string): Html {
  const shapes = symbols.get(name)
  if (shapes === undefined) throw new Error(`There is no icon ${name}.`)
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${shapes}</svg>`
}
