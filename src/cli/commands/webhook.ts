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
import { argument, OfTenant, option, repeatable } from '../options.ts'
import { table } from '../table.ts'
import { requireTenant, withContext } from '../with-ganglion.ts'

const EventId = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be the id of an event')
  .transform(Number)
const formats = WebhookFormat.options
const Id = z.object({ id: argument(z.string(), 'id of the webhook, see webhook list') })
const Added = z.object({
  url: argument(NewWebhook.shape.url, 'URL of the receiver'),
  tenant: option(z.string(), '<slug>', 'tenant whose events are sent'),
  kb: option(z.string().optional(), '<slug>', 'only events of one knowledge base'),
  kind: repeatable(z.array(EventKind).default([]), '<kind>', 'only events of this kind'),
  format: option(WebhookFormat.default('ganglion'), '<format>', `what the messages look like: ${formats.join(', ')}`),
})

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
  act(webhook.command('list').description('list webhooks'), OfTenant, ({ tenant }, environment) =>
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
  act(webhook.command('remove').description('stop sending events to a webhook'), Id, ({ id }, environment) =>
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
      .description('send events again, or resume deliveries that were given up')
      .addHelpText('after', '\nEvents are kept for 7 days. A running server begins within 5 seconds.'),
    Id.extend({
      from: option(
        EventId.optional(),
        '<event>',
        'id of the first event to send (default: the first that was not delivered)',
      ),
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
    webhook.command('test').description('send a message of the type webhook.test now, and print the result'),
    Id,
    ({ id }, environment) =>
      withContext(environment, async (ctx) => {
        const options = { allowPrivate: environment.webhookPrivate }
        const { status, note } = await testWebhook(ctx, await ownerOf(ctx, id), id, options)
        return {
          json: { id, status, taken: note === null, ...(note === null ? {} : { note }) },
          text:
            note?.replace(/ has no public address\.$/, '$& GANGLION_WEBHOOK_PRIVATE=true allows it.') ??
            `The receiver accepted it: ${status}.`,
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
