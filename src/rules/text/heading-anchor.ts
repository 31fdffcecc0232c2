const anchor = /(?:^|[ \t]+)\{:?[ \t]*#([^\s{}]+)[^{}]*\}[ \t]*$/

/** Splits a heading into its text and its explicit id, as in `Setup {#setup}`. */
export function splitAnchor(heading: string): { text: string; id?: string } {
  const found = heading.includes('#') ? anchor.exec(heading) : null
  return found?.[1] === undefined ? { text: heading } : { text: heading.slice(0, found.index), id: found[1] }
}
