import { undefinedOn } from '../../contract/errors.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { decide } from '../../queue/decide-candidate.ts'
import type { Decision } from '../../rules/candidates/candidate.ts'
import { literal } from '../../rules/text/literal.ts'
import type { ForgePull } from '../../state/forge-links.ts'
import type { Remark } from '../forge-adapter.ts'
import { agree, attempt, callerOfAccount, type Linked, type Seen } from './linked.ts'

/** Hidden marker in texts that the bridge writes on a forge, which identifies them later. An id is a UUID, or several joined by `+`. */
const marker = /<!-- ganglion:(pull|comment|report) ([0-9a-f+-]+)(?: (\S+))? -->/

export function pullMarker(candidateIds: readonly string[]): string {
  return `<!-- ganglion:pull ${candidateIds.join('+')} -->`
}

/** Returns the marker of a copied comment. @param at when the comment was written here, ISO 8601 */
export function commentMarker(candidateId: string, at: string): string {
  return `<!-- ganglion:comment ${candidateId} ${at} -->`
}

/** Returns the marker of a report. @param number of the person's pull request */
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

/** Maximum characters of a comment, as over the API. */
const maxComment = 10_000

/** Maximum number, and bytes, of remarks that a record takes from a forge. Curators must have room for theirs. */
const maxHeard = 100
const maxHeardBytes = 64 * 1024

/** Milliseconds after which a forge is sure to list a new remark. */
const settledAfterMs = 60_000

/** Copies remarks of people on pull requests into the records of their candidates, each once. */
export async function importRemarks(linked: Linked, { pulls, rows }: Seen): Promise<void> {
  const { forge, link, ctx, heard } = linked
  const rowOf = new Map(rows.map((row) => [row.number, row]))
  const changed = [...pulls.values()].filter(({ number, updatedAt }) => heard.get(number) !== updatedAt)
  const remarks = await forge.remarksSince(link.heardAt, changed)
  for (const remark of remarks) {
    const row = rowOf.get(remark.number)
    if (row !== undefined && !isOwnRemark(remark, linked.me)) await importRemark(linked, row, remark)
  }
  const heardAt = remarks.reduce((latest, { at }) => (at > latest ? at : latest), link.heardAt)
  if (heardAt !== link.heardAt) await ctx.forgeLinks.note(link.id, { heardAt })
  link.heardAt = heardAt
  const settled = new Date(ctx.now().getTime() - settledAfterMs).toISOString()
  for (const { number, updatedAt } of changed) if (updatedAt < settled) heard.set(number, updatedAt)
}

async function importRemark(
  linked: Linked,
  { candidates }: ForgePull,
  { author, text, at, url }: Remark,
): Promise<void> {
  const reason = text.trim().slice(0, maxComment).toWellFormed()
  for (const candidateId of reason === '' ? [] : candidates) {
    const caller = callerOfAccount(linked, author.id)
    const isHeard = ({ via }: { via?: string }) => via === url
    const commenting = decide(linked.ctx, caller, { candidateId, verb: 'Comment on' }, (_, by, now, { decisions }) => {
      if (decisions.some(isHeard)) return undefined
      const heard = decisions.filter(({ via }) => via !== undefined)
      const bytes = Buffer.byteLength([...heard, { reason }].map((said) => said.reason ?? '').join(''))
      if (heard.length >= maxHeard || bytes > maxHeardBytes) return undefined
      return { action: 'comment', at: at < now ? new Date(at).toISOString() : now, by, reason, via: url }
    })
    // A full record takes no more remarks; one that a restore has lost takes none.
    await commenting.catch(undefinedOn('record_full', 'not_found'))
  }
}

/**
 * Posts comments that curators wrote here. Skips repositories that others can read, since comments are in the queue, not in the repository.
 */
export async function postComments(linked: Linked, seen: Seen): Promise<void> {
  if (linked.isPublic) return
  const { pulls, rows } = seen
  for (const row of rows) {
    const { number } = row
    if (number === null || pulls.get(number)?.state !== 'open') continue
    await attempt(seen, () => postOne(linked, row, number))
  }
}

async function postOne(linked: Linked, row: ForgePull, number: number): Promise<void> {
  const { kb, forge } = linked
  const said: { id: string; comment: Decision }[] = []
  for (const id of row.candidates) {
    const blob = findCandidate(kb.projection.read, id)?.blob
    const { decisions } = blob === undefined ? { decisions: [] } : parseCandidate(await kb.repository.readText(blob))
    for (const comment of decisions) {
      if (comment.action === 'comment' && comment.via === undefined) said.push({ id, comment })
    }
  }
  if (said.length <= row.comments) return
  // A crash may have come between posting a comment and recording it.
  const there = (await forge.remarksOf(number)).map(({ text }) => text)
  for (const { id, comment } of said) {
    const marker = commentMarker(id, comment.at)
    if (there.some((text) => text.includes(marker))) continue
    const text = `${marker}\n**${literal(comment.by.name)}** wrote in Ganglion:\n\n${comment.reason ?? ''}`
    await forge.comment(number, text.slice(0, forge.limits.remark).toWellFormed())
  }
  await agree(linked, row, { comments: said.length })
}
