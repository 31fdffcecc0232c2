import type { Command } from 'commander'
import { z } from 'zod'
import { DeliveryAttempt, ListedWebhook, MadeWebhook, NewWebhook } from '../../contract/administration.ts'
import { EventKind } from '../../contract/events.ts'
import { WebhookFormat } from '../../contract/vocabulary.ts'
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
  testWebhook,
} from '../../events/webhooks/manage-webhooks.ts'
import type { Acting } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { actOrAsk } from '../command.ts'
import { argument, OfTenant, option, repeatable } from '../options.ts'
import { table } from '../table.ts'
import { operatorFor, operatorIn, requireTenant } from '../with-ganglion.ts'

const EventId = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be the id of an event')
  .transform(Number)
const formats = WebhookFormat.options
const Id = z.object({ id: argument(z.string(), 'id of the webhook, see webhook list') })
const Added = z.object({
  url: argument(NewWebhook.shape.url, 'URL of the receiver'),
  tenant: option(z.string().optional(), '<slug>', 'tenant whose events are sent', { conflicts: ['server'] }),
  kb: option(z.string().optional(), '<slug>', 'only events of one knowledge base'),
  kind: repeatable(z.array(EventKind).default([]), '<kind>', 'only events of this kind'),
  format: option(WebhookFormat.default('ganglion'), '<format>', `what the messages look like: ${formats.join(', ')}`),
})

const common = {
  key: "an administrator's API key, or a curator's for webhooks of one knowledge base",
  sentences: ({ id }: { id: string }) => ({ not_found: () => `There is no webhook ${id}.` }),
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('send events to other programs, signed (Standard Webhooks)')
  addAdd(webhook)
  addList(webhook)
  addRemove(webhook)
  addReplay(webhook)
  addRotate(webhook)
  addTest(webhook)
}

function addAdd(webhook: Command): void {
  actOrAsk(
    webhook
      .command('add')
      .description('send the events of a tenant to a URL from now on; the secret that signs them is shown only now')
      .addHelpText(
        'after',
        '\nExample:\n  ganglion webhook add https://hooks.example.org/kb --tenant acme --kind ingest.completed --kind ingest.failed',
      ),
    Added,
    {
      ...common,
      answers: MadeWebhook,
      here: async ({ tenant, kind: kinds, ...asked }, ctx, { webhookPrivate: allowPrivate }) =>
        addWebhook(ctx, await operatorIn(ctx, tenant), { ...asked, kinds }, { allowPrivate }),
      there: ({ tenant: _, kb, kind: kinds, ...asked }, { webhooks }) =>
        webhooks.create({ ...asked, kinds, ...(kb !== undefined && { kb }) }),
      tell: ({ id, url, secret }, { tenant }) => ({
        json: { id, url, secret },
        text: `Made the webhook ${id}${tenant === undefined ? '' : ` of ${tenant}`}. Its secret, shown only now:\n${secret}`,
      }),
      sentences: ({ tenant = 'The tenant', kb }) => ({ not_found: () => `${tenant} has no knowledge base ${kb}.` }),
    },
  )
}

function addList(webhook: Command): void {
  actOrAsk(webhook.command('list').description('list webhooks'), OfTenant, {
    ...{ key: common.key, answers: Listed },
    async here({ tenant }, ctx) {
      const tenants = tenant === undefined ? await ctx.tenants.list() : [await requireTenant(ctx.tenants, tenant)]
      const lists = tenants.map(async ({ id, slug }) =>
        (await listWebhooks(ctx, operatorFor(id))).map((one) => ({ ...one, tenant: slug })),
      )
      return { webhooks: (await Promise.all(lists)).flat() }
    },
    there: (_, { webhooks }) => webhooks.list(),
    tell: (json) => ({ json, text: webhookTable(json.webhooks) }),
  })
}

