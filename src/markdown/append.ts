/** Adds elements to a list. Not `push(...more)`: a page can have more of them than a call has arguments. */
export function append<Element>(list: Element[], more: Iterable<Element>): void {
  for (const element of more) list.push(element)
}
