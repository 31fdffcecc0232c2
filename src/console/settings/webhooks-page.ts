import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { NewWebhook } from '../../contract/administration.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { EventKind } from '../../contract/events.ts'
import { parseSent } from '../../contract/faults.ts'
import type { WebhookFormat } from '../../contract/vocabulary.ts'
import {
  addWebhook,
  listWebhooks,
  pauseWebhook,
  readWebhook,
  removeWebhook,
  replayWebhook,
  resendEvent,
  setWebhookKinds,
  testWebhook,
  type WebhookSummary,
} from '../../events/webhooks/manage-webhooks.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import type { WebhookDelivery } from '../../state/webhooks.ts'
import { button, checkbox, controlsOf, type FormErrors, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, type FormRefusal, pagesOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'
import { secretBox } from './keys-page.ts'

/** One ticked box comes as a text, several as a list. */
const Ticked = z.union([z.string().transform((one) => [one]), z.array(z.string()).max(100)]).default([])
const Typed = z.object({
  url: z.string().default(''),
  kb: z.string().default(''),
  format: z.string().default('ganglion'),
  kinds: Ticked,
})
const Path = z.object({ id: z.uuid() })
const Kinds = z.object({ kinds: Ticked.pipe(z.array(EventKind)) })
const Replay = z.object({ from: z.string().max(20).trim().optional() })
const Resend = z.object({ event: z.coerce.number().int().min(1).max(1e15) })
const EventNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be the number of an event')
  .transform(Number)

const notices = { removed: 'The webhook is removed.' }
const changes = {
  paused: 'Nothing more is sent.',
  replayed: 'The events are sent again, within a few seconds.',
  kinds: 'Saved.',
  sent: 'Sent. The first of the deliveries says what the receiver answered.',
}
const webhookFormats: Readonly<Record<WebhookFormat, string>> = {
  ganglion: 'A program: signed JSON',
  slack: 'Slack: an incoming webhook',
  teams: 'Teams: a workflow that posts cards',
}
const receivers = Object.entries(webhookFormats).map(([value, label]) => ({ value, label }))

type ListView = { notice?: HtmlPart; secret?: string; typed?: z.output<typeof Typed>; errors?: FormErrors }
type OneView = { notice?: HtmlPart; problem?: string; from?: string | undefined; errors?: FormErrors }
type OfOne = ConsoleRequest<z.output<typeof Path>>

/** Adds the pages of the webhooks. */
export function webhooksRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'admin' })
  const ofOne = { params: Path }
  const receiver = { allowPrivate: ctx.webhookPrivate }
  const changed = ({ params }: OfOne, done: keyof typeof changes) => ({
    to: `/settings/webhooks/${params.id}?done=${done}`,
  })

  pages.get('/settings/webhooks', { notices }, (sent) => webhooks(sent, { notice: sent.notice }))

  pages.form('/settings/webhooks', {
    body: Typed,
    // No redirect: the secret must not be in an address, nor anywhere that it could be read again.
    async act(sent) {
      const { kb, ...typed } = sent.body
      const input = parseSent(NewWebhook, { ...typed, url: typed.url.trim(), ...(kb === '' ? {} : { kb }) })
      const { secret } = await addWebhook(ctx, sent.caller, input, receiver)
      sent.reply.header('cache-control', 'no-store')
      return { page: await webhooks(sent, { secret }), status: 201 }
    },
    explain: webhookRefusal,
    refused: (sent, { errors }) => webhooks(sent, { typed: sent.body, errors }),
  })

  pages.get('/settings/webhooks/:id', { ...ofOne, notices: changes }, (sent) => webhook(sent, { notice: sent.notice }))

  pages.post('/settings/webhooks/:id/test', ofOne, async (sent) => {
    await testWebhook(ctx, sent.caller, sent.params.id, receiver)
    return changed(sent, 'sent')
  })

  pages.post('/settings/webhooks/:id/resend', { ...ofOne, body: Resend }, async (sent) => {
    const { event: eventId } = sent.body
    try {
      await resendEvent(ctx, sent.caller, { id: sent.params.id, eventId }, receiver)
      return changed(sent, 'sent')
    } catch (error) {
      if (!(error instanceof GanglionError && error.code === 'not_found')) throw error
      return { page: await webhook(sent, { problem: `Event ${eventId} is no longer kept.` }), status: 409 }
    }
  })

  pages.post('/settings/webhooks/:id/pause', ofOne, async (sent) => {
    await pauseWebhook(ctx, sent.caller, sent.params.id)
    return changed(sent, 'paused')
  })

  pages.post('/settings/webhooks/:id/kinds', { ...ofOne, body: Kinds }, async (sent) => {
    await setWebhookKinds(ctx, sent.caller, sent.params.id, sent.body.kinds)
    return changed(sent, 'kinds')
  })

  pages.form('/settings/webhooks/:id/replay', {
    ...{ ...ofOne, body: Replay },
    async act(sent) {
      const from = sent.body.from === undefined ? undefined : EventNumber.safeParse(sent.body.from)
      if (from?.success === false) throw new ValidationError({ from: ['must be the number of an event'] })
      await replayWebhook(ctx, sent.caller, sent.params.id, { from: from?.data })
      return changed(sent, 'replayed')
    },
    explain: webhookRefusal,
    refused: (sent, { errors }) => webhook(sent, { from: sent.body.from, errors }),
  })

  pages.post('/settings/webhooks/:id/remove', ofOne, async ({ caller, params }) => {
    await removeWebhook(ctx, caller, params.id)
    return { to: '/settings/webhooks?done=removed' }
  })

  async function webhooks({ visit, caller }: Pick<ConsoleRequest, 'visit' | 'caller'>, view: ListView): Promise<Html> {
    const { notice, secret, typed = Typed.parse({}), errors } = view
    const { kinds, ...texts } = typed
    const { text, select } = controlsOf(texts, errors)
    const all = await listWebhooks(ctx, caller)
    const kbs = (await readOverview(ctx, caller)).map(({ slug, title }) => ({ value: slug, label: title }))
    return page(visit, {
      title: 'Webhooks',
      notice,
      islands: secret === undefined ? [] : ['copy'],
      main: html`<h1>Webhooks</h1>
        <p>Each event is sent as a signed message (Standard Webhooks), in order, until it is taken.</p>
        ${secret !== undefined && secretBox({ label: 'The secret that signs', secret, advice: 'The receiver checks each message with it.' })}
        ${all.length === 0 ? html`<p class="empty">There are no webhooks yet.</p>` : webhookTable(all)}
        <h2 id="new">Add a webhook</h2>
        ${form(visit, { action: '/settings/webhooks', errors }, [
          text('url', 'URL', {
            hint: 'Of the receiver, reachable from the public internet.',
            ...{ type: 'url', required: true, maxlength: 2000 },
          }),
          select('kb', 'Events of', [{ value: '', label: 'all knowledge bases' }, ...kbs]),
          select('format', 'Receiver', receivers),
          kindChoice(kinds, errors),
          button('Add the webhook'),
        ])}`,
    })
  }

  async function webhook({ visit, caller, params }: OfOne, view: OneView): Promise<Html> {
    const { webhook, deliveries, firstEvent } = await readWebhook(ctx, caller, params.id)
    const { notice, problem, errors } = view
    const { id, url, kb, kinds, format, cursor, lastEvent, isEnabled, dueAt } = webhook
    const path = `/settings/webhooks/${id}`
    const next = Math.max(firstEvent, Math.min(cursor + 1, lastEvent))
    const now = new Date()
    const { text } = controlsOf({ from: view.from ?? String(next) }, errors)
    return page(visit, {
      title: `Webhook to ${url}`,
      notice,
      main: html`<p><a href="/settings/webhooks">All webhooks</a></p>
      <h1>Webhook</h1>
      ${problem && html`<p class="problems" role="alert">${problem}</p>`}
      <dl class="report">
        <div><dt>URL</dt><dd><code>${url}</code></dd></div>
        <div><dt>Events of</dt><dd>${kb ?? 'all knowledge bases'}</dd></div>
        <div><dt>Receiver</dt><dd>${webhookFormats[format]}</dd></div>
        <div><dt>State</dt><dd>${webhookState(webhook)}${isEnabled && dueAt !== null && html` Tried again ${when(dueAt, now)}.`}</dd></div>
        <div><dt>Sent</dt><dd>${cursor} of ${lastEvent} events</dd></div>
      </dl>
      <div class="row">
        ${form(visit, { action: `${path}/test` }, button('Send a test', { class: 'second' }))}
        ${
          isEnabled
            ? form(visit, { action: `${path}/pause` }, button('Stop sending', { class: 'second' }))
            : form(visit, { action: `${path}/replay` }, button('Go on sending'))
        }
        <details><summary>Remove…</summary>${form(visit, { action: `${path}/remove` }, button('Remove it now', { class: 'danger' }))}</details>
      </div>
      <h2 id="deliveries">Deliveries</h2>
      ${deliveries.length === 0 ? html`<p class="empty">Nothing was sent yet.</p>` : deliveryTable(visit, path, deliveries, now)}
      <h2 id="replay">Send again</h2>
      ${
        lastEvent < firstEvent
          ? html`<p class="empty">There are no events yet.</p>`
          : form(visit, { action: `${path}/replay`, errors }, [
              text('from', 'From event', {
                hint: `All events from this one on, in order. Events ${firstEvent} to ${lastEvent} are kept.`,
                ...{ inputmode: 'numeric', class: 'short' },
              }),
              button('Send them again', { class: 'second' }),
            ])
      }
      <h2 id="kinds">What is sent</h2>
      ${form(visit, { action: `${path}/kinds` }, [kindChoice(kinds), button('Save the kinds', { class: 'second' })])}`,
    })
  }
}

