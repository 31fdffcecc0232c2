import type { ApiKeyPage, ApiKeySummary } from '../../people/manage-api-keys.ts'
import { button, checkbox, type FormErrors, field, form, selectField, textArea } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import { secretBox } from './secret-box.ts'

export type LimitsForm = { pending: string; approved: string; paths: string; tags: string }
export type KeyForm = LimitsForm & {
  name: string
  role: string
  connectors: string
  git: string
  audience: string
  expires: string
}

export type KeysView = {
  list: ApiKeyPage
  now: Date
  notice?: HtmlPart
  /** Of the key that was made just now. */
  token?: string
  typed?: KeyForm | undefined
  errors?: FormErrors | undefined
}

const roles = [
  { value: 'app', label: 'app: propose, upload, search, ask' },
  { value: 'curator', label: 'curator: decide on candidates, and push with git, too' },
  { value: 'reader', label: 'reader: search, ask and read only' },
]
const lifetimes = [
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: 'never', label: 'never' },
]
const noLimits: LimitsForm = { pending: '', approved: '', paths: '', tags: '' }
const emptyForm: KeyForm = { ...noLimits, name: '', role: 'app', connectors: '', git: '', audience: '', expires: '90' }

export function keysPage(visit: Visit, { list, now, notice, token, typed = emptyForm, errors }: KeysView): Html {
  const hasLimits = `${typed.pending}${typed.approved}${typed.paths}${typed.tags}` !== ''
  return page(visit, {
    title: 'API keys',
    notice,
    islands: token === undefined ? [] : ['copy'],
    main: html`<h1>API keys</h1>
      ${token !== undefined && secretBox({ label: 'The new key', secret: token, advice: 'Keep it where only the program reads it.' })}
      <h2 id="new">Make a key</h2>
      ${form(visit, { action: '/settings/keys', errors }, [
        field({
          name: 'name',
          label: 'Name',
          value: typed.name,
          errors,
          hint: 'Who or what uses it.',
          attributes: { required: true, maxlength: 100, autocomplete: 'off' },
        }),
        selectField({ name: 'role', label: 'Role', value: typed.role, choices: roles, errors }),
        selectField({ name: 'expires', label: 'Expires', value: typed.expires, choices: lifetimes, errors }),
        textArea({
          name: 'connectors',
          label: 'Connectors',
          value: typed.connectors,
          errors,
          hint: 'Names that the key may speak as, one on each line. Most keys need none.',
          attributes: { rows: 2, class: 'short' },
        }),
        checkbox({
          name: 'git',
          label: 'It clones with git, hidden pages too, but never pushes: for CI',
          isChecked: typed.git !== '',
        }),
        checkbox({
          name: 'audience',
          value: 'student',
          label: 'A reader key may also ask for the pages of the audience student',
          isChecked: typed.audience !== '',
        }),
        errors?.fieldErrors?.audience &&
          html`<p class="error">The audience ${errors.fieldErrors.audience.join(' ')}</p>`,
        html`<details class="field"${hasLimits && html` open`}><summary>Limits of what it may propose, for an agent</summary>${limitFields(typed, errors)}</details>`,
        button('Make the key'),
      ])}
      <h2 id="keys">Keys</h2>
      ${list.keys.length === 0 ? html`<p class="empty">There are no keys yet.</p>` : table(visit, list.keys, now)}
      ${list.next !== null && html`<p><a href="/settings/keys?before=${list.next}" rel="next">Older keys</a></p>`}`,
  })
}

function limitFields({ pending, approved, paths, tags }: LimitsForm, errors?: FormErrors): Html[] {
  const number = { inputmode: 'numeric', pattern: '[0-9]*', class: 'short', autocomplete: 'off' }
  return [
    field({
      name: 'pending',
      label: 'Candidates that may wait at once',
      value: pending,
      errors,
      hint: 'In each knowledge base. Empty: any number.',
      attributes: number,
    }),
    field({
      name: 'approved',
      label: 'Candidates that the policy may approve in a day',
      value: approved,
      errors,
      hint: 'In each knowledge base; more wait for a curator. Empty: any number.',
      attributes: number,
    }),
    textArea({
      name: 'paths',
      label: 'Folders and pages',
      value: paths,
      errors,
      hint: 'That it may propose to, such as guides/vip, one on each line.',
      attributes: { rows: 2, class: 'short' },
    }),
    textArea({
      name: 'tags',
      label: 'Tags',
      value: tags,
      errors,
      hint: 'Of pages that it may propose to, one on each line. Without folders and tags: any page.',
      attributes: { rows: 2, class: 'short' },
    }),
  ]
}

/** The page on which the limits of a key are changed. */
export function keyLimitsPage(
  visit: Visit,
  { id, name, typed, errors }: { id: string; name: string; typed: LimitsForm; errors?: FormErrors | undefined },
): Html {
  return page(visit, {
    title: `Limits of ${name}`,
    main: html`<p><a href="/settings/keys">All keys</a></p>
      <h1>Limits of <bdi>${name}</bdi></h1>
      ${form(visit, { action: `/settings/keys/${id}/limits`, errors }, [limitFields(typed, errors), button('Set the limits')])}`,
  })
}

function table(visit: Visit, keys: readonly ApiKeySummary[], now: Date): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="API keys"><table>
    <thead><tr>
      <th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th><th scope="col">Last used</th>
      <th scope="col">Expires</th><th scope="col">Made</th><th scope="col"><span class="unseen">Actions</span></th>
    </tr></thead>
    <tbody>${keys.map((key) => row(visit, key, now))}</tbody>
  </table></div>`
}

function row(visit: Visit, key: ApiKeySummary, now: Date): Html {
  const state = stateOf(key, now)
  const { id, name, role, connectors, lastUsedAt, expiresAt, createdAt, createdBy } = key
  return html`<tr>
    <th scope="row"><bdi>${name}</bdi>${connectors.length > 0 && html`<br><span class="hint">as <bdi>${connectors.join(', ')}</bdi></span>`}${key.isAgent && html`<br><span class="hint">agent, let in with OAuth</span>`}</th>
    <td>${role}${key.role !== 'curator' && key.git === 'all' && html`<br><span class="hint">fetches everything with git</span>`}${key.audience !== null && html`<br><span class="hint">also as <bdi>${key.audience}</bdi></span>`}</td>
    <td><span class="badge ${state === 'valid' ? 'good' : 'bad'}">${state}</span></td>
    <td>${lastUsedAt === null ? 'never' : when(lastUsedAt, now)}</td>
    <td>${expiresAt === null ? 'never' : when(expiresAt, now)}</td>
    <td>${when(createdAt, now)}${createdBy !== null && html` by <bdi>${createdBy}</bdi>`}</td>
    <td><a href="/undo?by=key&writer=${id}">Undo…<span class="unseen"> what ${name} wrote</span></a>
    ${
      state === 'valid' &&
      html`<a href="/settings/keys/${id}/limits">${key.limits === null ? 'Set limits' : 'Change limits'}<span class="unseen"> of ${name}</span></a>
      <details><summary>Revoke…<span class="unseen"> ${name}</span></summary>
        ${form(visit, { action: `/settings/keys/${id}/revoke` }, button('Revoke it now', { class: 'danger' }))}</details>`
    }</td>
  </tr>`
}

function stateOf({ revokedAt, expiresAt }: ApiKeySummary, now: Date): 'valid' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now.toISOString() ? 'expired' : 'valid'
}