function addRemove(webhook: Command): void {
  actOrAsk(webhook.command('remove').description('stop sending events to a webhook'), Id, {
    ...{ ...common, answers: z.undefined() },
    here: async ({ id }, ctx) => void (await removeWebhook(ctx, await ownerOf(ctx, id), id)),
    there: ({ id }, { webhooks }) => webhooks.remove(id),
    tell: (_, { id }) => ({ json: { id, removed: true }, text: `Removed the webhook ${id}.` }),
  })
}

function addReplay(webhook: Command): void {
  actOrAsk(
    webhook
      .command('replay')
      .description('send events again, or resume deliveries that were given up')
      .addHelpText('after', '\nEvents are kept for 7 days. A running server begins within 5 seconds.'),
    Id.extend({
      from: option(
        EventId.exactOptional(),
        '<event>',
        'id of the first event to send (default: the first that was not delivered)',
      ),
    }),
    {
      ...{ ...common, answers: ListedWebhook },
      here: async ({ id, ...asked }, ctx, { webhookPrivate: allowPrivate }) =>
        changeWebhook(ctx, await ownerOf(ctx, id), id, { ...asked, isEnabled: true }, { allowPrivate }),
      there: ({ id, ...asked }, { webhooks }) => webhooks.change(id, { ...asked, isEnabled: true }),
      tell({ cursor, lastEvent }, { id }) {
        const [from, events] = [cursor + 1, lastEvent - cursor]
        return { json: { id, from, events }, text: `Sends ${events} events, from ${from} on, to ${id}.` }
      },
    },
  )
}

function addRotate(webhook: Command): void {
  const description = 'replace the secret of a webhook, which is shown only now; the former one signs, too, for a day'
  actOrAsk(webhook.command('rotate').description(description), Id, {
    ...{ ...common, answers: MadeWebhook },
    here: async ({ id }, ctx) => rotateWebhook(ctx, await ownerOf(ctx, id), id),
    there: ({ id }, { webhooks }) => webhooks.rotate(id),
    tell: ({ id, secret, formerSecretUntil }) => ({
      json: { id, secret, formerSecretUntil },
      text: `The new secret of ${id}, shown only now; the former one signs, too, until ${formerSecretUntil}:\n${secret}`,
    }),
  })
}

function addTest(webhook: Command): void {
  const description = 'send a message of the type webhook.test now, and print the result'
  actOrAsk(webhook.command('test').description(description), Id, {
    ...{ ...common, answers: DeliveryAttempt },
    here: async ({ id }, ctx, { webhookPrivate: allowPrivate }) =>
      testWebhook(ctx, await ownerOf(ctx, id), id, { allowPrivate }),
    there: ({ id }, { webhooks }) => webhooks.test(id),
    tell: ({ status, note }, { id }) => ({
      json: { id, status, taken: note === null, ...(note === null ? {} : { note }) },
      text:
        note?.replace(/ has no public address\.$/, '$& GANGLION_WEBHOOK_PRIVATE=true allows it.') ??
        `The receiver accepted it: ${status}.`,
      isNegative: note !== null,
    }),
  })
}

async function ownerOf({ webhooks }: Pick<Context, 'webhooks'>, id: string): Promise<Acting> {
  return operatorFor((await webhooks.find(id))?.tenantId ?? '')
}

/** Webhooks of the data directory, with the slug of their tenant, or of the tenant of a key. */
const Listed = z.object({ webhooks: z.array(ListedWebhook.extend({ tenant: z.string().exactOptional() })) })

function webhookTable(webhooks: z.output<typeof Listed>['webhooks']): string {
  if (webhooks.length === 0) return 'There are no webhooks.'
  return table(
    ['ID', 'TENANT', 'KB', 'STATE', 'TAKEN', 'KINDS', 'URL', 'NOTE'],
    webhooks.map(({ id, tenant = '-', kb, isEnabled, failures, cursor, lastEvent, kinds, url, note }) => [
      ...[id, tenant, kb ?? 'all', isEnabled ? (failures > 0 ? `failed ${failures} times` : 'enabled') : 'given up'],
      ...[`${cursor} of ${lastEvent}`, kinds.join(',') || 'all', url, note ?? '-'],
    ]),
  )
}
