import type { Command } from 'commander'
import { z } from 'zod'
import { KeyLimits, Label, limitsOrNone } from '../../contract/administration.ts'
import { KeyAudience, Role } from '../../contract/vocabulary.ts'
import { operator } from '../../kb/create-kb.ts'
import { type ApiKeySummary, createApiKey, limitApiKey, revokeApiKey } from '../../people/manage-api-keys.ts'
import type { ApiKey } from '../../state/accounts/api-keys.ts'
import { act } from '../command.ts'
import { argument, flag, OfTenant, option, repeatable } from '../options.ts'
import { table } from '../table.ts'
import { requireTenant, tenantSlugs, withContext } from '../with-ganglion.ts'

const fetchNotes = {
  'fetch shown': 'It clones with git what it may see.',
  'fetch all': 'It fetches everything with git, hidden pages and candidates too.',
  push: 'It fetches everything with git, and pushes.',
}
const milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const longest = 100 * 365 * milliseconds.d

/** Schema of a duration such as `90d`, `12h`, `30m`, `45s` or `2w`. Parses to milliseconds: more than 0, at most 100 years. */
export const Duration = z
  .string()
  .regex(/^[0-9]{1,10}[smhdw]$/, 'must be a number and one of s, m, h, d, w, e.g. 90d')
  .transform((text) => Number(text.slice(0, -1)) * milliseconds[Unit.parse(text.slice(-1))])
  .refine((duration) => duration > 0 && duration <= longest, 'must be more than 0 and at most 100 years')

const Unit = z.enum(['s', 'm', 'h', 'd', 'w'])

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('make, list, limit and revoke API keys')

  act(
    key
      .command('create')
      .description('make an API key; its token is shown only now')
      .addHelpText('after', '\nExample:\n  ganglion key create --tenant acme --role app --name website --expires 90d'),
    z.object({
      tenant: option(z.string(), '<slug>', 'tenant whose knowledge bases it opens'),
      role: option(Role, '<role>', `what it may do: ${Role.options.join(', ')}`),
      name: option(Label.optional(), '<name>', 'its display name'),
      connector: repeatable(z.array(Label).default([]), '<name>', 'a connector it may speak as'),
      git: flag('it also clones and fetches everything, hidden pages and candidates too, but never pushes: for CI'),
      audience: option(
        KeyAudience.optional(),
        '<name>',
        `what a reader key may ask for beside its own: ${KeyAudience.options.join(', ')}`,
      ),
      expires: option(Duration.optional(), '<duration>', 'when it ends, e.g. 90d or 12h (default: never)'),
      ...limitOptions,
    }),
    ({ tenant: slug, role, name, connector, git, audience = null, expires, ...limits }, environment) =>
      withContext(environment, async (ctx) => {
        const { id: tenantId } = await requireTenant(ctx.tenants, slug)
        const expiresAt = expires === undefined ? null : new Date(ctx.now().getTime() + expires)
        const { key, token } = await createApiKey(
          ctx,
          { ...operator, tenantId },
          {
            name: name ?? `${role} key`,
            role,
            connectors: connector,
            expiresAt,
            git: git ? 'all' : 'shown',
            audience,
            limits: limitsOrNone(readLimits(limits)),
          },
        )
        return {
          json: { id: key.id, token, role },
          text: `Made the ${role} key ${key.id} of ${slug}. ${fetchNotes[gitOf(key)]} Its token, shown only now:\n${token}`,
        }
      }),
  )

  act(key.command('list').description('list API keys'), OfTenant, ({ tenant }, environment) =>
    withContext(environment, async ({ tenants, apiKeys }) => {
      const keys = await apiKeys.list(tenant === undefined ? undefined : (await requireTenant(tenants, tenant)).id)
      const slugs = await tenantSlugs(tenants)
      const listed = keys.map(({ tenantId, userId: _, ...rest }) => ({
        ...rest,
        tenant: slugs.get(tenantId) ?? tenantId,
      }))
      return { json: { keys: listed }, text: keyTable(listed, new Date()) }
    }),
  )

  act(
    key.command('limit').description('set what a key may propose, in each knowledge base; without options: anything'),
    z.object({ id: Id, ...limitOptions }),
    ({ id, ...limits }, environment) =>
      withContext(environment, async (ctx) => {
        const key = await ctx.apiKeys.find(id)
        if (key === undefined) throw new Error(`There is no API key ${id}.`)
        const set = readLimits(limits)
        await limitApiKey(ctx, { ...operator, tenantId: key.tenantId }, id, set)
        return { json: { id, limits: limitsOrNone(set) }, text: `Set the limits of the key ${id}.` }
      }),
  )

  act(key.command('revoke').description('revoke an API key'), z.object({ id: Id }), ({ id }, environment) =>
    withContext(environment, async (ctx) => {
      const key = await ctx.apiKeys.find(id)
      if (key === undefined) throw new Error(`There is no API key ${id}.`)
      await revokeApiKey(ctx, { ...operator, tenantId: key.tenantId }, id)
      return { json: { id, revoked: true }, text: `Revoked the key ${id}.` }
    }),
  )
}

const Id = argument(z.string(), 'id of the key, see key list')
const Count = z.coerce.number().pipe(KeyLimits.shape.pending.unwrap()).optional()
const limitOptions = {
  maxPending: option(Count, '<n>', 'maximum number of its pending candidates'),
  maxApproved: option(Count, '<n>', 'maximum that the policy approves in a day; others wait for a curator'),
  path: repeatable(KeyLimits.shape.paths.default([]), '<path>', 'a folder or page that it may propose to'),
  tag: repeatable(KeyLimits.shape.tags.default([]), '<tag>', 'a tag of pages that it may propose to'),
}
const Limits = z.object(limitOptions)

function readLimits(options: z.output<typeof Limits>): KeyLimits {
  const { maxPending: pending = null, maxApproved: approved = null, path: paths, tag: tags } = options
  return { pending, approved, paths, tags }
}

function keyTable(keys: readonly (ApiKeySummary & { tenant: string })[], now: Date): string {
  if (keys.length === 0) return 'There are no API keys.'
  return table(
    ['ID', 'TENANT', 'ROLE', 'GIT', 'STATE', 'LAST USED', 'EXPIRES', 'CONNECTORS', 'NAME'],
    keys.map((key) => [
      key.id,
      key.tenant,
      key.audience === null ? key.role : `${key.role} (${key.audience})`,
      gitOf(key),
      keyState(key, now),
      key.lastUsedAt ?? 'never',
      key.expiresAt ?? 'never',
      key.connectors.join(',') || '-',
      key.isAgent ? `${key.name} (agent, let in with OAuth)` : key.name,
    ]),
  )
}

function keyState(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: Date): string {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && key.expiresAt <= now.toISOString() ? 'expired' : 'valid'
}

/** Returns what a key may do with git. */
function gitOf({ role, git }: Pick<ApiKey, 'role' | 'git'>): keyof typeof fetchNotes {
  if (role === 'curator') return 'push'
  return ({ shown: 'fetch shown', all: 'fetch all' } as const)[git]
}
