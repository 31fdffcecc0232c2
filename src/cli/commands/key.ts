import type { Command } from 'commander'
import { z } from 'zod'
import { KeyLimits, Label, ListedKey, limitsOrNone, MadeKey } from '../../contract/administration.ts'
import { KeyAudience, KeyRole } from '../../contract/vocabulary.ts'
import type { Acting } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { createApiKey, keySummary, limitApiKey, revokeApiKey } from '../../people/manage-api-keys.ts'
import { actOrAsk } from '../command.ts'
import { argument, flag, OfTenant, option, repeatable } from '../options.ts'
import { table } from '../table.ts'
import { operatorFor, operatorIn, requireTenant } from '../with-ganglion.ts'

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

const common = {
  key: "an administrator's API key",
  sentences: ({ id }: { id: string }) => ({ not_found: () => `There is no API key ${id}.` }),
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('make, list, limit and revoke API keys')

  actOrAsk(
    key
      .command('create')
      .description('make an API key; its token is shown only now')
      .addHelpText('after', '\nExample:\n  ganglion key create --tenant acme --role app --name website --expires 90d'),
    Created,
    {
      ...{ key: common.key, answers: MadeKey },
      async here({ tenant, ...asked }, ctx) {
        const { key, token } = await createApiKey(ctx, await operatorIn(ctx, tenant), newKeyOf(asked))
        return { ...key, token }
      },
      there: ({ tenant: _, ...asked }, { keys }) => keys.create(newKeyOf(asked)),
      tell: ({ token, ...key }, { tenant }) => ({
        json: { id: key.id, token, role: key.role },
        text: `Made the ${key.role} key ${key.id}${tenant === undefined ? '' : ` of ${tenant}`}. ${fetchNotes[gitOf(key)]} Its token, shown only now:\n${token}`,
      }),
    },
  )

  actOrAsk(key.command('list').description('list API keys'), OfTenant, {
    ...{ key: common.key, answers: Listed },
    async here({ tenant }, ctx) {
      const tenants = tenant === undefined ? await ctx.tenants.list() : [await requireTenant(ctx.tenants, tenant)]
      const lists = tenants.map(async ({ id, slug }) =>
        (await ctx.apiKeys.list(id)).map((key) => ({ ...keySummary(key), tenant: slug })),
      )
      return { keys: (await Promise.all(lists)).flat() }
    },
    async there(_, api) {
      const keys: ListedKey[] = []
      for await (const key of api.keys.list()) keys.unshift(key)
      return { keys }
    },
    tell: (json) => ({ json, text: keyTable(json.keys, new Date()) }),
  })

  actOrAsk(
    key.command('limit').description('set what a key may propose, in each knowledge base; without options: anything'),
    z.object({ id: Id, ...limitOptions }),
    {
      ...{ ...common, answers: ListedKey },
      here: async ({ id, ...limits }, ctx) => limitApiKey(ctx, await ownerOf(ctx, id), id, readLimits(limits)),
      there: ({ id, ...limits }, { keys }) => keys.limit(id, readLimits(limits)),
      tell: ({ limits }, { id }) => ({ json: { id, limits }, text: `Set the limits of the key ${id}.` }),
    },
  )

  actOrAsk(key.command('revoke').description('revoke an API key'), z.object({ id: Id }), {
    ...{ ...common, answers: z.undefined() },
    here: async ({ id }, ctx) => void (await revokeApiKey(ctx, await ownerOf(ctx, id), id)),
    there: ({ id }, { keys }) => keys.revoke(id),
    tell: (_, { id }) => ({ json: { id, revoked: true }, text: `Revoked the key ${id}.` }),
  })
}

async function ownerOf({ apiKeys }: Context, id: string): Promise<Acting> {
  return operatorFor((await apiKeys.find(id))?.tenantId ?? '')
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
const Created = z.object({
  tenant: option(z.string().optional(), '<slug>', 'tenant whose knowledge bases it opens', { conflicts: ['server'] }),
  role: option(KeyRole, '<role>', `what it may do: ${KeyRole.options.join(', ')}`),
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
})
/** Keys of the data directory, with the slug of their tenant, or of the tenant of a key. */
const Listed = z.object({ keys: z.array(ListedKey.extend({ tenant: z.string().exactOptional() })) })

function newKeyOf(asked: Omit<z.output<typeof Created>, 'tenant'>) {
  const { role, name = `${role} key`, connector: connectors, git, audience = null, expires, ...limits } = asked
  const expiresAt = expires === undefined ? null : new Date(Date.now() + expires).toISOString()
  return {
    ...{ name, role, connectors, expiresAt, git: git ? ('all' as const) : ('shown' as const), audience },
    limits: limitsOrNone(readLimits(limits)),
  }
}

function readLimits(options: z.output<typeof Limits>): KeyLimits {
  const { maxPending: pending = null, maxApproved: approved = null, path: paths, tag: tags } = options
  return { pending, approved, paths, tags }
}

function keyTable(keys: z.output<typeof Listed>['keys'], now: Date): string {
  if (keys.length === 0) return 'There are no API keys.'
  return table(
    ['ID', 'TENANT', 'ROLE', 'GIT', 'STATE', 'LAST USED', 'EXPIRES', 'CONNECTORS', 'NAME'],
    keys.map((key) => [
      key.id,
      key.tenant ?? '-',
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

function keyState(key: Pick<ListedKey, 'expiresAt' | 'revokedAt'>, now: Date): string {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && key.expiresAt <= now.toISOString() ? 'expired' : 'valid'
}

/** Returns what a key may do with git. */
function gitOf({ role, git }: Pick<ListedKey, 'role' | 'git'>): keyof typeof fetchNotes {
  if (role === 'curator' || role === 'admin') return 'push'
  return ({ shown: 'fetch shown', all: 'fetch all' } as const)[git]
}
