import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { KeyLimits, limitsOrNone, NewApiKey } from '../../contract/administration.ts'
import { GanglionError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import {
  type ApiKeySummary,
  createApiKey,
  limitApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../people/manage-api-keys.ts'
import { button, controlsOf, type FormErrors, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { type ConsoleRequest, pagesOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'

const dayMs = 86_400_000
const text = z.string().default('')
const TypedLimits = z.object({ pending: text, approved: text, paths: text, tags: text })
type TypedLimits = z.output<typeof TypedLimits>
const Typed = TypedLimits.extend({ name: text, role: text, connectors: text, git: text, audience: text, expires: text })
type Typed = z.output<typeof Typed>
const KeyPath = z.object({ id: z.uuid() })
const Expires = z.enum(['30', '90', '365', 'never'], 'must be one of the choices')
const Query = z.object({ before: z.uuid().optional().catch(undefined) })

const notices = {
  revoked: 'The key is revoked: it is refused from now on.',
  limited: 'The limits hold from now on.',
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
const emptyForm = Typed.parse({ role: 'app', expires: '90' })

/** Adds the pages of the API keys. */
export function keysRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app, { people: 'admin' })

  pages.get('/settings/keys', { query: Query, notices }, ({ notice, ...sent }) => keys(sent, { notice }, sent.query))

  pages.form('/settings/keys', {
    body: Typed,
    // No redirect: the token must not be in an address, nor anywhere that it could be read again.
    async act(sent) {
      const { token } = await createApiKey(ctx, sent.caller, read(sent.body, new Date()))
      sent.reply.header('cache-control', 'no-store')
      return { page: await keys(sent, { token }), status: 201 }
    },
    refused: (sent, { errors }) => keys(sent, { typed: sent.body, errors }),
  })

  pages.post('/settings/keys/:id/revoke', { params: KeyPath }, async ({ caller, params }) => {
    await revokeApiKey(ctx, caller, params.id)
    return { to: '/settings/keys?done=revoked' }
  })

  pages.get('/settings/keys/:id/limits', { params: KeyPath }, async (sent) => {
    const key = await keyOf(sent)
    return limitsPage(sent.visit, key, shownLimits(key.limits))
  })

  pages.form('/settings/keys/:id/limits', {
    ...{ params: KeyPath, body: TypedLimits },
    async act(sent) {
      const { id } = await keyOf(sent)
      await limitApiKey(ctx, sent.caller, id, parseSent(KeyLimits, readLimits(sent.body)))
      return { to: '/settings/keys?done=limited' }
    },
    refused: async (sent, { errors }) => limitsPage(sent.visit, await keyOf(sent), sent.body, errors),
  })

  async function keyOf({ params: { id }, caller: { tenantId } }: ConsoleRequest<z.output<typeof KeyPath>>) {
    const key = await ctx.apiKeys.find(id)
    if (key?.tenantId !== tenantId) throw new GanglionError('not_found')
    return key
  }

  async function keys(
    { visit, caller }: Pick<ConsoleRequest, 'visit' | 'caller'>,
    { notice, token, typed = emptyForm, errors }: KeysView,
    { before }: z.output<typeof Query> = {},
  ): Promise<Html> {
    const { keys, next } = await listApiKeys(ctx, caller, { before })
    const hasLimits = `${typed.pending}${typed.approved}${typed.paths}${typed.tags}` !== ''
    const { text, area, select, check } = controlsOf(typed, errors)
    return page(visit, {
      title: 'API keys',
      notice,
      islands: token === undefined ? [] : ['copy'],
      main: html`<h1>API keys</h1>
        ${token !== undefined && secretBox({ label: 'The new key', secret: token, advice: 'Keep it where only the program reads it.' })}
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
          html`<details class="field"${hasLimits && html` open`}><summary>Limits of what it may propose, for an agent</summary>${limitFields(typed, errors)}</details>`,
          button('Make the key'),
        ])}
        <h2 id="keys">Keys</h2>
        ${keys.length === 0 ? html`<p class="empty">There are no keys yet.</p>` : table(visit, keys, new Date())}
        ${next !== null && html`<p><a href="/settings/keys?before=${next}" rel="next">Older keys</a></p>`}`,
    })
  }
}

type KeysView = { notice?: HtmlPart; token?: string; typed?: Typed; errors?: FormErrors }

function readLimits({ pending, approved, paths, tags }: TypedLimits) {
  const count = (text: string) => (text.trim() === '' ? null : Number(text))
  return { pending: count(pending), approved: count(approved), paths: linesOf(paths), tags: linesOf(tags) }
}

function shownLimits(limits: KeyLimits | null): TypedLimits {
  const { pending = null, approved = null, paths = [], tags = [] } = limits ?? {}
  const count = (limit: number | null) => (limit === null ? '' : String(limit))
  return { pending: count(pending), approved: count(approved), paths: paths.join('\n'), tags: tags.join('\n') }
}

function linesOf(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
}

function read({ name, role, connectors, git, audience, expires, ...limits }: Typed, now: Date) {
  const days = Expires.safeParse(expires)
  const asked = {
    name: name.trim(),
    role,
    connectors: linesOf(connectors),
    git: git === '' ? 'shown' : 'all',
    audience: audience === '' ? null : audience,
    expires,
    ...readLimits(limits),
    expiresAt: days.success && days.data !== 'never' ? new Date(now.getTime() + Number(days.data) * dayMs) : null,
  }
  const { pending, approved, paths, tags, ...key } = parseSent(
    NewApiKey.omit({ limits: true }).extend({ ...KeyLimits.shape, expires: Expires }),
    asked,
  )
  return { ...key, limits: limitsOrNone({ pending, approved, paths, tags }) }
}

function limitFields(typed: TypedLimits, errors?: FormErrors): Html[] {
  const { text, area } = controlsOf(typed, errors)
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
      hint: 'That it may propose to, such as guides/vip, one on each line.',
      ...short,
    }),
    area('tags', 'Tags', {
      hint: 'Of pages that it may propose to, one on each line. Without folders and tags: any page.',
      ...short,
    }),
  ]
}

/** Renders the page on which the limits of a key are changed. */
function limitsPage(
  visit: Visit,
  { id, name }: { id: string; name: string },
  typed: TypedLimits,
  errors?: FormErrors,
): Html {
  return page(visit, {
    title: `Limits of ${name}`,
    main: html`<p><a href="/settings/keys">All keys</a></p>
      <h1>Limits of <bdi>${name}</bdi></h1>
      ${form(visit, { action: `/settings/keys/${id}/limits`, errors }, [limitFields(typed, errors), button('Set the limits')])}`,
  })
}

/** Renders a secret that is shown only once, with a button that copies it. */
export function secretBox({ label, secret, advice }: { label: string; secret: string; advice: string }): Html {
  return html`<section class="notice secret" aria-labelledby="secret-label">
    <h2 id="secret-label">${label}</h2>
    <p>${advice} It is shown only now.</p>
    <p class="row"><input readonly id="secret" value="${secret}" aria-labelledby="secret-label" autocomplete="off" data-copy></p>
  </section>`
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
