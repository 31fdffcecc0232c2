import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import type { Decision } from '../../rules/candidates/candidate.ts'
import { literal } from '../../rules/text/literal.ts'
import type { ForgePull } from '../../state/forge-links.ts'
import { agree, attempt, type Linked, type Seen } from './linked.ts'
import { commentMarker } from './marker.ts'

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
