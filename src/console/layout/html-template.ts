import { readFileSync } from 'node:fs'
import { raw, html as template } from 'hono/html'

/** Markup that is safe to send: every value in it was escaped, or came from a sanitiser. */
export type Html = ReturnType<typeof raw>

/** A value in a template. Strings are escaped; lists are joined; undefined, null and false add nothing. */
export type HtmlPart = string | number | Html | undefined | null | false | readonly HtmlPart[]

/** Tag of a template that escapes every value, in text and in quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const made = template(strings, ...parts)
  if (made instanceof Promise) throw new TypeError('A template takes no promises.')
  return made
}

/** Takes markup as it is. Only for what a sanitiser made. */
export function trusted(markup: string): Html {
  return raw(markup)
}

/** Attributes of a tag: `true` stands alone, undefined and false are left out. Names are ours, values are escaped. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export function attributes(values: Attributes): Html {
  const shown = Object.entries(values).map(([name, value]) => {
    if (value === undefined || value === false) return undefined
    return value === true ? html` ${name}` : html` ${name}="${value}"`
  })
  return html`${shown}`
}

export function content({ blocks }: { blocks: readonly string[] }): Html {
  return html`<div class="content">${trusted(blocks.join('\n'))}</div>`
}

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
