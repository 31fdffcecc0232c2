const opening = /^(?:(`{3,})[^`]*|(~{3,}).*)$/s

/** The backticks or tildes of a line that begins fenced code at its first character; undefined where it begins none. */
export function fenceMarker(line: string): string | undefined {
  const [, backticks, tildes] = opening.exec(line) ?? []
  return backticks ?? tildes
}

/** Whether a line ends the fenced code that begins with `marker`, in the same container. */
export function closesFence(line: string, marker: string): boolean {
  const [, run] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? []
  return run?.startsWith(marker) === true
}
