import { createHash } from 'node:crypto'
import type { Awaiting } from '../../contract/envelope.ts'
import { foldEmail } from '../../contract/people.ts'
import type { Oid } from '../../git/objects/object.ts'
import { whoIs } from '../../kb/access/who-is.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { authorsAmong, awaitedApprovals } from '../../kb/writing/approvals.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { decisionOf } from '../../queue/approval.ts'
import { awaitingText, isOpenToCurators, mayBeAmong } from '../../rules/deciding.ts'
import { literal } from '../../rules/text/literal.ts'
import { isForgeError } from '../forge-adapter.ts'
import type { Linked } from './linked.ts'

/** Approvals that pending candidates need by `owners` and `approvals`, and how a merge on the forge counts for them. */
export type Needed = {
  awaiting: Awaiting
  /** Accounts whose merge would be the last missing approval. */
  mergers: readonly string[]
}

/** Returns the approvals that candidates need besides a merge by anybody who may merge; undefined if none. */
export async function neededApprovals(
  { ctx, kb, forge, link }: Linked,
  candidateIds: readonly string[],
): Promise<Needed | undefined> {
  const { deciding } = await kb.settings()
  if (deciding === null || isOpenToCurators(deciding)) return undefined
  const all: Awaiting = { votes: 0, owners: [] }
  const nameOf = (id: string) => whoIs(ctx, link.tenantId, id)
  const anybody = await nameOf(`${forge.kind}:-`)
  let mayCount = true
  for (const id of candidateIds) {
    const row = findCandidate(kb.projection.read, id)
    if (row?.status !== 'pending') continue
    const candidate = parseCandidate(await kb.repository.readText(row.blob))
    const { awaiting } = await decisionOf(kb, candidate)
    mayCount &&= !mayBeAmong(await authorsAmong([candidate], deciding, nameOf), anybody)
    all.votes = Math.max(all.votes, awaiting?.votes ?? 0)
    for (const people of awaiting?.owners ?? []) {
      if (!all.owners.some((known) => known.join('\n') === people.join('\n'))) all.owners.push(people)
    }
  }
  return needed(forge.kind, all, mayCount)
}

/** Returns the approvals that a merge still needs. @param mayCount true if approvals of the forge's accounts count */
function needed(kind: string, all: Awaiting, mayCount: boolean): Needed | undefined {
  if (mayCount && all.votes < 2 && all.owners.length === 0) return undefined
  const [first = [], ...others] = all.owners.map((people) => accountsAmong(people, kind))
  const mergers =
    mayCount && all.votes < 2 ? first.filter((login) => others.every((logins) => logins.includes(login))) : []
  return { awaiting: all, mergers }
}

/** Returns the approvals that changed files need which cannot be candidates: only their owners matter. */
export async function neededForFiles({ kb, forge }: Linked, paths: readonly string[]): Promise<Needed | undefined> {
  const { deciding } = await kb.settings()
  if (deciding === null || isOpenToCurators(deciding)) return undefined
  const view = { sql: kb.projection.read, readText: (oid: Oid) => kb.repository.readText(oid) }
  const files = new Map(paths.map((path) => [path, null]))
  const awaiting = await awaitedApprovals(kb, view, files, { by: undefined, of: [] })
  return awaiting && needed(forge.kind, awaiting, true)
}

/** Returns the logins, in lower-case letters, of owners that `kb.yaml` names as accounts of a forge: `github:ada`. */
function accountsAmong(people: readonly string[], kind: string): string[] {
  const logins = people.map(foldEmail).filter((name) => name.startsWith(`${kind}:`))
  return logins.map((name) => name.slice(kind.length + 1))
}

/** Describes the missing approvals, and the effect of a merge, in Markdown. */
export function neededText({ awaiting, mergers }: Needed): string {
  const who = mergers.map((login) => literal(login)).join(' or ')
  const effect =
    mergers.length > 0 ? `A merge by ${who} gives it.` : 'A merge here does not give it: approve in Ganglion.'
  return `${literal(awaitingText(awaiting))} ${effect}`
}

/** Returns the key of a report, stored as `reported`. A new report is due if the commit, or the approvals it needs, change. */
export function reportKey(head: string, needed: Needed | undefined): string {
  return needed === undefined
    ? head
    : `${head} ${createHash('sha256').update(JSON.stringify(needed)).digest('base64url')}`
}

/** Returns the key for rejected commits, which are not checked again. */
export function refusedKey(head: string): string {
  return `${head} refused`
}

/** Requests reviews from the accounts in `owners`. Leaves out accounts that the forge does not accept, such as the author. */
export async function requestOwners({ forge }: Linked, number: number, needed: Needed | undefined): Promise<void> {
  const logins = new Set(needed?.awaiting.owners.flatMap((people) => accountsAmong(people, forge.kind)))
  for (const login of logins) {
    await forge.requestReviews(number, [login]).catch((error: unknown) => {
      if (!isForgeError(error, 'conflict', 'gone', 'refused')) throw error
    })
  }
}
