import { undefinedOn } from '../../contract/errors.ts'
import { decide } from '../../queue/decide-candidate.ts'
import type { ForgePull } from '../../state/forge-links.ts'
import type { Remark } from '../forge-adapter.ts'
import { callerOfAccount, type Linked, type Seen } from './linked.ts'
import { isOwnRemark } from './marker.ts'

/** Maximum characters of a comment, as over the API. */
const maxComment = 10_000

/** Maximum number, and bytes, of remarks that a record takes from a forge. Curators must have room for theirs. */
const maxHeard = 100
const maxHeardBytes = 64 * 1024

/** Milliseconds after which the forge's lists certainly include a remark. */
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
