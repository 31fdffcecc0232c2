/**
 * Returns the option that an arrow key leads to, from the option `at` of `count`, where -1 is none. The last is followed by the
 * first. `undefined` for any other key, and for an empty list.
 */
export function moved(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return (at <= 0 ? count : at) - 1
  return undefined
}