function webhookRefusal(error: unknown): FormRefusal {
  if (error instanceof ValidationError) return { status: 400, errors: error }
  if (!(error instanceof GanglionError) || error.code !== 'not_found') throw error
  return { status: 400, errors: { fieldErrors: { kb: ['is gone'] } } }
}

function deliveryTable(visit: Visit, path: string, deliveries: readonly WebhookDelivery[], now: Date): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Deliveries"><table>
    <caption>The last ${deliveries.length}, newest first</caption>
    <thead><tr><th scope="col">When</th><th scope="col">Event</th><th scope="col">Answer</th><th scope="col">Took</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${deliveries.map(
      ({ at, eventId, kind, status, note, duration }) => html`<tr>
        <td>${when(at, now)}</td>
        <td>${kind}${eventId !== null && ` (${eventId})`}</td>
        <td><span class="badge ${note === null ? 'good' : 'bad'}">${note === null ? 'taken' : 'not taken'}</span> ${status ?? 'no answer'}${note !== null && html` <span class="hint" dir="auto">${note}</span>`}</td>
        <td>${duration} ms</td>
        <td>${eventId !== null && form(visit, { action: `${path}/resend` }, html`<input type="hidden" name="event" value="${eventId}">${button(html`Send again<span class="unseen"> event ${eventId}</span>`, { class: 'quiet' })}`)}</td>
      </tr>`,
    )}</tbody>
  </table></div>`
}

function kindChoice(chosen: readonly string[], errors?: FormErrors): Html {
  return html`<fieldset class="part"><legend>Kinds of events</legend>
    <p class="hint">None ticked: all of them.</p>
    <div class="columns">${EventKind.options.map((kind) =>
      checkbox({ name: 'kinds', value: kind, label: kind, isChecked: chosen.includes(kind), errors }),
    )}</div>
  </fieldset>`
}

function webhookTable(webhooks: readonly WebhookSummary[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Webhooks"><table>
    <thead><tr><th scope="col">URL</th><th scope="col">Events of</th><th scope="col">Kinds</th><th scope="col">State</th><th scope="col">Sent</th></tr></thead>
    <tbody>${webhooks.map(
      ({ id, url, kb, kinds, cursor, lastEvent, ...webhook }) => html`<tr>
        <th scope="row"><a href="/settings/webhooks/${id}">${url}</a></th>
        <td>${kb ?? 'all'}</td><td>${kinds.length === 0 ? 'all' : kinds.join(', ')}</td>
        <td>${webhookState(webhook)}</td><td>${cursor} of ${lastEvent}</td>
      </tr>`,
    )}</tbody>
  </table></div>`
}

function webhookState({ isEnabled, failures, note }: Pick<WebhookSummary, 'isEnabled' | 'failures' | 'note'>): Html {
  const [look, word] = !isEnabled ? ['bad', 'stopped'] : failures > 0 ? ['warn', 'failing'] : ['good', 'on']
  return html`<span class="badge ${look}">${word}</span>${note !== null && html` <span class="hint" dir="auto">${note}</span>`}`
}
