/** Whether a line ends the fenced code that begins with `marker`, of backticks or tildes, in the same container. */
export function closesFence(line: string, marker: string): boolean {
  const [, run] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? []
  return run?.startsWith(marker) === true
}
