import type { Remark } from '../forge-adapter.ts'

/** What is hidden in texts that are written on a forge, by which they are known again. An id is a UUID, or several joined by `+`. */
const marker = /<!-- ganglion:(pull|comment|report) ([0-9a-f+-]+)(?: (\S+))? -->/

export function pullMarker(candidateIds: readonly string[]): string {
  return `<!-- ganglion:pull ${candidateIds.join('+')} -->`
}

/** @param at when it was written here, ISO 8601 */
export function commentMarker(candidateId: string, at: string): string {
  return `<!-- ganglion:comment ${candidateId} ${at} -->`
}

/** @param number of a request that people made */
export function reportMarker(number: number): string {
  return `<!-- ganglion:report ${number} -->`
}

/** The candidates whose pull request a text belongs to. It counts only in one that the link's account has opened. */
export function pullOf(text: string): string[] | undefined {
  const [, kind, ids = ''] = marker.exec(text) ?? []
  return kind === 'pull' ? ids.split('+') : undefined
}

/** Whether a remark was written by Ganglion. People may quote a marker. @param me the link's account */
export function isOwnRemark({ author, text }: Pick<Remark, 'author' | 'text'>, me: string): boolean {
  return author.id === me && marker.test(text)
}
