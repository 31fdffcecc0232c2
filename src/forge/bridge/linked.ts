import { isAncestor } from '../../git/history/history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { ForgeLink, ForgePull } from '../../state/forge-links.ts'
import { type Forge, isForgeError, type PullRequest } from '../forge-adapter.ts'

export type Linked = {
  ctx: Context
  kb: KnowledgeBase
  link: ForgeLink
  forge: Forge
  /** Time of the last change of each pull request, by number, whose remarks have all been imported. */
  heard: Map<number, string>
  /** Numbers of pull requests that the forge did not find in the last comparison. */
  missing: Set<number>
  /** Login of the account that the credential belongs to. */
  me: string
  /** True if anybody may read the repository. */
  isPublic: boolean
  signal: AbortSignal
  onError: (error: unknown) => void
}

/** Parts of a link that are needed to take commits of a repository, which may not be linked yet. */
export type LinkedTaking = Pick<Linked, 'ctx' | 'kb' | 'forge' | 'signal'> & {
  link: Pick<ForgeLink, 'tenantId' | 'url' | 'branch' | 'main'>
}

/** State of the forge when a comparison began. */
export type Seen = {
  /** Pull requests by number that are open, or were closed since the last agreement on their state. */
  pulls: Map<number, PullRequest>
  /** Rows with the state that was last agreed on. Change a row with {@link agree} only. */
  rows: ForgePull[]
  branches: Map<string, Oid>
  /** Pull requests whose branches were just moved into main. The forge may detect their merge by itself. */
  merging: Set<ForgePull>
  /** Numbers of pull requests that the forge did not find for the first time, which may be an error. */
  unsure: Set<number>
  /** Pull requests whose branch was renamed, which is reported. Nothing is pushed for them. */
  renamed: Set<ForgePull>
  /** Reasons why the forge rejected changes of single pull requests. */
  problems: string[]
}

/** Prefix of the branches that the bridge creates. */
export const branchPrefix = 'ganglion/'
/** Label of each pull request that the bridge opens. People give it to a pull request from a fork to have it imported. */
export const ownLabel = 'ganglion'

/** Label for a pull request that is merged without some of its pages: these are dismissed. */
export const dismissRestLabel = 'ganglion: dismiss the rest'

/** Returns the link itself as the caller, for actions whose author the forge does not name. */
export function callerOfLink({ link, forge }: Pick<LinkedTaking, 'link' | 'forge'>): Caller {
  const { host, pathname } = new URL(link.url)
  return linkedCaller(link, `${forge.kind}:${pathname.slice(1)}`, `${pathname.slice(1)} on ${host}`)
}

/** Returns an account of the forge as a caller. Whoever the forge lets merge is a curator. */
export function callerOfAccount({ link, forge }: Pick<Linked, 'link' | 'forge'>, login: string): Caller {
  return linkedCaller(link, `${forge.kind}:${login}`, login)
}

/** Returns a curator who acts through a link. */
export function linkedCaller({ tenantId }: Pick<ForgeLink, 'tenantId'>, id: string, name: string): Caller {
  return { id: id.replace(/[^\w:./@[\]-]/g, '-'), name, tenantId, role: 'curator', connectors: [] }
}

/** True if a commit is stored here, and is an ancestor of another. */
export async function isWithin({ kb }: Pick<Linked, 'kb'>, commit: Oid, head: Oid): Promise<boolean> {
  return (await kb.repository.find(commit)) !== undefined && (await isAncestor(kb.repository, commit, head))
}

/**
 * Stores the agreed state of a pull request, and updates the row. A server that stops ends the comparison here: each step is idempotent,
 * and completed steps are stored.
 * @throws the reason of the signal
 */
export async function agree({ ctx, link, signal }: Linked, row: ForgePull, changes: Partial<ForgePull>): Promise<void> {
  Object.assign(row, changes)
  await ctx.forgePulls.put(link.id, row)
  signal.throwIfAborted()
}

/**
 * Changes one pull request. If the forge rejects that, reports the reason and returns, so that other pull requests continue and the next
 * comparison retries. Any other failure ends the comparison.
 */
export async function attempt({ problems }: Pick<Seen, 'problems'>, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isForgeError(error, 'conflict', 'gone')) throw error
    problems.push(error.message)
  }
}

export function newRow(branch: string, number: number | null): ForgePull {
  const unknown = { head: null, change: null, seen: null, text: null, reported: null }
  return { branch, number, candidates: [], state: 'open', ...unknown, comments: 0 }
}

/** Returns an absolute URL, or undefined: people on a forge cannot follow a relative one. */
export function publicUrl(url: string): string | undefined {
  return URL.canParse(url) ? url : undefined
}

/** Remedy for people if the repository is not the one that was linked. */
export const otherRepository =
  'If it is the right one, unlink the knowledge base and link it again: what waits then gets new pull requests'

/** Thrown if the forge is in an implausible state. Nothing is changed on either side until it is plausible again, or a person has acted. */
export class ForgePaused extends Error {
  /** Creates the error. @param remedy a sentence for a person, without a full stop */
  constructor(what: string, remedy: string) {
    super(`Paused, nothing is changed on either side: ${what}. ${remedy}.`)
  }
}
