import { z } from 'zod'
import { KeyLimits, type ListedKey, limitsOrNone, NewApiKey } from '../../contract/administration.ts'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { KeyAudience } from '../../contract/vocabulary.ts'
import { createApiKey, limitApiKey, listApiKeys, revokeApiKey } from '../../people/manage-api-keys.ts'
import { typedItems } from '../../rules/text/lines.ts'
import { button, type Choice, type Controls, confirmedButton, controlsOf, FormFields, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html, when } from '../layout/html-template.ts'
import { actionsHeading, dataTable } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, type FormView } from '../layout/page-routes.ts'

const dayMs = 86_400_000
const lines = z
  .string()
  .default('')
  .transform((text) => typedItems(text, '\n'))
const count = z
  .string()
  .default('')
  .transform((text) => (text.trim() === '' ? null : Number(text)))
const { shape } = KeyLimits
const LimitsForm = z.object({
  ...{ pending: count.pipe(shape.pending), approved: count.pipe(shape.approved) },
  ...{ paths: lines.pipe(shape.paths), tags: lines.pipe(shape.tags) },
})
const KeyForm = LimitsForm.extend({
  name: z
    .string()
    .default('')
    .transform((name) => name.trim())
    .pipe(NewApiKey.shape.name),
  role: NewApiKey.shape.role,
  connectors: lines.pipe(NewApiKey.shape.connectors.unwrap()),
  git: z.string().default(''),
  audience: z.literal('').or(KeyAudience).default(''),
  expires: z.enum(['30', '90', '365', 'never'], 'must be one of the choices'),
})
const KeyPath = z.object({ id: z.uuid() })
const Query = z.object({ cursor: z.uuid().optional().catch(undefined) })

const notices = {
  revoked: 'The key is revoked: it is refused from now on.',
  limited: 'The limits hold from now on.',
}
const roles: readonly Choice[] = [
  ['app', 'app: propose, upload, search, ask'],
  ['curator', 'curator: decide on candidates, and push with git, too'],
  ['reader', 'reader: search, ask and read only'],
  ['admin', 'admin: as a curator, and manage keys and webhooks'],
]
const lifetimes: readonly Choice[] = [
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
  ['never', 'never'],
]

export const keysRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  pages.formPage('/settings/keys', {
    ...{ query: Query, body: FormFields, notices, show: keys },
    // No redirect: the token must not be in an address, nor anywhere that it could be read again.
    async act(sent) {
      const { token } = await createApiKey(ctx, sent.caller, newKeyOf(sent.body))
      sent.reply.header('cache-control', 'no-store')
      return { page: await keys(sent, {}, token), status: 201 }
    },
  })

  pages.post('/settings/keys/:id/revoke', { params: KeyPath }, async ({ caller, params }) => {
    await revokeApiKey(ctx, caller, params.id)
    return { to: '/settings/keys?done=revoked' }
  })

  pages.formPage('/settings/keys/:id/limits', {
    ...{ params: KeyPath, body: FormFields },
    async act(sent) {
      const { id } = await keyOf(sent)
      await limitApiKey(ctx, sent.caller, id, parseSent(LimitsForm, sent.body))
      return { to: '/settings/keys?done=limited' }
    },
    async show(sent, { typed, errors }) {
      const { id, name, limits } = await keyOf(sent)
      const fields = limitFields(controlsOf(typed ?? shownLimits(limits), errors))
      return page(sent.visit, {
        title: `Limits of ${name}`,
        main: html`<p><a href="/settings/keys">All keys</a></p>
          <h1>Limits of <bdi>${name}</bdi></h1>
          ${form(sent.visit, { action: `/settings/keys/${id}/limits`, errors }, [fields, button('Set the limits')])}`,
      })
    },
  })

  async function keyOf({ params: { id }, caller: { tenantId } }: ConsoleRequest<z.output<typeof KeyPath>>) {
    const key = await ctx.apiKeys.find(id)
    if (key?.tenantId !== tenantId) throw new GanglionError('not_found')
    return key
  }

  async function keys(
    { visit, caller, query }: ConsoleRequest<unknown, z.output<typeof Query>>,
    { notice, typed = { role: 'app', expires: '90' }, errors }: FormView<FormFields>,
    token?: string,
  ): Promise<Html> {
    const { keys, nextCursor } = await listApiKeys(ctx, caller, query)
    const hasLimits = Object.keys(shape).some((name) => typed[name])
    const controls = controlsOf(typed, errors)
    const { text, area, select, check } = controls
    return page(visit, {
      title: 'API keys',
      notice,
      islands: token === undefined ? [] : ['copy'],
      main: html`<h1>API keys</h1>
        ${token !== undefined && secretBox('The new key', token, 'Keep it where only the program reads it.')}
        <h2 id="new">Make a key</h2>
        ${form(visit, { action: '/settings/keys', errors }, [
          text('name', 'Name', {
            hint: 'Who or what uses it.',
            ...{ required: true, maxlength: 100, autocomplete: 'off' },
          }),
          select('role', 'Role', roles),
          select('expires', 'Expires', lifetimes),
          area('connectors', 'Connectors', {
            hint: 'Names that the key may speak as, one on each line. Most keys need none.',
            ...{ rows: 2, class: 'short' },
          }),
          check('git', 'It clones with git, hidden pages too, but never pushes: for CI'),
          check('audience', 'A reader key may also ask for the pages of the audience student', { value: 'student' }),
          html`<details class="field"${hasLimits && html` open`}><summary>Limits of what it may propose, for an agent</summary>${limitFields(controls)}</details>`,
          button('Make the key'),
        ])}
        <h2 id="keys">Keys</h2>
        ${keyTable(visit, keys)}
        ${nextCursor !== null && html`<p><a href="/settings/keys?cursor=${nextCursor}" rel="next">Older keys</a></p>`}`,
    })
  }
})

