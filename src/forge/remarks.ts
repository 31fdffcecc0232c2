import type { Remark } from './forge-adapter.ts'

/** Sorts remarks in place, oldest first. */
export function byTime(remarks: Remark[]): Remark[] {
  return remarks.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** Returns the forge's own id of a comment, from {@link Remark.id}. */
export function commentNumber(id: string): number {
  return Number(id.slice(id.indexOf(':') + 1))
}

export function numberIn(url: string): number {
  return Number(url.slice(url.lastIndexOf('/') + 1))
}
