import { type Html, html } from './html-template.ts'

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

/** A moment in words that a reader grasps, with the exact time as its title. @param iso ISO 8601 */
export function when(iso: string, now = new Date()): Html {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return html`${iso}`
  const exact = `${absolute.format(at)} UTC`
  return html`<time datetime="${at.toISOString()}" title="${exact}">${inWords(at, now)}</time>`
}

/** As in `3 hours ago`, `tomorrow`, `just now`. */
function inWords(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return 'just now'
}
