import type { Command } from 'commander'
import { z } from 'zod'
import { NewWebhook } from '../../contract/administration.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { EventKind } from '../../contract/events.ts'
import { WebhookFormat } from '../../contract/vocabulary.ts'
import {
  addWebhook,
  listWebhooks,
  removeWebhook,
  replayWebhook,
  testWebhook,
  type WebhookSummary,
} from '../../events/webhooks/manage-webhooks.ts'
import type { Acting } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import { act } from '../command.ts'
import { table } from '../table.ts'
import { requireTenant, withContext } from '../with-ganglion.ts'

const Id = z.object({ id: z.string() })
const Tenants = { tenant: z.string(), kb: z.string().optional(), kind: z.array(EventKind) }
const Added = NewWebhook.pick({ url: true, format: true }).extend(Tenants)

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
      .option('--format <format>', `what the messages look like: ${WebhookFormat.options.join(', ')}`, 'ganglion')
      .addHelpText(
        'after',
        '\nExample:\n  ganglion webhook add https://hooks.example.org/kb --tenant acme --kind ingest.completed --kind ingest.failed',
      ),
    Added,
    ({ tenant: slug, kb, kind: kinds, ...asked }, environment) =>
      withContext(environment, async (ctx) => {
        const tenant = { ...operator, tenantId: (await requireTenant(ctx.tenants, slug)).id }
        const options = { allowPrivate: environment.webhookPrivate }
        const added = await addWebhook(ctx, tenant, { ...asked, kb, kinds }, options).catch((error) => {
          if (!(error instanceof GanglionError)) throw error
          throw new Error(`${slug} has no knowledge base ${kb}.`)
        })
        const { id, secret } = added
        return {
          json: { id, url: asked.url, secret },
          text: `Made the webhook ${id} of ${slug}. Its secret, shown only now:\n${secret}`,
        }
      }),
  )
}

function addList(webhook: Command): void {
  act(
    webhook.command('list').description('list webhooks').option('--tenant <slug>', 'of one tenant only'),
    z.object({ tenant: z.string().optional() }),
    ({ tenant }, environment) =>
      withContext(environment, async (ctx) => {
        const { tenants } = ctx
        const tenantIds = tenant === undefined ? await tenants.list() : [await requireTenant(tenants, tenant)]
        const listed: Listed[] = []
        for (const { id: tenantId, slug } of tenantIds) {
          const webhooks = await listWebhooks(ctx, { tenantId })
          listed.push(...webhooks.map((webhook) => ({ ...webhook, tenant: slug })))
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
    ({ id }, environment) =>
      withContext(environment, async (ctx) => {
        await removeWebhook(ctx, await ownerOf(ctx, id), id)
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
    ({ id, from }, environment) =>
      withContext(environment, async (ctx) => {
        const { from: begin, events } = await replayWebhook(ctx, await ownerOf(ctx, id), id, { from }).catch(
          (error) => {
            if (error instanceof ValidationError) throw new Error(error.fieldErrors.from?.[0])
            throw error
          },
        )
        return { json: { id, from: begin, events }, text: `Sends ${events} events, from ${begin} on, to ${id}.` }
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
    ({ id }, environment) =>
      withContext(environment, async (ctx) => {
        const options = { allowPrivate: environment.webhookPrivate }
        const { status, note } = await testWebhook(ctx, await ownerOf(ctx, id), id, options)
        return {
          json: { id, status, taken: note === null, ...(note === null ? {} : { note }) },
          text:
            note?.replace(/ has no public address\.$/, '$& GANGLION_WEBHOOK_PRIVATE=true allows it.') ??
            `The receiver has taken it: ${status}.`,
          isNegative: note !== null,
        }
      }),
  )
}

async function ownerOf({ webhooks }: Pick<Context, 'webhooks'>, id: string): Promise<Acting> {
  const webhook = await webhooks.find(id)
  if (webhook === undefined) throw new Error(`There is no webhook ${id}.`)
  return { ...operator, tenantId: webhook.tenantId }
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

type Listed = WebhookSummary & { tenant: string }

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
