import { trailersOf } from '../../git/history/trailers.ts'
import { messageOfCommit } from '../../git/objects/object.ts'
import { whoIs } from '../../kb/access/who-is.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { mentionedIn } from '../../markdown/mentions.ts'
import { awaitingOf } from '../../queue/approval.ts'
import { type Actor, assigneeOf, type Candidate } from '../../rules/candidates/candidate.ts'
import { authorsOf, goesByOneOf, votesOn } from '../../rules/deciding.ts'
import type { User } from '../../state/accounts/users.ts'
import type { StoredNotice } from '../../state/notices.ts'

/** `did`: a verb, and what follows it. `quote`: what somebody wrote. */
type Notice = { title: string; did: string; by: string; quote: string | undefined; people: readonly User[] }

type Told = Pick<StoredNotice, 'kind' | 'candidateId' | 'decision'>

const waits = 'waits for your approval'
const texts: Partial<Record<StoredNotice['kind'], string>> = {
  ...{ 'candidate.created': waits, 'candidate.reopened': waits, 'candidate.revised': waits },
  'candidate.assigned': 'was assigned to you',
  'candidate.commented': 'has a comment that mentions you',
  'candidate.changes-requested': 'needs changes',
  'candidate.approved': 'was approved',
  'candidate.dismissed': 'was dismissed',
}

/**
 * Says who is told of an event, and what: by what holds now, so that it is asked when a notice is made and again when it is sent. All are
 * curators, who may see every candidate. Nobody is told of what they did themselves, nor of what the policy did at once.
 */
export async function noticeOf(ctx: Context, kb: KnowledgeBase, told: Told): Promise<Notice | undefined> {
  const { tenantId } = kb.identity
  const did = texts[told.kind]
  const row = did === undefined ? undefined : findCandidate(kb.projection.read, told.candidateId ?? '')
  const record = row && tryParseCandidate(await kb.repository.readTextOnce(row.blob))
  if (did === undefined || row === undefined || record === undefined) return undefined
  const { by = record.createdBy, reason: quote } = record.decisions[told.decision ?? -1] ?? {}
  const actor = told.kind === 'candidate.approved' ? await approverIn(kb, row.approval?.commit) : by
  if (actor === undefined || actor.id === 'policy') return undefined
  const personOf = async ({ id }: Actor) => (await whoIs(ctx, tenantId, id)).id.replace('user:', '')
  const curators = await ctx.users.curators(tenantId)
  const isWaiting = row.status === 'pending'
  const chosen = async () => {
    if (did === waits) return isWaiting ? approversOf(kb, record, curators, personOf) : []
    if (told.kind === 'candidate.assigned')
      return curators.filter(({ email }) => isWaiting && email === assigneeOf(record))
    if (told.kind === 'candidate.commented') return [...mentionedIn(quote ?? '', curators).values()]
    const sender = await personOf(record.createdBy)
    return curators.filter(({ id }) => id === sender)
  }
  const self = await personOf(actor)
  const people = (await chosen()).filter(({ id }) => id !== self)
  return people.length === 0 ? undefined : { title: record.title, did, by: actor.name, quote, people }
}

/** The owners whose approval a candidate needs; where several people have to approve it, all who have a vote on it. */
async function approversOf(
  kb: KnowledgeBase,
  record: Candidate,
  curators: readonly User[],
  personOf: (actor: Actor) => Promise<string>,
): Promise<User[]> {
  const { votes, owners } = (await awaitingOf(kb, record)) ?? { votes: 0, owners: [] }
  if (votes < 2) return curators.filter(({ email }) => owners.some((rule) => goesByOneOf({ names: [email] }, rule)))
  const { deciding } = await kb.settings()
  const without = [...votesOn(record), ...(deciding?.authorMayApprove === true ? [] : authorsOf(record))]
  const ids = await Promise.all(without.map(personOf))
  return curators.filter(({ id }) => !ids.includes(id))
}

async function approverIn({ repository }: KnowledgeBase, commit: string | undefined): Promise<Actor | undefined> {
  const { data } = commit === undefined ? {} : await repository.read(commit)
  const said = data && trailersOf(messageOfCommit(data)).findLast(([name]) => name === 'Approved-By')?.[1]
  const [, name = '', id] = /^(.*) <([^<>]+)>$/.exec(said ?? '') ?? []
  return id === undefined ? undefined : { name, id }
}
