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
