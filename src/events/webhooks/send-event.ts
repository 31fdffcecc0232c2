import { candidatePage, neuronPage } from '../../contract/console-paths.ts'
import type { LoggedEvent } from '../../contract/events.ts'
import type { WebhookFormat } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { validSecrets, type Webhook, type WebhookDelivery } from '../../state/webhooks.ts'
import { ActivityTeller } from '../activity-item.ts'
import { type PostedMessage, type PostOptions, postMessage, type Receipt } from './post-message.ts'

/** Caller for the access rules: a receiver sees what an app without candidates of its own sees. */
export const receiver = { role: 'app', id: '', name: '' } as const

type Receiver = Pick<Webhook, 'id' | 'tenantId' | 'url' | 'secret' | 'formerSecrets' | 'format'>
type Sent = Receipt & { delivery: WebhookDelivery }

/** Sends an event. The message's id is the same each time that it is sent to this webhook. */
export async function sendEvent(
  ctx: Context,
  webhook: Receiver,
  event: LoggedEvent,
  options: PostOptions,
): Promise<Sent> {
  const told = { type: event.kind, timestamp: event.at, data: event }
  const body = webhook.format === 'ganglion' ? told : await chatMessage(ctx, webhook.tenantId, webhook.format, event)
  const message = { id: `msg_${webhook.id}_${event.id}`, ...body }
  return send(webhook, message, { kind: event.kind, eventId: event.id }, options)
}

/** Sends a message of the type `webhook.test`. */
export async function sendTest(webhook: Receiver, messageId: string, options: PostOptions): Promise<Sent> {
  const { format } = webhook
  const [id, kind] = [`msg_${messageId}`, 'webhook.test']
  const told = { type: kind, timestamp: options.now.toISOString(), data: { id: webhook.id } }
  const body = format === 'ganglion' ? told : chatBody(format, 'A test from Ganglion.', undefined)
  return send(webhook, { id, ...body }, { kind, eventId: null }, options)
}

async function send(
  webhook: Receiver,
  message: PostedMessage,
  about: Pick<WebhookDelivery, 'kind' | 'eventId'>,
  options: PostOptions,
): Promise<Sent> {
  const begin = performance.now()
  const secrets = [webhook.secret, ...validSecrets(webhook, options.now).map(({ secret }) => secret)]
  const receipt = await postMessage({ url: webhook.url, secrets }, message, options)
  const delivery = {
    ...about,
    at: options.now.toISOString(),
    status: receipt.status ?? null,
    note: receipt.note ?? null,
    duration: Math.round(performance.now() - begin),
  }
  return { ...receipt, delivery }
}

export type ChatFormat = Exclude<WebhookFormat, 'ganglion'>

const maxText = 1_000

/**
 * Returns an event as a message for Slack's incoming webhooks, or for a Teams workflow. Reveals no more than the event: neither the actor, nor
 * the title of a candidate that is no page yet.
 */
async function chatMessage(ctx: Context, tenantId: string, format: ChatFormat, event: LoggedEvent): Promise<object> {
  const { kind, seqId, candidateId, error, problems = [] } = event
  // A candidate may have another title than the page that it became.
  const subject = seqId === undefined ? event : ({ ...event, kind: 'neuron.updated' } as const)
  const [item] = await new ActivityTeller(ctx, tenantId).tell([subject])
  const title = candidateId !== undefined && seqId === undefined ? undefined : item?.subject?.title
  const what = [kind.replaceAll(/[.-]/g, ' '), ...(title === undefined ? [] : [`“${oneLine(title, 200)}”`])].join(' ')
  const about = [item?.kb.title, what, error, ...problems].filter((part) => part !== undefined)
  const page = seqId === undefined ? candidateId && candidatePage(candidateId) : item && neuronPage(item.kb.slug, seqId)
  return chatBody(format, about.join(': '), page && ctx.urls.base && ctx.urls.page(page))
}

/** Returns the body of a chat message with a text, without markup. `url`: empty if the server's public URL is unknown. */
function chatBody(format: ChatFormat, said: string, url: string | undefined): object {
  const text = oneLine(said, maxText)
  if (format === 'slack') {
    const link = { type: 'context', elements: [{ type: 'mrkdwn', text: `<${slackText(url ?? '')}|Open it>` }] }
    const section = { type: 'section', text: { type: 'plain_text', text, emoji: false } }
    return { text: slackText(text), blocks: url ? [section, link] : [section] }
  }
  const content = {
    ...{ $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.4' },
    // A TextBlock would interpret Markdown.
    body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] }],
    actions: url ? [{ type: 'Action.OpenUrl', title: 'Open it', url }] : [],
  }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] }
}

/** Escapes the characters that begin links and mentions in Slack's text. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
