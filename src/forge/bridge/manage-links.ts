import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { type Acting, recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import type { CredentialReference, ForgeLink } from '../../state/forge-links.ts'
import { type ForgeKind, forgeKinds } from '../forge-adapter.ts'
import type { ForgeBridge } from './forge-bridge.ts'
import { isReference } from './secret-reference.ts'

export type LinkRequest = {
  kb: string
  /** URL of the repository's web page. */
  url: string
  /** Kind of the forge; by default, derived from the host name. */
  kind?: ForgeKind | undefined
  apiUrl?: string | undefined
  credential: CredentialReference
  webhookSecret?: string | undefined
  maxOpen?: number | undefined
  /** Name of the main branch on the forge; undefined: `main`. */
  branch?: string | undefined
}

export type LinkSummary = {
  id: string
  kb: string
  kind: string
  url: string
  /** Number of open pull requests for candidates. */
  open: number
  maxOpen: number
  /** URL for the forge's webhooks; null: the server polls once a minute. */
  eventsUrl: string | null
  syncedAt: string | null
  failingSince: string | null
  note: string | null
  /** Warning for people; null if there is none. */
  warning: string | null
}

export const publicWarning =
  'Others can read that repository than those who were let in there. It shows the whole knowledge base, pages that are ' +
  'internal too, and all that waits. Make it private; what the public may see is pushed to another by: ganglion mirror'

const defaultMaxOpen = 50

/**
 * Links a knowledge base to a repository on a forge, after it has tried everything that the bridge needs there without writing. The first
 * comparison follows.
 * @returns the account that writes there, by the forge's own name, and whether others can read the repository
 * @throws {GanglionError} `not_found` for the knowledge base
 * @throws {ValidationError}
 * @throws {ForgeError}
 * @throws {RemoteError}
 * @throws {SecretMissing}
 */
export async function linkForge(
  ctx: Context,
  by: Acting,
  bridge: ForgeBridge,
  {
    kb,
    url,
    kind = kindOf(url),
    apiUrl,
    credential,
    webhookSecret,
    maxOpen = defaultMaxOpen,
    branch = 'main',
  }: LinkRequest,
): Promise<{ link: ForgeLink; account: string; isPublic: boolean }> {
  const { forgeLinks, knowledgeBases, now } = ctx
  const identity = await knowledgeBases.find(by.tenantId, kb)
  if (identity === undefined) throw new GanglionError('not_found')
  if (kind === undefined) {
    throw new ValidationError({ kind: [`Say which forge ${new URL(url).hostname} is: ${forgeKinds.join(', ')}.`] })
  }
  for (const where of [...Object.entries(credential), ['webhookSecret', webhookSecret ?? 'env:NONE'] as const]) {
    if (where[0] !== 'appId' && !isReference(where[1])) {
      throw new ValidationError({ [where[0]]: ['must be env:NAME or file:/path: a secret itself is not stored.'] })
    }
  }
  const asked = {
    tenantId: by.tenantId,
    kbId: identity.id,
    kind,
    url: withoutEnd(url),
    apiUrl: apiUrl ?? null,
    credential,
    branch,
    webhookSecret: webhookSecret ?? null,
  }
  const isSame = (link: ForgeLink) => link.url.toLowerCase() === asked.url.toLowerCase()
  if ((await forgeLinks.list(undefined, { disabled: true })).some((link) => isSame(link) && link.kbId !== identity.id))
    throw new ValidationError({ url: ['is linked to another knowledge base already'] })
  const { account, isPublic, problem } = await bridge.inspect(asked)
  if (problem !== undefined) throw new ValidationError({ url: [problem] })
  const link = await forgeLinks.create({ ...asked, maxOpen, isPublic: Number(isPublic) }, now())
  if (link === undefined) throw new ValidationError({ kb: [`${kb} is linked already: unlink it first.`] })
  await recordAct(ctx, by, { action: 'forge.linked', subject: `${identity.slug} ${link.url}` })
  return { link, account, isPublic }
}

export async function listForgeLinks(ctx: Context, tenantId?: string): Promise<LinkSummary[]> {
  const slugs = new Map((await ctx.knowledgeBases.list(tenantId)).map(({ id, slug }) => [id, slug]))
  return Promise.all(
    (await ctx.forgeLinks.list(tenantId)).map(async (link) => {
      const pulls = await ctx.forgePulls.list(link.id)
      const { id, kind, url, maxOpen, syncedAt, failingSince, note, isPublic } = link
      return {
        ...{ id, kind, url, maxOpen, syncedAt, failingSince, note },
        kb: slugs.get(link.kbId) ?? link.kbId,
        warning: isPublic === 1 ? publicWarning : null,
        open: pulls.filter(({ state, number }) => state === 'open' && number !== null).length,
        eventsUrl: link.webhookSecret === null ? null : ctx.urls.forgeEvents(id),
      }
    }),
  )
}

/** Knowledge base whose comparisons with its repository fail. Recent remarks on its pull requests may be missing. */
export type FailingLink = { kb: string; url: string; failingSince: string }

export async function listFailingLinks(
  { forgeLinks, knowledgeBases }: Pick<Context, 'forgeLinks' | 'knowledgeBases'>,
  { tenantId }: Pick<Acting, 'tenantId'>,
  slug?: string,
): Promise<FailingLink[]> {
  const failing = (await forgeLinks.list(tenantId)).filter((link) => link.failingSince !== null)
  if (failing.length === 0) return []
  const slugs = new Map((await knowledgeBases.list(tenantId)).map((kb) => [kb.id, kb.slug]))
  return failing.flatMap(({ kbId, url, failingSince }) => {
    const kb = slugs.get(kbId)
    return kb === undefined || failingSince === null || (slug ?? kb) !== kb ? [] : [{ kb, url, failingSince }]
  })
}

/** Follows a renamed main branch of the forge. The next comparison checks that it has our history. @throws {GanglionError} `not_found` */
export async function followBranch(ctx: Context, by: Acting, kb: string, branch: string): Promise<void> {
  const link = await linkOf(ctx, by, kb)
  await ctx.forgeLinks.note(link.id, { branch })
  await recordAct(ctx, by, { action: 'forge.followed', subject: `${kb} ${link.url} ${branch}` })
}

/** Removes a link; both sides stay as they are. @throws {GanglionError} `not_found` */
export async function unlinkForge(ctx: Context, by: Acting, kb: string): Promise<ForgeLink> {
  const link = await linkOf(ctx, by, kb)
  await ctx.forgeLinks.remove(link.id)
  await recordAct(ctx, by, { action: 'forge.unlinked', subject: `${kb} ${link.url}` })
  return link
}

export async function linkOf(ctx: Context, { tenantId }: Pick<Acting, 'tenantId'>, kb: string): Promise<ForgeLink> {
  const identity = await ctx.knowledgeBases.find(tenantId, kb)
  const link = identity && (await ctx.forgeLinks.ofKb(identity.id))
  if (link === undefined) throw new GanglionError('not_found')
  return link
}

/** Kinds of forges by well-known host. */
const knownHosts = new Map<string, ForgeKind>([
  ['github.com', 'github'],
  ['gitlab.com', 'gitlab'],
  ['gitea.com', 'gitea'],
  ['codeberg.org', 'forgejo'],
])

function kindOf(url: string): ForgeKind | undefined {
  return knownHosts.get(new URL(url).hostname)
}

function withoutEnd(url: string): string {
  return url.replace(/\/+$/, '').replace(/\.git$/, '')
}
