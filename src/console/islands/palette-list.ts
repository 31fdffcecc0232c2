export type Jump = { group: string; label: string; detail: string; href: string }

export type Visited = { title: string; href: string }

const maxKept = 8

export function remember(visited: readonly Visited[], page: Visited): Visited[] {
  return [page, ...visited.filter(({ href }) => href !== page.href)].slice(0, maxKept)
}

/** Parses the stored list of {@link remember}; empty if it is invalid. */
export function readVisited(text: string | null): Visited[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value.filter(isVisited).slice(0, maxKept) : []
  } catch {
    return []
  }
}

/** True for an entry whose address is a path of this server; the storage can hold anything. */
function isVisited(value: unknown): value is Visited {
  if (typeof value !== 'object' || value === null || !('title' in value) || !('href' in value)) return false
  return typeof value.title === 'string' && typeof value.href === 'string' && /^\/(?!\/)/.test(value.href)
}

/** Returns the options of the palette: results of the server, or, before anything is typed, pages visited last and then these results. */
export function offered(found: readonly Jump[], visited: readonly Visited[], typed: string, here: string): Jump[] {
  if (typed.trim() !== '') return [...found]
  const recent = visited.filter(({ href }) => href !== here)
  return [...recent.map(({ title, href }) => ({ group: 'Recent', label: title, detail: '', href })), ...found]
}

/**
 * Returns the option to which an arrow key moves from the option `at` of `count`; -1 is no option. The first follows the last. `undefined`
 * for any other key, and for an empty list.
 */
export function moved(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return (at <= 0 ? count : at) - 1
  return undefined
}

/** Returns the URL of a form's result, without empty fields and fields with their default value. */
export function addressOf(action: string, fields: readonly [name: string, value: string][]): string {
  const said = fields.filter(([, value]) => value !== '' && value !== 'all')
  return said.length === 0 ? action : `${action}?${new URLSearchParams(said)}`
}
