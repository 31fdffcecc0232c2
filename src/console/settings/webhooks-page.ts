import { z } from 'zod'
import { type ListedWebhook, NewWebhook } from '../../contract/administration.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { EventKind } from '../../contract/events.ts'
import { parseSent } from '../../contract/faults.ts'
import type { WebhookFormat } from '../../contract/vocabulary.ts'
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  resendEvent,
  rotateWebhook,
  testWebhook,
} from '../../events/webhooks/manage-webhooks.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import type { WebhookDelivery } from '../../state/webhooks.ts'
import { button, type Controls, confirmedButton, controlsOf, form, postButton } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { actionsHeading, dataTable } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, type FormRefusal, type FormView } from '../layout/page-routes.ts'
import { secretBox } from './keys-page.ts'

/** Values of ticked boxes. A browser sends one as a string, several as a list. */
const Ticked = z.union([z.string().transform((one) => [one]), z.array(z.string()).max(100)]).default([])
const text = z.string().default('')
const Typed = z.object({ url: text, kb: text, format: z.string().default('ganglion'), kinds: Ticked })
const Path = z.object({ id: z.uuid() })
const Kinds = z.object({ kinds: Ticked.pipe(z.array(EventKind)) })
const Replay = z.object({ from: z.string().max(20).trim().optional() })
const EventNumber = z.coerce.number().int().min(1).max(1e15)
const Resend = z.object({ event: EventNumber })
const ReplayFrom = z.object({ from: EventNumber.optional() })

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

type OfOne = ConsoleRequest<z.output<typeof Path>>

export const webhooksRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  const ofOne = { params: Path }
  const receiver = { allowPrivate: ctx.webhookPrivate }
  const changed = ({ params }: OfOne, done: keyof typeof changes) => ({
    to: `/settings/webhooks/${params.id}?done=${done}`,
  })

  pages.formPage('/settings/webhooks', {
    ...{ body: Typed, notices, explain: webhookRefusal, show: webhooks },
    // No redirect: the secret must not be in an address, nor anywhere that it could be read again.
    async act(sent) {
      const { url, kb, ...typed } = sent.body
      const input = parseSent(NewWebhook, { ...typed, url: url.trim(), ...(kb === '' ? {} : { kb }) })
      const { secret } = await addWebhook(ctx, sent.caller, input, receiver)
      sent.reply.header('cache-control', 'no-store')
      return { page: await webhooks(sent, {}, secret), status: 201 }
    },
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
      return { page: await webhook(sent, {}, `Event ${eventId} is no longer kept.`), status: 409 }
    }
  })

  pages.post('/settings/webhooks/:id/rotate', ofOne, async (sent) => {
    const { secret } = await rotateWebhook(ctx, sent.caller, sent.params.id)
    sent.reply.header('cache-control', 'no-store')
    return webhook(sent, {}, undefined, secret)
  })

  pages.post('/settings/webhooks/:id/pause', ofOne, async (sent) => {
    await changeWebhook(ctx, sent.caller, sent.params.id, { isEnabled: false }, receiver)
    return changed(sent, 'paused')
  })

  pages.post('/settings/webhooks/:id/kinds', { ...ofOne, body: Kinds }, async (sent) => {
    await changeWebhook(ctx, sent.caller, sent.params.id, sent.body, receiver)
    return changed(sent, 'kinds')
  })

  pages.form('/settings/webhooks/:id/replay', {
    ...{ ...ofOne, body: Replay },
    async act(sent) {
      const { from } = parseSent(ReplayFrom, sent.body)
      await changeWebhook(ctx, sent.caller, sent.params.id, { isEnabled: true, ...(from && { from }) }, receiver)
      return changed(sent, 'replayed')
    },
    explain: webhookRefusal,
    refused: (sent, { errors }) => webhook(sent, { typed: sent.body, errors }),
  })

  pages.post('/settings/webhooks/:id/remove', ofOne, async ({ caller, params }) => {
    await removeWebhook(ctx, caller, params.id)
    return { to: '/settings/webhooks?done=removed' }
  })

  async function webhooks(
    { visit, caller }: Pick<ConsoleRequest, 'visit' | 'caller'>,
    { notice, typed = Typed.parse({}), errors }: FormView<z.output<typeof Typed>>,
    secret?: string,
  ): Promise<Html> {
    const controls = controlsOf(typed, errors)
    const { text, select } = controls
    const all = await listWebhooks(ctx, caller)
    const kbs = await readOverview(ctx, caller)
    return page(visit, {
      title: 'Webhooks',
      notice,
      islands: secret === undefined ? [] : ['copy'],
      main: html`<h1>Webhooks</h1>
        <p>Each event is sent as a signed message (Standard Webhooks), in order, and sent again until it is accepted.</p>
        ${secret !== undefined && signingSecret(secret)}
        ${webhookTable(all)}
        <h2 id="new">Add a webhook</h2>
        ${form(visit, { action: '/settings/webhooks', errors }, [
          text('url', 'URL', {
            hint: 'The URL of the receiver, reachable from the public internet.',
            ...{ type: 'url', required: true, maxlength: 2000 },
          }),
          select('kb', 'Events of', [
            ['', 'all knowledge bases'],
            ...kbs.map(({ slug, title }) => [slug, title] as const),
          ]),
          select('format', 'Receiver', Object.entries(webhookFormats)),
          kindChoice(controls),
          button('Add the webhook'),
        ])}`,
    })
  }

  async function webhook(
    { visit, caller, params }: OfOne,
    { notice, typed, errors }: FormView<z.output<typeof Replay>>,
    problem?: string,
    secret?: string,
  ): Promise<Html> {
    const { deliveries, firstEvent, ...webhook } = await readWebhook(ctx, caller, params.id)
    const { id, url, kb, kinds, format, cursor, lastEvent, isEnabled, dueAt, formerSecretUntil } = webhook
    const path = `/settings/webhooks/${id}`
    const next = Math.max(firstEvent, Math.min(cursor + 1, lastEvent))
    const { text } = controlsOf({ from: typed?.from ?? String(next) }, errors)
    return page(visit, {
      title: `Webhook to ${url}`,
      notice,
      islands: secret === undefined ? [] : ['copy'],
      main: html`<p><a href="/settings/webhooks">All webhooks</a></p>
      <h1>Webhook</h1>
      ${secret !== undefined && signingSecret(secret)}
      ${problem && html`<p class="problems" role="alert">${problem}</p>`}
      <dl class="report">
        <div><dt>URL</dt><dd><code>${url}</code></dd></div>
        <div><dt>Events of</dt><dd>${kb ?? 'all knowledge bases'}</dd></div>
        <div><dt>Receiver</dt><dd>${webhookFormats[format]}</dd></div>
        <div><dt>State</dt><dd>${webhookState(webhook)}${isEnabled && dueAt !== null && html` Tried again ${when(dueAt)}.`}</dd></div>
        <div><dt>Sent</dt><dd>${cursor} of ${lastEvent} events</dd></div>
        ${formerSecretUntil !== null && html`<div><dt>Former secret</dt><dd>signs, too, until ${when(formerSecretUntil)}</dd></div>`}
      </dl>
      <div class="row">
        ${postButton(visit, `${path}/test`, 'Send a test')}
        ${isEnabled ? postButton(visit, `${path}/pause`, 'Stop sending') : postButton(visit, `${path}/replay`, 'Go on sending', {})}
        ${confirmedButton(visit, `${path}/rotate`, ['Replace the secret…', 'Replace it now'])}
        ${confirmedButton(visit, `${path}/remove`, ['Remove…', 'Remove it now'])}
      </div>
      <h2 id="deliveries">Deliveries</h2>
      ${deliveryTable(visit, path, deliveries)}
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
      <h2 id="kinds">Events to send</h2>
      ${form(visit, { action: `${path}/kinds` }, [kindChoice(controlsOf({ kinds })), button('Save the kinds', { class: 'second' })])}`,
    })
  }
})

