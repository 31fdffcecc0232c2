const opening = /^(?:(`{3,})[^`]*|(~{3,}).*)$/s

/** Returns the backticks or tildes of a line that opens fenced code at its first character, or undefined. */
export function fenceMarker(line: string): string | undefined {
  const [, backticks, tildes] = opening.exec(line) ?? []
  return backticks ?? tildes
}

/** True if a line closes the fenced code opened by `marker`, in the same container. */
export function closesFence(line: string, marker: string): boolean {
  const [, run] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? []
  return run?.startsWith(marker) === true
}

/** Yields the lines outside of code fences, however far these are indented, each with its 1-based number and without its line ending. */
export function* unfencedLines(text: string): Generator<{ line: string; number: number }> {
  let open: string | undefined
  for (const [at, written] of text.split('\n').entries()) {
    const line = written.replace(/\r$/, '')
    if (open === undefined) {
      open = fenceMarker(line.trimStart())
      if (open === undefined) yield { line, number: at + 1 }
    } else if (closesFence(line.trim(), open)) open = undefined
  }
}
