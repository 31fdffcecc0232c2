import { EventKind } from '../../contract/events.ts'
import type { WebhookFormat } from '../../contract/vocabulary.ts'
import type { WebhookSummary } from '../../events/webhooks/manage-webhooks.ts'
import { button, checkbox, type FormErrors, field, form, selectField } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { secretBox } from './secret-box.ts'

export type WebhookForm = { url: string; kb: string; format: string; kinds: readonly string[] }

export type WebhooksView = {
  webhooks: readonly WebhookSummary[]
  kbs: readonly { slug: string; title: string }[]
  notice?: HtmlPart
  /** Of the webhook that was added just now. */
  secret?: string
  typed?: WebhookForm | undefined
  errors?: FormErrors | undefined
}

const emptyForm: WebhookForm = { url: '', kb: '', format: 'ganglion', kinds: [] }
export const webhookFormats: Readonly<Record<WebhookFormat, string>> = {
  ganglion: 'A program: signed JSON',
  slack: 'Slack: an incoming webhook',
  teams: 'Teams: a workflow that posts cards',
}
const receivers = Object.entries(webhookFormats).map(([value, label]) => ({ value, label }))

export function webhooksPage(visit: Visit, view: WebhooksView): Html {
  const { webhooks, kbs, notice, secret, typed = emptyForm, errors } = view
  return page(visit, {
    title: 'Webhooks',
    notice,
    islands: secret === undefined ? [] : ['copy'],
    main: html`<h1>Webhooks</h1>
      <p>Each event is sent as a signed message (Standard Webhooks), in order, until it is taken.</p>
      ${secret !== undefined && secretBox({ label: 'The secret that signs', secret, advice: 'The receiver checks each message with it.' })}
      ${webhooks.length === 0 ? html`<p class="empty">There are no webhooks yet.</p>` : table(webhooks)}
      <h2 id="new">Add a webhook</h2>
      ${form(visit, { action: '/settings/webhooks', errors }, [
        field({
          name: 'url',
          label: 'URL',
          type: 'url',
          value: typed.url,
          errors,
          hint: 'Of the receiver, reachable from the public internet.',
          attributes: { required: true, maxlength: 2000 },
        }),
        selectField({
          name: 'kb',
          label: 'Events of',
          value: typed.kb,
          errors,
          choices: [
            { value: '', label: 'all knowledge bases' },
            ...kbs.map(({ slug, title }) => ({ value: slug, label: title })),
          ],
        }),
        selectField({ name: 'format', label: 'Receiver', value: typed.format, errors, choices: receivers }),
        kindChoice(typed.kinds, errors),
        button('Add the webhook'),
      ])}`,
  })
}

export function kindChoice(chosen: readonly string[], errors?: FormErrors): Html {
  return html`<fieldset class="part"><legend>Kinds of events</legend>
    <p class="hint">None ticked: all of them.</p>
    <div class="columns">${EventKind.options.map((kind) =>
      checkbox({ name: 'kinds', value: kind, label: kind, isChecked: chosen.includes(kind), errors }),
    )}</div>
  </fieldset>`
}

function table(webhooks: readonly WebhookSummary[]): Html {
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

export function webhookState({
  isEnabled,
  failures,
  note,
}: Pick<WebhookSummary, 'isEnabled' | 'failures' | 'note'>): Html {
  const [look, word] = !isEnabled ? ['bad', 'stopped'] : failures > 0 ? ['warn', 'failing'] : ['good', 'on']
  return html`<span class="badge ${look}">${word}</span>${note !== null && html` <span class="hint" dir="auto">${note}</span>`}`
}
