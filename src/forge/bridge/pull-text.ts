import { undefinedOn } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import { findQueued } from '../../queue/describe-candidate.ts'
import type { QueueEntry } from '../../queue/lists/list-queue.ts'
import { readCandidate } from '../../queue/read-candidate.ts'
import type { LinkChange, LinkChanges } from '../../review/link-changes.ts'
import { type CandidateReview, reviewCandidate } from '../../review/review-candidate.ts'
import { type SimilarNeuron, similarNeurons } from '../../review/similar-neurons.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { effectLines } from '../../rules/effect-lines.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { literal, literalBlock } from '../../rules/text/literal.ts'
import { cutText } from '../../rules/text/whole-characters.ts'
import type { ForgeLimits } from '../forge-adapter.ts'
import { dismissRestLabel, ownLabel, publicUrl } from './linked.ts'
import { type Needed, neededText } from './needed-approvals.ts'
import { pullMarker } from './remarks.ts'

export type PullText = { title: string; body: string; labels: string[] }

const maxListed = 20
/** Maximum characters of the parts that may be long; together they stay below the limit of every forge. */
const maxDiff = 24_000
const maxPassage = 4_000

/**
 * Returns the text of a pull request, with everything a curator needs to decide. Texts of others are in code, where they can be neither
 * markup nor a mention. Readers of the forge have all of main, so its Neurons may be named, also those that some readers here may not see.
 * @param options.isPublic leaves out content that is not in the repository: passages of Sources, and other pending candidates
 * @param options.whole the push, Source or lint run that several candidates came from
 */
export async function pullText(
  ctx: Context,
  caller: Caller,
  candidates: readonly [CandidateRow, ...CandidateRow[]],
  {
    limits,
    whole,
    isPublic,
    needed,
  }: { limits: ForgeLimits; whole: string | undefined; isPublic: boolean; needed: Needed | undefined },
): Promise<PullText> {
  const [first, ...others] = candidates
  const ids = candidates.map(({ id }) => id)
  const entries: QueueEntry[] = []
  const texts: string[] = []
  for (const { id } of candidates) {
    const review = await reviewCandidate(ctx, caller, id, {})
    entries.push(review.entry)
    const heading = others.length === 0 ? [] : [`## ${verbOf(review.entry)} ${literal(review.entry.title)}`]
    texts.push(
      [
        ...heading,
        ...(await describe(ctx, caller, id, isPublic ? withoutPrivate(review) : review)),
        linkTo(ctx, id),
      ].join('\n\n'),
    )
  }
  const room = Math.floor((limits.body - 2_000) / candidates.length)
  const kinds = [...new Set(entries.map(({ kind }) => `kind: ${kind}`))]
  return {
    title: titleOf(entries, whole, limits.title),
    body: [
      pullMarker(ids),
      ...texts.map((text) => cut(text, room)),
      `---\n${howToDecide(needed)}${others.length === 0 ? '' : howToDecideOnMany}`,
    ].join('\n\n'),
    labels: [ownLabel, ...kinds, ...(first.zone === null ? [] : [`zone: ${first.zone}`])],
  }
}

function howToDecide(needed: Needed | undefined): string {
  const merge =
    needed === undefined
      ? '**Merge** it in any way, with changes of your own on its branch, to approve it.'
      : `${neededText(needed)} Until then it waits, also if it is merged.`
  return `${merge} **Close** it to dismiss it, with your last comment as the reason.`
}
const howToDecideOnMany = ` Each page is a commit of its own: a page whose commit you drop before you merge stays in the queue, or is dismissed if you give the label \`${dismissRestLabel}\`.`

function titleOf(entries: readonly QueueEntry[], whole: string | undefined, longest: number): string {
  const [first] = entries
  const shown = (text: string) => oneLine(text, longest - 40)
  if (first !== undefined && entries.length === 1) return `${verbOf(first)} "${shown(first.title)}"`
  return `${entries.length} pages of ${shown(whole ?? '')}`
}

function withoutPrivate(review: CandidateReview): CandidateReview {
  return { ...review, sources: [], duplicates: [] }
}

async function describe(ctx: Context, caller: Caller, id: string, review: CandidateReview): Promise<string[]> {
  const { entry } = review
  const { diff, diffTruncated } = await readCandidate(ctx, caller, id)
  const similar = await similarNeurons(ctx, caller, id).catch(undefinedOn())
  const alike = review.duplicates.map(({ entry: other, why }) => `${literal(other.title)} (${why.join(', ')})`)
  return [
    proposedBy(entry),
    policyOf(entry, review),
    placeOf(review),
    ...listed('Answer tests', await effectsText(ctx, caller, id)),
    ...listed('Links gained', linksOf(review.links, 'gained')),
    ...listed('Links lost', linksOf(review.links, 'lost')),
    ...listed('Waiting as well', alike),
    ...listed('Similar Neurons', (similar ?? []).map(describeSimilar)),
    ...changeOf(diff, diffTruncated === true),
    ...review.sources.map(passageOf),
  ]
}

