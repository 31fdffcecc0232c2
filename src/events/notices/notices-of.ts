import { candidatePage, stalePage } from '../../contract/console-paths.ts'
import { trailersOf } from '../../git/history/trailers.ts'
import { messageOfCommit } from '../../git/objects/object.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import { stalenessIn } from '../../kb/access/stale-pages.ts'
import { whoIs } from '../../kb/access/who-is.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { neuronsInOrder } from '../../kb/projection/neuron-queries.ts'
import { kbLabel } from '../../kb/readable-kb.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { mentionedIn } from '../../markdown/mentions.ts'
import { decisionOf } from '../../queue/approval.ts'
import { type Actor, assigneeOf, type Candidate } from '../../rules/candidates/candidate.ts'
import { authorsOf, goesByOneOf } from '../../rules/deciding.ts'
import { ownersOfPage } from '../../rules/freshness.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { User } from '../../state/accounts/users.ts'
import type { StoredNotice } from '../../state/notices.ts'

export type NoticeCause = Pick<StoredNotice, 'kind' | 'candidateId' | 'decision'>

/** Notice to one person. `quote`: quoted text of a person. `path`: page with the details. */
export type PersonalNotice = { user: User; subject: string; text: string; quote: string; path: string }

/** Maximum characters of a title and a name, so that a line has room for the rest. */
const [maxTitle, maxName] = [120, 60]

const waits = 'waits for your approval'
const texts: Partial<Record<NoticeCause['kind'], string>> = {
  ...{ 'candidate.created': waits, 'candidate.reopened': waits, 'candidate.revised': waits },
  'candidate.assigned': 'was assigned to you',
  'candidate.commented': 'has a comment that mentions you',
  'candidate.changes-requested': 'needs changes',
  'candidate.approved': 'was approved',
  'candidate.dismissed': 'was dismissed',
}

/** True if a notice is about pending candidates, of which an agent may send any number. */
export function isOfWaiting({ kind }: Pick<NoticeCause, 'kind'>): boolean {
  return texts[kind] === waits
}

/**
 * Returns who is notified of something, and the text, by the present state: it is called when a notice is stored, and again when it is sent. All
 * recipients are curators, who may see all of a knowledge base. Nobody is notified of their own actions, nor of what the policy did at once.
 */
export async function noticesOf(ctx: Context, kb: KnowledgeBase, told: NoticeCause): Promise<PersonalNotice[]> {
  const { title: kbName, slug } = await kbLabel(kb)
  const kbTitle = oneLine(kbName, maxName)
  const { tenantId } = kb.identity
  const did = texts[told.kind]
  if (did === undefined) {
    const text = `Pages that you answer for are past their date (${kbTitle})`
    const pages = await stalePages(kb, ctx.now(), await ctx.users.curators(tenantId))
    return pages.map(([user, quote]) => ({ user, subject: text, text, quote, path: stalePage(slug) }))
  }
  const row = findCandidate(kb.projection.read, told.candidateId ?? '')
  const record = row && tryParseCandidate(await kb.repository.readTextOnce(row.blob))
  if (row === undefined || record === undefined) return []
  const { by = record.createdBy, reason: quote = '', via } = record.decisions[told.decision ?? -1] ?? {}
  const actor = told.kind === 'candidate.approved' ? await approverIn(kb, row.approval?.commit) : by
  const isWaiting = did === waits && row.status === 'pending'
  const { awaiting, votes } = isWaiting ? await decisionOf(kb, record) : { votes: new Map<string, Actor>() }
  if (actor === undefined || actor.id === 'policy' || (did === waits && awaiting === undefined)) return []
  const personOf = async ({ id }: Actor) => (await whoIs(ctx, tenantId, id)).id.replace('user:', '')
  const [self, sender] = [await personOf(actor), await personOf(record.createdBy)]
  // If several people must approve, notifies everyone who may vote; otherwise the owners whose approval is needed.
  const isVote = awaiting !== undefined && awaiting.votes > 0 && awaiting.votes + votes.size > 1
  const without = isVote
    ? await Promise.all([...votes.values(), ...(await authorsWithoutVote(kb, record))].map(personOf))
    : undefined
  const curators = await ctx.users.curators(tenantId)
  // Names in a forge's comment are accounts there, and anybody may write them.
  const mentioned = new Set(via === undefined ? mentionedIn(quote, curators).values() : [])
  const isRemark = told.kind === 'candidate.commented' || told.kind === 'candidate.changes-requested'
  const isConcerned = (user: User) => {
    if (without !== undefined) return !without.includes(user.id)
    if (awaiting !== undefined) return awaiting.owners.some((people) => goesByOneOf({ names: [user.email] }, people))
    if (told.kind === 'candidate.assigned') return row.status === 'pending' && user.email === assigneeOf(record)
    const isToSender = told.kind !== 'candidate.commented' && user.id === sender
    return isToSender || (isRemark && mentioned.has(user))
  }
  const title = oneLine(record.title, maxTitle)
  const text = `“${title}” ${did} (${oneLine(actor.name, maxName)}, ${kbTitle})`
  const notice = { subject: `[${kbTitle}] ${title}`, text, quote, path: candidatePage(record.id) }
  return curators.filter((user) => user.id !== self && isConcerned(user)).map((user) => ({ user, ...notice }))
}

async function authorsWithoutVote(kb: KnowledgeBase, record: Candidate): Promise<Actor[]> {
  const { deciding } = await kb.settings()
  return deciding?.authorMayApprove === true ? [] : authorsOf(record)
}

async function approverIn({ repository }: KnowledgeBase, commit: string | undefined): Promise<Actor | undefined> {
  const { data } = commit === undefined ? {} : await repository.read(commit)
  const said = data && trailersOf(messageOfCommit(data)).findLast(([name]) => name === 'Approved-By')?.[1]
  const [, name = '', id] = /^(.*) <([^<>]+)>$/.exec(said ?? '') ?? []
  return id === undefined ? undefined : { name, id }
}

/** Returns owners with the titles of their stale pages. */
async function stalePages(kb: KnowledgeBase, now: Date, people: readonly User[]): Promise<[User, string][]> {
  const { deciding } = await kb.settings()
  const view = await viewAs(kb, { audience: 'curator' })
  const stalenessOf = await stalenessIn(view, now)
  const titles = new Map<User, string[]>()
  for (const page of view.rows((sql) => neuronsInOrder(sql))) {
    const owners = stalenessOf(page).stale ? ownersOfPage(page, deciding?.owners ?? []) : []
    for (const user of people.filter(({ email }) => goesByOneOf({ names: [email] }, owners)))
      titles.getOrInsertComputed(user, () => []).push(oneLine(page.title, maxTitle))
  }
  return Array.from(titles, ([user, all]) => [user, all.join('\n')])
}
