import type { Remark } from '../forge-adapter.ts'

/** Hidden marker in texts that the bridge writes on a forge, which identifies them later. An id is a UUID, or several joined by `+`. */
const marker = /<!-- ganglion:(pull|comment|report) ([0-9a-f+-]+)(?: (\S+))? -->/

export function pullMarker(candidateIds: readonly string[]): string {
  return `<!-- ganglion:pull ${candidateIds.join('+')} -->`
}

/** @param at time when it was written here, ISO 8601 */
export function commentMarker(candidateId: string, at: string): string {
  return `<!-- ganglion:comment ${candidateId} ${at} -->`
}

/** @param number of a request that a person opened */
export function reportMarker(number: number): string {
  return `<!-- ganglion:report ${number} -->`
}

/** Returns the candidates whose pull request has a text. Counts only in one that the link's account has opened. */
export function pullOf(text: string): string[] | undefined {
  const [, kind, ids = ''] = marker.exec(text) ?? []
  return kind === 'pull' ? ids.split('+') : undefined
}

/** True if Ganglion wrote a remark. People may quote a marker. @param me the link's account */
export function isOwnRemark({ author, text }: Pick<Remark, 'author' | 'text'>, me: string): boolean {
  return author.id === me && marker.test(text)
}