/** Describes the answer tests whose result an approval changes. */
async function effectsText(ctx: Context, caller: Caller, id: string): Promise<string[]> {
  const { kb } = await findQueued(ctx, caller, id)
  const effects = await ctx.tests.effects(kb, [id])?.catch(undefinedOn())
  return effects === undefined ? [] : effectLines(effects).map((line) => literal(line.trim()))
}

function describeSimilar({ title, seqId, why }: SimilarNeuron): string {
  return `${literal(title)} ${literal(seqId)}: ${why.map(literal).join(', ')}`
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${cutText(text, room)}…\n\n*There is no room for more here.*`
}

/** Returns a link to a candidate, or the empty text for a server without a public URL. */
function linkTo(ctx: Context, id: string): string {
  const url = publicUrl(ctx.urls.candidate(id))
  return url === undefined ? `Decide in Ganglion, candidate ${literal(id)}` : `[Decide in Ganglion](${url})`
}

function verbOf({ intent }: QueueEntry): string {
  return { add: 'Add', change: 'Update', remove: 'Remove' }[intent.does]
}

function proposedBy({ kind, connector, createdBy, createdAt, confidence }: QueueEntry): string {
  const sure = confidence === null ? '' : `, confidence ${confidence}`
  return `Proposed by ${literal(createdBy)} on ${createdAt.slice(0, 10)} as ${literal(kind)}, by the connector ${literal(connector)}${sure}.`
}

function policyOf({ reason, zone, warnings, isHeldBack }: QueueEntry, { sides }: CandidateReview): string {
  const zoned = zone === null ? '' : ` Zone: **${zone}**.`
  const held = isHeldBack ? ' It would be approved, and a rule keeps it for a curator.' : ''
  const conflict = sides.conflict === undefined ? [] : ['It conflicts with main: what it changes has changed since.']
  const all = [...conflict, ...warnings].slice(0, maxListed).map((warning) => `- ⚠️ ${literal(warning)}`)
  return [`**Policy:** it waits for a curator (${literal(reason)}).${zoned}${held}`, ...all].join('\n')
}

function placeOf({ entry: { intent }, sides: { path, movedFrom } }: CandidateReview): string {
  const moved = movedFrom === undefined ? '' : `${literal(movedFrom)} → `
  const lines = [
    ...(path === undefined ? [] : [`- Page: ${moved}${literal(path)}`]),
    ...(intent.does === 'add' ? [] : [`- Neuron: ${literal(intent.seqId)} ${literal(intent.title ?? '')}`]),
  ]
  return lines.join('\n')
}

function linksOf(links: LinkChanges, side: 'gained' | 'lost'): string[] {
  const left = links[`${side}Count`] - links[side].length
  return [...links[side].map(linkOf), ...(left > 0 ? [`and ${left} more`] : [])]
}

function linkOf({ type, target, leadsTo }: LinkChange): string {
  const to = typeof leadsTo === 'string' ? leadsTo : `${leadsTo.seqId} ${leadsTo.title}`
  return `${type === 'cites' ? '' : `${type} `}${literal(target)} → ${literal(to)}`
}

function listed(name: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  const left = items.length - maxListed
  const shown = items.slice(0, maxListed).map((item) => `- ${item}`)
  return [[`**${name}**`, ...shown, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n')]
}

function changeOf(diff: string, isTruncated: boolean): string[] {
  if (diff === '') return []
  const isCut = isTruncated || diff.length > maxDiff
  const block = literalBlock(diff.slice(0, maxDiff).toWellFormed(), 'diff')
  return [`**Before and after**\n\n${block}${isCut ? '\n\n*There is more than fits here.*' : ''}`]
}

function passageOf({ filename, place, text, isCut }: CandidateReview['sources'][number]): string {
  const where = Object.entries(place).flatMap(([part, value]) => (value === undefined ? [] : [`${part} ${value}`]))
  const name = `<details><summary>Source: <code>${escapeHtml([filename, ...where].join(', '))}</code></summary>`
  if (text === undefined) return `${name}\n\nIts text is not kept.\n</details>`
  const more = isCut || text.length > maxPassage ? '\n\n*There is more in the Source.*' : ''
  return `${name}\n\n${literalBlock(text.slice(0, maxPassage).toWellFormed(), '')}${more}\n</details>`
}

function escapeHtml(text: string): string {
  return oneLine(text, 200).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
