import type { AuditPage } from '../../kb/access/audit.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page } from '../layout/page.ts'
import type { Visit } from '../layout/visit.ts'
import { when } from '../layout/when.ts'

const phrases: Readonly<Record<string, string>> = {
  'user.signed-in': 'signed in',
  'user.signed-out': 'signed out',
  'user.invited': 'invited',
  'user.renamed': 'changed the name of',
  'user.role-changed': 'changed the role of',
  'user.disabled': 'disabled',
  'user.enabled': 'enabled',
  'user.sessions-ended': 'ended the sessions of',
  'user.link-made': 'made a password link for',
  'user.password-changed': 'changed the password of',
  'key.created': 'made the API key',
  'key.revoked': 'revoked the API key',
  'webhook.added': 'added the webhook',
  'webhook.changed': 'changed the webhook',
  'webhook.paused': 'paused the webhook',
  'webhook.removed': 'removed the webhook',
  'webhook.replayed': 'sent events again to the webhook',
  'settings.changed': 'changed the settings of',
  'kb.created': 'made the knowledge base',
  'kb.renamed': 'renamed the knowledge base',
  'kb.disabled': 'disabled the knowledge base',
  'kb.enabled': 'enabled the knowledge base',
  'kb.deleted': 'deleted the knowledge base',
  'tenant.renamed': 'renamed the tenant',
  'tenant.bounded': 'set the quotas of the tenant',
  'tenant.disabled': 'disabled the tenant',
  'tenant.enabled': 'enabled the tenant',
}

export function auditPage(visit: Visit, { entries, next }: AuditPage): Html {
  const main = html`<h1>Audit</h1>
    <p>Sign-ins and what administrators did to <strong>${visit.session.tenant.slug}</strong>. What was decided on knowledge is in its history. <a href="/settings/people">People</a></p>
    ${
      entries.length === 0
        ? html`<p>Nothing yet.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Audit"><table class="wide">
      <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Did what</th><th scope="col">From where</th></tr></thead>
      <tbody>${entries.map(
        ({ at, actor, action, subject, detail, address }) => html`<tr>
          <td>${when(at)}</td>
          <td><bdi>${actor.name}</bdi> <br><span class="hint">${actor.id}</span></td>
          <td>${phrases[action] ?? action} <strong dir="auto">${subject}</strong>${detail && html`, <span dir="auto">${detail}</span>`}</td>
          <td>${address ?? 'the server'}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
    }
    ${next !== null && html`<p><a href="/settings/audit?before=${next}">Older</a></p>`}`
  return page(visit, { title: 'Audit', main })
}