function webhookRefusal(error: unknown): FormRefusal {
  if (error instanceof ValidationError) return { status: 400, errors: error }
  if (!(error instanceof GanglionError) || error.code !== 'not_found') throw error
  return { status: 400, errors: { fieldErrors: { kb: ['is gone'] } } }
}

function signingSecret(secret: string): Html {
  return secretBox('The secret that signs', secret, 'The receiver checks each message with it.')
}

function deliveryTable(visit: Visit, path: string, deliveries: readonly WebhookDelivery[]): Html {
  const resend = (event: string) => {
    const label = html`Send again<span class="unseen"> event ${event}</span>`
    return postButton(visit, `${path}/resend`, label, { class: 'quiet' }, { event })
  }
  const rows = deliveries.map(
    ({ at, eventId, kind, status, note, duration }) => html`<td>${when(at)}</td>
      <td>${kind}${eventId !== null && ` (${eventId})`}</td>
      <td><span class="badge ${note === null ? 'good' : 'bad'}">${note === null ? 'taken' : 'not taken'}</span> ${status ?? 'no answer'}${hintOf(note)}</td>
      <td>${duration} ms</td>
      <td>${eventId !== null && resend(String(eventId))}</td>`,
  )
  const options = { caption: `The last ${rows.length}, newest first`, empty: 'Nothing was sent yet.' }
  return dataTable('Deliveries', ['When', 'Event', 'Answer', 'Took', actionsHeading], rows, options)
}

function kindChoice({ check }: Controls): Html {
  return html`<fieldset class="part"><legend>Kinds of events</legend>
    <p class="hint">None ticked: all of them.</p>
    <div class="columns">${EventKind.options.map((kind) => check('kinds', kind, { value: kind }))}</div>
  </fieldset>`
}

function webhookTable(webhooks: readonly ListedWebhook[]): Html {
  const rows = webhooks.map(
    ({ id, url, kb, kinds, cursor, lastEvent, ...webhook }) =>
      html`<th scope="row"><a href="/settings/webhooks/${id}">${url}</a></th>
      <td>${kb ?? 'all'}</td><td>${kinds.length === 0 ? 'all' : kinds.join(', ')}</td>
      <td>${webhookState(webhook)}</td><td>${cursor} of ${lastEvent}</td>`,
  )
  return dataTable('Webhooks', ['URL', 'Events of', 'Kinds', 'State', 'Sent'], rows, {
    empty: 'There are no webhooks yet.',
  })
}

function webhookState({ isEnabled, failures, note }: Pick<ListedWebhook, 'isEnabled' | 'failures' | 'note'>): Html {
  const [look, word] = !isEnabled ? ['bad', 'stopped'] : failures > 0 ? ['warn', 'failing'] : ['good', 'on']
  return html`<span class="badge ${look}">${word}</span>${hintOf(note)}`
}

function hintOf(note: string | null): Html | undefined {
  return note === null ? undefined : html` <span class="hint" dir="auto">${note}</span>`
}
