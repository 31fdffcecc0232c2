/** Appends elements to a list. `push(...more)` would fail on a large page, because the number of arguments of a call is limited. */
export function append<Element>(list: Element[], more: Iterable<Element>): void {
  for (const element of more) list.push(element)
}