function shownLimits(limits: KeyLimits | null): FormFields {
  const { pending, approved, paths = [], tags = [] } = limits ?? {}
  return { pending: `${pending ?? ''}`, approved: `${approved ?? ''}`, paths: paths.join('\n'), tags: tags.join('\n') }
}

/** Parses the form of a new key. @throws {ValidationError} */
function newKeyOf(fields: FormFields): NewApiKey {
  const { pending, approved, paths, tags, git, audience, expires, ...key } = parseSent(KeyForm, fields)
  const limits = limitsOrNone({ pending, approved, paths, tags })
  const expiresAt = expires === 'never' ? null : new Date(Date.now() + Number(expires) * dayMs).toISOString()
  return { ...key, git: git ? 'all' : 'shown', audience: audience || null, limits, expiresAt }
}

function limitFields({ text, area }: Controls): Html[] {
  const number = { inputmode: 'numeric', pattern: '[0-9]*', class: 'short', autocomplete: 'off' }
  const short = { rows: 2, class: 'short' }
  return [
    text('pending', 'Candidates that may wait at once', {
      hint: 'In each knowledge base. Empty: any number.',
      ...number,
    }),
    text('approved', 'Candidates that the policy may approve in a day', {
      hint: 'In each knowledge base; more wait for a curator. Empty: any number.',
      ...number,
    }),
    area('paths', 'Folders and pages', {
      hint: 'Folders that the key may propose to, such as guides/vip, one on each line.',
      ...short,
    }),
    area('tags', 'Tags', {
      hint: 'Tags of pages that the key may propose to, one on each line. Without folders and tags: any page.',
      ...short,
    }),
  ]
}

/** Renders a secret that is shown only once, with a button that copies it. */
export function secretBox(label: string, secret: string, advice: string): Html {
  return html`<section class="notice secret" aria-labelledby="secret-label">
    <h2 id="secret-label">${label}</h2>
    <p>${advice} It is shown only now.</p>
    <p class="row"><input readonly id="secret" value="${secret}" aria-labelledby="secret-label" autocomplete="off" data-copy></p>
  </section>`
}

function keyTable(visit: Visit, keys: readonly ListedKey[]): Html {
  const hint = (text: HtmlPart) => html`<br><span class="hint">${text}</span>`
  const rows = keys.map((key) => {
    const state = stateOf(key)
    const { id, name, role, connectors, git, audience, lastUsedAt, expiresAt, createdAt, createdBy, limits } = key
    const revoke = [html`Revoke…<span class="unseen"> ${name}</span>`, 'Revoke it now'] as const
    return html`<th scope="row"><bdi>${name}</bdi>${connectors.length > 0 && hint(html`as <bdi>${connectors.join(', ')}</bdi>`)}${key.isAgent && hint('agent, let in with OAuth')}</th>
      <td>${role}${(role === 'reader' || role === 'app') && git === 'all' && hint('fetches everything with git')}${audience !== null && hint(html`also as <bdi>${audience}</bdi>`)}</td>
      <td><span class="badge ${state === 'valid' ? 'good' : 'bad'}">${state}</span></td>
      <td>${lastUsedAt === null ? 'never' : when(lastUsedAt)}</td>
      <td>${expiresAt === null ? 'never' : when(expiresAt)}</td>
      <td>${when(createdAt)}${createdBy !== null && html` by <bdi>${createdBy}</bdi>`}</td>
      <td><a href="/undo?by=key&writer=${id}">Undo…<span class="unseen"> what ${name} wrote</span></a>
      ${
        state === 'valid' &&
        html`<a href="/settings/keys/${id}/limits">${limits === null ? 'Set limits' : 'Change limits'}<span class="unseen"> of ${name}</span></a>
        ${confirmedButton(visit, `/settings/keys/${id}/revoke`, revoke)}`
      }</td>`
  })
  const headings = ['Name', 'Role', 'State', 'Last used', 'Expires', 'Made', actionsHeading]
  return dataTable('API keys', headings, rows, { empty: 'There are no keys yet.' })
}

function stateOf({ revokedAt, expiresAt }: ListedKey): 'valid' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= new Date().toISOString() ? 'expired' : 'valid'
}
