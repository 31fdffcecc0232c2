import { raw, html as template } from 'hono/html'

/** Markup that is safe to send: every value in it was escaped, or came from a sanitiser. */
export type Html = ReturnType<typeof raw>

/** What a template takes. Strings are escaped; lists are joined; undefined, null and false add nothing. */
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
