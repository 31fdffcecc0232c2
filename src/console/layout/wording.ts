import type { SourcePlace } from '../../contract/console-paths.ts'
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

/** Returns a relative time, such as `3 hours ago`, `tomorrow`, `just now`. */
function inWords(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return 'just now'
}

const grouped = new Intl.NumberFormat('en')

/** A number as people read it: `12,345`. */
export function numberText(count: number): string {
  return grouped.format(count)
}

export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`
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
