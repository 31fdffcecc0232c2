import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { ForgeBridge } from '../../forge/bridge/forge-bridge.ts'
import {
  followBranch,
  type LinkSummary,
  linkForge,
  linkOf,
  listForgeLinks,
  publicWarning,
  unlinkForge,
} from '../../forge/bridge/manage-links.ts'
import { syncLink } from '../../forge/bridge/start-forges.ts'
import { forgeKinds } from '../../forge/forge-adapter.ts'
import type { Acting } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import { isLocked } from '../../state/directory/directory-lock.ts'
import type { ForgeLink } from '../../state/forge-links.ts'
import { actOn, tenantIdOf } from '../act-on.ts'
import { UsageError } from '../cli-errors.ts'
import { argument, OfTenant, option } from '../options.ts'
import { table } from '../table.ts'
import { requireTenant } from '../with-ganglion.ts'

const Named = z.object({
  tenant: option(z.string(), '<slug>', 'tenant of the knowledge base'),
  kb: option(z.string(), '<slug>', 'the knowledge base'),
})
const Url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
/** Branch of people. The server creates and moves the branches below `ganglion/`. */
const Branch = z.string().regex(/^(?!ganglion\/)[^\s~^:?*[\\-][^\s~^:?*[\\]*$/, {
  error: 'must be the name of a branch, and none of ganglion/',
})
const Text = z.string().optional()
const Count = z.coerce.number().int().min(1).max(1000)
const LinkOptions = Named.extend({
  url: argument(Url, 'URL of the web page of the repository, such as https://github.com/acme/handbook'),
  kind: option(
    z.enum(forgeKinds).optional(),
    '<kind>',
    `which forge it is: ${forgeKinds.join(', ')} (default: by the host)`,
  ),
  apiUrl: option(Url.optional(), '<url>', 'URL of its API, if it is not the usual one of the forge'),
  app: option(Text, '<id>', 'the id of a GitHub App that is installed there; needs --key'),
  key: option(Text, '<where>', 'the private key of that App: env:NAME or file:/path'),
  token: option(Text, '<where>', 'a token: instead of an App, and on every other forge: env:NAME or file:/path'),
  webhookSecret: option(Text, '<where>', 'secret that signs its webhooks: env:NAME or file:/path'),
  branch: option(Branch.optional(), '<name>', 'branch on the forge that main is synchronised with (default: main)'),
  maxOpen: option(Count.optional(), '<number>', 'maximum number of open pull requests (default: 50)'),
})
/** Maximum milliseconds to wait for a running server's comparison, and between two checks. */
const patience = 10 * 60_000
const lookInterval = 250

export function addForgeCommands(program: Command): void {
  const forge = program.command('forge').description('show candidates as pull requests in a repository on a forge')
  addLink(forge)
  addStatus(forge)
  addSync(forge)
  addUnlink(forge)
}

function addLink(forge: Command): void {
  actOn(
    forge
      .command('link')
      .description('link a knowledge base to a repository; it must be empty')
      .addHelpText(
        'after',
        '\nSecrets are not stored, only the names of their variables or files, which a running server reads.' +
          '\n\nExample:\n  ganglion forge link https://github.com/acme/handbook --tenant acme --kb handbook --app 12345 --key file:/etc/ganglion/app.pem',
      ),
    LinkOptions,
    async ({ tenant, app, key, token, ...request }, ctx, environment) => {
      const by = await actingIn(ctx, tenant)
      const { link, account, isPublic } = await withBridge(ctx, (bridge) =>
        linkForge(ctx, by, bridge, { ...request, credential: credentialOf({ app, key, token }) }).catch(
          lacking(tenant, `knowledge base ${request.kb}`),
        ),
      )
      const events = `${environment.publicUrl ?? ''}/forge/${link.id}/events`
      const hook = link.webhookSecret === null ? '' : `\nSend its webhooks, as JSON, to ${events}`
      const open = isPublic ? `\n${publicWarning}` : ''
      return {
        json: { id: link.id, url: link.url, account, events, isPublic },
        text: `Linked ${request.kb} to ${link.url}, as ${account}. A running server begins within 5 seconds.${hook}${open}`,
      }
    },
  )
}

function addStatus(forge: Command): void {
  actOn(forge.command('status').description('show the state of links'), OfTenant, async ({ tenant }, ctx) => {
    const links = await listForgeLinks(ctx, await tenantIdOf(ctx.tenants, tenant))
    const isNegative = links.some(({ failingSince, note }) => failingSince !== null || note !== null)
    const warnings = links.flatMap(({ kb, warning }) => (warning === null ? [] : [`\n${kb}: ${warning}`]))
    return { json: { links }, text: linkTable(links) + warnings.join(''), isNegative }
  })
}

function addSync(forge: Command): void {
  actOn(
    forge.command('sync').description('compare both sides of a link now, and wait until that is done'),
    Named.extend({
      branch: option(Branch.optional(), '<name>', 'new name of the branch, if it was renamed on the forge'),
    }),
    async ({ kb, tenant, branch }, ctx) => {
      const by = await actingIn(ctx, tenant)
      if (branch !== undefined)
        await followBranch(ctx, by, kb, branch).catch(lacking(tenant, `linked knowledge base ${kb}`))
      const link = await linkOf(ctx, by, kb).catch(lacking(tenant, `linked knowledge base ${kb}`))
      if (isLocked(ctx.directory)) await letServerSync(ctx, link)
      else await withBridge(ctx, (bridge) => syncLink(ctx, bridge, link).catch(() => {}))
      const { note, failingSince } = (await ctx.forgeLinks.find(link.id)) ?? link
      const text = note ?? `${kb} and ${link.url} are the same.`
      return { json: { id: link.id, note, failing: failingSince !== null }, text, isNegative: note !== null }
    },
  )
}

function addUnlink(forge: Command): void {
  actOn(
    forge.command('unlink').description('forget a link; both sides stay as they are'),
    Named,
    async ({ kb, tenant }, ctx) => {
      const { id, url } = await unlinkForge(ctx, await actingIn(ctx, tenant), kb).catch(
        lacking(tenant, `linked knowledge base ${kb}`),
      )
      return { json: { id, url, unlinked: true }, text: `${kb} is no longer linked to ${url}.` }
    },
  )
}

async function actingIn({ tenants }: Context, slug: string): Promise<Acting> {
  return { ...operator, tenantId: (await requireTenant(tenants, slug)).id }
}

function credentialOf({
  app,
  key,
  token,
}: {
  app?: string | undefined
  key?: string | undefined
  token?: string | undefined
}) {
  if (token !== undefined && app === undefined && key === undefined) return { token }
  if (token === undefined && app !== undefined && key !== undefined) return { appId: app, privateKey: key }
  throw new UsageError('give either --token, or --app and --key')
}

async function withBridge<Result>(ctx: Context, use: (bridge: ForgeBridge) => Promise<Result>): Promise<Result> {
  const bridge = new ForgeBridge(ctx, { env: process.env, onError: () => {} })
  try {
    return await use(bridge)
  } finally {
    await bridge.close()
  }
}

/** Makes the server that holds the data directory compare both sides, since two processes at once would do everything twice. */
async function letServerSync({ forgeLinks }: Context, link: ForgeLink): Promise<void> {
  await forgeLinks.note(link.id, { dueAt: null })
  for (const until = Date.now() + patience; Date.now() < until; await delay(lookInterval)) {
    const now = await forgeLinks.find(link.id)
    if (now === undefined || now.dueAt !== null) return
  }
  throw new Error('The server has not compared them in time.')
}

/** Returns a handler for `catch` that names what a tenant lacks, if the server found none. */
function lacking(tenant: string, what: string) {
  return (error: unknown): never => {
    throw error instanceof GanglionError ? new Error(`${tenant} has no ${what}.`) : error
  }
}

function linkTable(links: readonly LinkSummary[]): string {
  if (links.length === 0) return 'No knowledge base is linked to a forge.'
  return table(
    ['KB', 'FORGE', 'URL', 'OPEN', 'SYNCED', 'STATE'],
    links.map(({ kb, kind, url, open, maxOpen, syncedAt, failingSince, note }) => [
      ...[kb, kind, url, `${open} of ${maxOpen}`, syncedAt ?? 'never'],
      failingSince === null ? (note ?? 'well') : `fails since ${failingSince}: ${note}`,
    ]),
  )
}
