import { readFileSync } from 'node:fs'
import { raw, html as template } from 'hono/html'
import type { SourcePlace } from '../../contract/console-paths.ts'

/** Markup that is safe to send: every value in it was escaped, or came from a sanitiser. */
export type Html = ReturnType<typeof raw>

/** A value in a template. Strings are escaped; lists are joined; undefined, null and false add nothing. */
export type HtmlPart = string | number | Html | undefined | null | false | readonly HtmlPart[]

/** Returns HTML from a template, with every value escaped, in text and in quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const made = template(strings, ...parts)
  if (made instanceof Promise) throw new TypeError('A template takes no promises.')
  return made
}

/** Returns markup unescaped. Only for the output of a sanitiser. */
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

/** Renders a symbol of `icons.svg`. It is hidden from screen readers, so it needs a label next to it. */
export function icon(name: string): Html {
  const shapes = symbols.get(name)
  if (shapes === undefined) throw new Error(`There is no icon ${name}.`)
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${shapes}</svg>`
}

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** Renders a relative time, with the exact one as its title. @param iso ISO 8601 */
export function when(iso: string, now = new Date()): Html {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return html`${iso}`
  const exact = `${absolute.format(at)} UTC`
  return html`<time datetime="${at.toISOString()}" title="${exact}">${inWords(at, now)}</time>`
}

/** Returns a relative time, such as `3 hours ago`, `tomorrow`, `just now`. */
function inWords(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return 'just now'
}

/** Returns a place in a file, such as `Page 5`, `Pages 5–9`, `12:30`. */
export function placeWords({ page, slide, sheet, time }: SourcePlace): string | undefined {
  if (page !== undefined) return spanWords('Page', page)
  if (slide !== undefined) return spanWords('Slide', slide)
  if (sheet !== undefined) return `Sheet ${sheet}`
  return time === undefined ? undefined : clock(Number(time))
}

function spanWords(word: string, span: string | number): string {
  const [first = '', last] = String(span).split('-')
  return last === undefined ? `${word} ${first}` : `${word}s ${first}–${last}`
}

function clock(seconds: number): string {
  const two = (count: number) => String(Math.floor(count)).padStart(2, '0')
  const [hours, minutes] = [seconds / 3600, (seconds % 3600) / 60]
  return hours < 1
    ? `${Math.floor(minutes)}:${two(seconds % 60)}`
    : `${Math.floor(hours)}:${two(minutes)}:${two(seconds % 60)}`
}
