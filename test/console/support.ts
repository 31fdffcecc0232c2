import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseHTML } from 'linkedom'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import type { Answerer } from '../../src/chat/answerer.ts'
import { consoleRoutes } from '../../src/console/console.ts'
import type { PersonRole } from '../../src/contract/vocabulary.ts'
import { buildServer } from '../../src/http/server.ts'
import type { ZodFastify } from '../../src/http/zod-compilers.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import type { IdentityProviderOptions } from '../../src/people/identity-provider.ts'
import { patientServer } from '../support/patient-server.ts'
import { signIn } from '../support/person.ts'
import { threads } from '../support/threads.ts'

export type Page = {
  status: number
  headers: Record<string, unknown>
  body: string
  document: ReturnType<typeof parseHTML>['document']
  /** Texts of the elements that match a selector, without the space around them. */
  texts(selector: string): string[]
}

/** A person's browser: it keeps no scripts and no styles, only the session. */
export type Browser = {
  userId: string
  headers: Record<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Page>
  /** Sends a form with the token of the person's pages. */
  post(
    path: string,
    fields?: Record<string, string | readonly string[]>,
    headers?: Record<string, string>,
  ): Promise<Page>
}

export type Console = {
  app: ZodFastify
  ctx: OpenContext
  kbId: string
  /** Id of the tenant `acme`. */
  tenantId: string
  close(): Promise<void>
  /** A new browser in which a person of this role is signed in. */
  browser(role: PersonRole, person?: { tenant?: string; email?: string; name?: string }): Promise<Browser>
}

/** The console on a data directory of its own, with the knowledge base `handbook` of the tenant `acme`. For a test, or all of a file. */
export async function startConsole({
  answerer,
  identityProvider,
  publicUrl,
  pages = consoleRoutes,
  webhookPrivate = false,
}: {
  answerer?: Answerer
  identityProvider?: IdentityProviderOptions
  publicUrl?: string
  /** Whether webhooks may lead to the own network. */
  webhookPrivate?: boolean
  /** Pages to serve instead of the console's. */
  pages?: typeof consoleRoutes
} = {}): Promise<Console> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ganglion-'))
  const ctx = await openContext({
    ...{ dataDir, publicUrl, threads, identityProvider, webhookPrivate },
    ...(answerer && { answerer }),
  })
  const { id: tenantId } = await ctx.tenants.ensure('acme', ctx.now())
  const { id: kbId } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const logged: string[] = []
  const log = { level: 'error', stream: { write: (line: string) => void logged.push(line) } } as const
  const app = await buildServer(ctx, { ...patientServer, pages, publicUrl, log })
  return {
    async close() {
      await app.close()
      await ctx.close()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
      // An error after the answer was sent is only in the log.
      if (logged.length > 0) throw new Error(`The console logged errors:\n${logged.join('')}`)
    },
    app,
    ctx,
    kbId,
    tenantId,
    async browser(role, { tenant = 'acme', ...person } = {}) {
      const { userId, headers: all } = await signIn(ctx, tenant, role, person)
      const { 'x-csrf-token': token, ...headers } = { ...all, accept: 'text/html' }
      return {
        userId,
        headers: { ...all, accept: 'text/html' },
        get: (path, more) => visit(app, { method: 'GET', url: path, headers: { ...headers, ...more } }),
        post: (path, fields = {}, more) =>
          visit(app, {
            method: 'POST',
            url: path,
            headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded', ...more },
            payload: encodeForm({ _csrf: token, ...fields }),
          }),
      }
    },
  }
}

/** Sends a request of nobody, or with what the headers say. */
export async function visit(
  app: ZodFastify,
  request: { method: 'GET' | 'POST'; url: string; headers?: Record<string, string>; payload?: string },
): Promise<Page> {
  const { statusCode, headers, body } = await app.inject(request)
  const { document } = parseHTML(body)
  return {
    status: statusCode,
    headers,
    body,
    document,
    texts: (selector) =>
      [...document.querySelectorAll(selector)].map(({ textContent }) => textContent.trim().replace(/\s+/g, ' ')),
  }
}

function encodeForm(fields: Readonly<Record<string, string | readonly string[]>>): string {
  const form = new URLSearchParams()
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) form.append(name, value)
  return form.toString()
}

/** Returns what a browser would send of the form of a page. */
export function fieldsOf(page: Page): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const control of page.document.querySelectorAll(
    'main form input:not([name=_csrf]), main form select, main form textarea',
  )) {
    const name = control.getAttribute('name') ?? ''
    const chosen = [...control.querySelectorAll('option')].find((option) => option.hasAttribute('selected'))
    if (control.getAttribute('type') === 'checkbox') {
      if (control.hasAttribute('checked')) fields[name] = 'true'
    } else if (control.tagName === 'SELECT') fields[name] = chosen?.getAttribute('value') ?? ''
    else fields[name] = control.getAttribute('value') ?? control.textContent.replace(/^\n/, '')
  }
  return fields
}
