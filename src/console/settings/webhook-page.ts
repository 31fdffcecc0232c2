import type { WebhookSummary } from '../../events/webhooks/manage-webhooks.ts'
import type { WebhookDelivery } from '../../state/webhooks.ts'
import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import { kindChoice, webhookFormats, webhookState } from './webhooks-page.ts'

export type WebhookView = {
  webhook: WebhookSummary
  deliveries: readonly WebhookDelivery[]
  /** Id of the first event that is kept. */
  firstEvent: number
  now: Date
  notice?: HtmlPart
  problem?: HtmlPart
  from?: string | undefined
  errors?: FormErrors | undefined
}

export function webhookPage(visit: Visit, view: WebhookView): Html {
  const { webhook, deliveries, firstEvent, now, notice, problem, errors } = view
  const { id, url, kb, kinds, format, cursor, lastEvent, isEnabled, dueAt } = webhook
  const path = `/settings/webhooks/${id}`
  const next = Math.max(firstEvent, Math.min(cursor + 1, lastEvent))
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
      ${deliveries.length === 0 ? html`<p class="empty">Nothing was sent yet.</p>` : table(visit, path, deliveries, now)}
      <h2 id="replay">Send again</h2>
      ${
        lastEvent < firstEvent
          ? html`<p class="empty">There are no events yet.</p>`
          : form(visit, { action: `${path}/replay`, errors }, [
              field({
                name: 'from',
                label: 'From event',
                value: view.from ?? String(next),
                errors,
                hint: `All events from this one on, in order. Events ${firstEvent} to ${lastEvent} are kept.`,
                attributes: { inputmode: 'numeric', class: 'short' },
              }),
              button('Send them again', { class: 'second' }),
            ])
      }
      <h2 id="kinds">What is sent</h2>
      ${form(visit, { action: `${path}/kinds` }, [kindChoice(kinds), button('Save the kinds', { class: 'second' })])}`,
  })
}

function table(visit: Visit, path: string, deliveries: readonly WebhookDelivery[], now: Date): Html {
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
