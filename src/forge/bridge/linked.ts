import { isAncestor } from '../../git/history/ancestry.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { ForgeLink } from '../../state/forge/forge-links.ts'
import type { ForgePull } from '../../state/forge/forge-pulls.ts'
import type { Forge, PullRequest } from '../forge-adapter.ts'
import { ForgeError } from '../forge-error.ts'

export type Linked = {
  ctx: Context
  kb: KnowledgeBase
  link: ForgeLink
  forge: Forge
  /** When each pull request that has been heard out was last changed. */
  heard: Map<number, string>
  /** Pull requests that the forge did not find in the last comparison. */
  missing: Set<number>
  /** Login of the account that the credential belongs to. */
  me: string
  /** Anybody may read the repository. */
  isPublic: boolean
  signal: AbortSignal
  onError: (error: unknown) => void
}

/** What is needed to take commits of a repository, which may not be linked yet. */
export type LinkedTaking = Pick<Linked, 'ctx' | 'kb' | 'forge' | 'signal'> & {
  link: Pick<ForgeLink, 'tenantId' | 'url' | 'branch' | 'main'>
}

/** What the forge has, as it was when it was looked at. */
export type Seen = {
  /** Those that are open, and those that are not any more since they were last agreed on. */
  pulls: Map<number, PullRequest>
  /** What was agreed on last. Change a row with {@link agree} only. */
  rows: ForgePull[]
  branches: Map<string, Oid>
  /** Those whose branches were just given what main has: the forge may see by itself that they are merged. */
  merging: Set<ForgePull>
  /** Those that the forge did not find for the first time: nothing is concluded from that. */
  unsure: Set<number>
  /** Requests whose branch has another name now: it is told, and nothing is pushed for them. */
  renamed: Set<ForgePull>
  /** What the forge refused to do with single pull requests, and why. */
  problems: string[]
}

/** Before the names of the branches that are made here. */
export const branchPrefix = 'ganglion/'
/** Of each pull request that is made here. On one from a fork, it lets that in. */
export const ownLabel = 'ganglion'

/** On a pull request that is merged without some of its pages: they are dismissed. */
export const dismissRestLabel = 'ganglion: dismiss the rest'

/** The link itself, as the one who acts where the forge does not say who did. */
export function callerOfLink({ link, forge }: Pick<LinkedTaking, 'link' | 'forge'>): Caller {
  const { host, pathname } = new URL(link.url)
  return linkedCaller(link, `${forge.kind}:${pathname.slice(1)}`, `${pathname.slice(1)} on ${host}`)
}

/** Somebody on the forge, as a caller: whom it lets merge is a curator. */
export function callerOfAccount({ link, forge }: Pick<Linked, 'link' | 'forge'>, login: string): Caller {
  return linkedCaller(link, `${forge.kind}:${login}`, login)
}

/** A curator who acts through a link. */
export function linkedCaller({ tenantId }: Pick<ForgeLink, 'tenantId'>, id: string, name: string): Caller {
  return { id: id.replace(/[^\w:./@[\]-]/g, '-'), name, tenantId, role: 'curator', connectors: [] }
}

/** Whether a commit is here, and in the history of another. */
export async function isWithin({ kb }: Pick<Linked, 'kb'>, commit: Oid, head: Oid): Promise<boolean> {
  return (await kb.repository.find(commit)) !== undefined && (await isAncestor(kb.repository, commit, head))
}

/**
 * Stores what was agreed on about a pull request, and updates the row. A server that stops ends the comparison here: each step can be
 * repeated, and what was done is stored.
 * @throws the reason of the signal
 */
export async function agree({ ctx, link, signal }: Linked, row: ForgePull, changes: Partial<ForgePull>): Promise<void> {
  Object.assign(row, changes)
  await ctx.forgePulls.put(link.id, row)
  signal.throwIfAborted()
}

/**
 * Does something with one pull request. If the forge refuses that, the others do not wait for it: the reason is reported, and the next
 * comparison tries again. Any other failure ends the comparison.
 */
export async function attempt({ problems }: Pick<Seen, 'problems'>, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isForgeError(error, 'conflict', 'gone')) throw error
    problems.push(error.message)
  }
}

export function isForgeError(error: unknown, ...codes: readonly ForgeError['code'][]): error is ForgeError {
  return error instanceof ForgeError && codes.includes(error.code)
}

/** Turns a `gone` into undefined. @throws any other error */
export function unlessGone(error: unknown): undefined {
  if (!isForgeError(error, 'gone')) throw error
}

export function newRow(branch: string, number: number | null): ForgePull {
  const unknown = { head: null, change: null, seen: null, text: null, reported: null }
  return { branch, number, candidates: [], state: 'open', ...unknown, comments: 0 }
}

/** Nobody on a forge can follow a relative address. */
export function publicUrl(url: string): string | undefined {
  return URL.canParse(url) ? url : undefined
}
