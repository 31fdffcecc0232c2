import { awaitingText } from '../../rules/deciding.ts'
import { literalBlock } from '../../rules/text/literal.ts'
import type { Report } from '../forge-adapter.ts'
import { isForgeError, type Linked, publicUrl } from './linked.ts'
import { isOwnRemark, reportMarker } from './marker.ts'
import type { Needed } from './needed-approvals.ts'
import { outcomeOf } from './pull-report.ts'
import type { Taken } from './take-pack.ts'

type Told = Taken &
  Pick<Report, 'number' | 'head' | 'branch'> & {
    candidates: readonly string[]
    needed: Needed | undefined
    /** True if an earlier commit of the request may have been commented on. */
    mayBeTold: boolean
  }

/** Reports the outcome of commits that people have written; a rejection also as a comment if the forge shows no summary. */
export async function reportTaken(linked: Linked, { isTaken, mayMerge = false, ...told }: Told): Promise<void> {
  const { forge, ctx } = linked
  const { lines, candidates, needed, number, head, branch, mayBeTold } = told
  const [first] = candidates
  const count = candidates.length === 1 ? '1 page waits' : `${candidates.length} pages wait`
  const who = needed === undefined ? 'a curator' : `approval. ${awaitingText(needed.awaiting)}`
  const there = `It is decided on here alone${needed === undefined ? '' : `. ${awaitingText(needed.awaiting)}`}`
  const isRefused = !isTaken && !mayMerge
  const title = isRefused ? 'This cannot be taken as it is' : isTaken ? `${count} for ${who}` : there
  const outcome = isRefused ? 'failed' : outcomeOf(needed)
  const summary = literalBlock(lines.join('\n'), '').slice(0, forge.limits.body)
  const url = first === undefined ? undefined : publicUrl(ctx.urls.candidate(first))
  await forge.report({ number, head, branch, findings: [], outcome, title, summary, url })
  if (forge.showsSummary || (isTaken && !mayBeTold)) return
  const note = isTaken
    ? ''
    : mayMerge
      ? 'Merging it takes it. It does not wait in Ganglion, since:'
      : 'Push a commit that mends this:'
  await commentInPlace(linked, number, { text: [`**${title}.**`, note, isTaken ? '' : summary], isNew: !isTaken })
}

/** Updates the comment about a rejection, if there is one, to say that the request is accepted now. */
export async function reportRepaired(linked: Linked, number: number): Promise<void> {
  if (linked.forge.showsSummary) return
  await commentInPlace(linked, number, { text: ['**This can be taken now.**'], isNew: false })
}

/** Writes the link's one status comment on a request, or replaces its text. `isNew`: writes one if there is none. */
async function commentInPlace(
  { forge, me }: Linked,
  number: number,
  { text, isNew }: { text: readonly string[]; isNew: boolean },
): Promise<void> {
  const marker = reportMarker(number)
  const body = [marker, ...text.filter((part) => part !== '')].join('\n\n').slice(0, forge.limits.remark).toWellFormed()
  const known = (await forge.remarksOf(number)).find(
    (remark) => isOwnRemark(remark, me) && remark.text.includes(marker),
  )
  if (known?.text === body) return
  try {
    if (known !== undefined) return await forge.editComment(number, known.id, body)
  } catch (error) {
    if (!isForgeError(error, 'gone')) throw error
  }
  if (isNew) await forge.comment(number, body)
}
