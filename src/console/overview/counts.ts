const grouped = new Intl.NumberFormat('en')

/** A number as people read it: `12,345`. */
export function numberText(count: number): string {
  return grouped.format(count)
}

export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`
}
