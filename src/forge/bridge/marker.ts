/** What is hidden in texts that are written on a forge, by which they are known again. An id is a UUID, or several joined by `+`. */
const marker = /<!-- ganglion:(pull|comment) ([0-9a-f+-]+)(?: (\S+))? -->/

export function pullMarker(candidateIds: readonly string[]): string {
  return `<!-- ganglion:pull ${candidateIds.join('+')} -->`
}

/** @param at when it was written here, ISO 8601 */
export function commentMarker(candidateId: string, at: string): string {
  return `<!-- ganglion:comment ${candidateId} ${at} -->`
}

/** The candidates whose pull request a text belongs to. */
export function pullOf(text: string): string[] | undefined {
  const [, kind, ids = ''] = marker.exec(text) ?? []
  return kind === 'pull' ? ids.split('+') : undefined
}

/** Whether a remark was written by Ganglion. */
export function isOwnRemark(text: string): boolean {
  return marker.test(text)
}
