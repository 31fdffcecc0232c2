import { relativeTime } from '../islands/relative-time.ts'
import { type Html, html } from './html.ts'

const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A moment in words that a reader grasps, with the exact time as its title. @param iso ISO 8601 */
export function when(iso: string, now = new Date()): Html {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return html`${iso}`
  const exact = `${absolute.format(at)} UTC`
  return html`<time datetime="${at.toISOString()}" title="${exact}">${relativeTime(at, now)}</time>`
}
