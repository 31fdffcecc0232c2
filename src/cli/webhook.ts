import type { Command } from 'commander'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { EventKind } from '../contract/events.ts'
import type { Ganglion } from '../services/ganglion.ts'
import { postMessage } from '../services/webhooks/post-message.ts'
import type { Webhook } from '../store/webhooks.ts'
import { act } from './command.ts'
import { table } from './table.ts'
import { requireTenant, tenantSlugs, withGanglion } from './with-ganglion.ts'

const ReceiverUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000)
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || `${url.username}${url.password}${url.hash}` === ''
  }, 'must be without user, password and fragment')

const Id = z.object({ id: z.string() })

/** `webhook add`, `list`, `remove`, `replay`, `test`. */
export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('send events to other programs, signed (Standard Webhooks)')
  addAdd(webhook)
  addList(webhook)
  addRemove(webhook)
  addReplay(webhook)
  addTest(webhook)
}

function addAdd(webhook: Command): void {
  act(
    webhook
      .command('add')
      .description('send the events of a tenant to a URL from now on; the secret that signs them is shown only now')
      .argument('<url>', 'of the receiver')
      .requiredOption('--tenant <slug>', 'whose events')
      .option('--kb <slug>', 'only those of one knowledge base')
      .option('--kind <kind>', 'only those of this kind (repeatable)', collect, [])
      .addHelpText(
        'after',
        '\nExample:\n  ganglion webhook add https://hooks.example.org/kb --tenant acme --kind ingest.completed --kind ingest.failed',
      ),
    z.object({ url: ReceiverUrl, tenant: z.string(), kb: z.string().optional(), kind: z.array(EventKind) }),
    ({ url, tenant: slug, kb, kind: kinds }, { dataDir }) =>
      withGanglion(dataDir, async ({ tenants, knowledgeBases, events, webhooks }) => {
        const { id: tenantId } = await requireTenant(tenants, slug)
        const identity = kb === undefined ? undefined : await knowledgeBases.find(tenantId, kb)
        if (kb !== undefined && identity === undefined) throw new Error(`${slug} has no knowledge base ${kb}.`)
        const { last: cursor } = await events.range(tenantId)
        const added = { tenantId, kbId: identity?.id ?? null, url, kinds, cursor }
        const { id, secret } = await webhooks.create(added, new Date())
        return {
          json: { id, url, secret },
          text: `Made the webhook ${id} of ${slug}. Its secret, shown only now:\n${secret}`,
        }
      }),
  )
}

function addList(webhook: Command): void {
  act(
    webhook.command('list').description('list webhooks').option('--tenant <slug>', 'of one tenant only'),
    z.object({ tenant: z.string().optional() }),
    ({ tenant }, { dataDir }) =>
      withGanglion(dataDir, async ({ tenants, knowledgeBases, webhooks, events }) => {
        const tenantId = tenant === undefined ? undefined : (await requireTenant(tenants, tenant)).id
        const slugs = await tenantSlugs(tenants)
        const listed = []
        const kbs = new Map((await knowledgeBases.list(tenantId)).map(({ id, slug }) => [id, slug]))
        for (const { secret: _, tenantId: owner, ...rest } of await webhooks.list(tenantId)) {
          const kb = rest.kbId === null ? null : (kbs.get(rest.kbId) ?? rest.kbId)
          const { last: lastEvent } = await events.range(owner)
          listed.push({ ...rest, tenant: slugs.get(owner) ?? owner, kb, lastEvent })
        }
        return { json: { webhooks: listed }, text: webhookTable(listed) }
      }),
  )
}

function addRemove(webhook: Command): void {
  act(
    webhook
      .command('remove')
      .description('send nothing more to a webhook')
      .argument('<id>', 'as webhook list shows it'),
    Id,
    ({ id }, { dataDir }) =>
      withGanglion(dataDir, async ({ webhooks }) => {
        if (!(await webhooks.remove(id))) throw missing(id)
        return { json: { id, removed: true }, text: `Removed the webhook ${id}.` }
      }),
  )
}

function addReplay(webhook: Command): void {
  act(
    webhook
      .command('replay')
      .description('send events again, or begin again where it was given up')
      .argument('<id>', 'as webhook list shows it')
      .option('--from <event>', 'id of the first event to send (default: the first that was not taken)')
      .addHelpText('after', '\nEvents are kept for 7 days. A running server begins within 5 seconds.'),
    Id.extend({
      from: z
        .string()
        .regex(/^[1-9][0-9]{0,14}$/, 'must be the id of an event')
        .transform(Number)
        .optional(),
    }),
    ({ id, from }, { dataDir }) =>
      withGanglion(dataDir, async ({ webhooks, events }) => {
        const { tenantId, cursor } = await requireWebhook({ webhooks }, id)
        const { first, last } = await events.range(tenantId)
        const begin = Math.max(from ?? cursor + 1, first)
        if (from !== undefined && from > last) throw new Error(`The last event is ${last}.`)
        await webhooks.replay(id, begin - 1)
        const count = Math.max(0, last - begin + 1)
        return { json: { id, from: begin, events: count }, text: `Sends ${count} events, from ${begin} on, to ${id}.` }
      }),
  )
}

function addTest(webhook: Command): void {
  act(
    webhook
      .command('test')
      .description('send a message of the type webhook.test now, and tell what becomes of it')
      .argument('<id>', 'as webhook list shows it'),
    Id,
    ({ id }, { dataDir, webhookPrivate }) =>
      withGanglion(dataDir, async ({ webhooks, now }) => {
        const receiver = await requireWebhook({ webhooks }, id)
        const at = now()
        const message = { id: `msg_${uuidv7()}`, type: 'webhook.test', timestamp: at.toISOString(), data: { id } }
        const { status = null, note } = await postMessage(receiver, message, { now: at, allowPrivate: webhookPrivate })
        return {
          json: { id, status, taken: note === undefined, ...(note === undefined ? {} : { note }) },
          text: note ?? `The receiver has taken it: ${status}.`,
          isNegative: note !== undefined,
        }
      }),
  )
}

async function requireWebhook({ webhooks }: Pick<Ganglion, 'webhooks'>, id: string): Promise<Webhook> {
  const webhook = await webhooks.find(id)
  if (webhook === undefined) throw missing(id)
  return webhook
}

function missing(id: string): Error {
  return new Error(`There is no webhook ${id}.`)
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

type Listed = Omit<Webhook, 'tenantId' | 'secret'> & { tenant: string; kb: string | null; lastEvent: number }

function webhookTable(webhooks: readonly Listed[]): string {
  if (webhooks.length === 0) return 'There are no webhooks.'
  return table(
    ['ID', 'TENANT', 'KB', 'STATE', 'TAKEN', 'KINDS', 'URL', 'NOTE'],
    webhooks.map(({ id, tenant, kb, isEnabled, failures, cursor, lastEvent, kinds, url, note }) => [
      ...[id, tenant, kb ?? 'all', isEnabled ? (failures > 0 ? `failed ${failures} times` : 'enabled') : 'given up'],
      ...[`${cursor} of ${lastEvent}`, kinds.join(',') || 'all', url, note ?? '-'],
    ]),
  )
}
