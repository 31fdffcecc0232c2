const grouped = new Intl.NumberFormat('en')

/** Returns a number with separators, such as `12,345`. */
export function numberText(count: number): string {
  return grouped.format(count)
}

/** Returns a number with its noun, such as `1 page`, `1,234 pages`. */
export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`
}
