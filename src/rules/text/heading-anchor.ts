const anchor = /(?:^|[ \t]+)\{:?[ \t]*#([^\s{}]+)[^{}]*\}[ \t]*$/

/** The text of a heading and the id that it gives itself, as in `Setup {#setup}`. */
export function splitAnchor(heading: string): { text: string; id?: string } {
  const found = heading.includes('#') ? anchor.exec(heading) : null
  return found?.[1] === undefined ? { text: heading } : { text: heading.slice(0, found.index), id: found[1] }
}
