import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Response } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { PersonRole } from '../../../src/contract/vocabulary.ts'
import { operator, templateDir } from '../../../src/services/create-kb.ts'
import { importDirectory } from '../../../src/services/import/import-directory.ts'
import { type Console, startConsole } from '../../console/support.ts'
import { signIn } from '../../support/person.ts'
import { launchChromium } from './chromium.ts'

export type Stage = Omit<Console, 'browser'> & {
  url: string
  browser: Browser
  /** A new window of a browser in which a person is signed in. */
  enter(role: PersonRole, options?: EnterOptions): Promise<Visitor>
}

export type EnterOptions = Pick<BrowserContextOptions, 'javaScriptEnabled' | 'colorScheme' | 'viewport'> & {
  email?: string
  name?: string
}

export type Visitor = {
  page: Page
  context: BrowserContext
  /** What should not have happened: scripts that ran, resources that the policy kept out, errors of our own scripts. */
  alarms: string[]
  /** Bytes and number of the answers since the last visit of a page. */
  transfer: { bytes: number; requests: number }
  /** Opens a path of the console, once it has come to rest. */
  visit(path: string): Promise<Response | null>
}

/** A server on a socket with pages of the template, and a browser, for all tests of a file. */
export function stageForFile(prepare: (stage: Console) => Promise<void> = async () => {}): () => Stage {
  let stage: Stage | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    const started = await startConsole()
    const url = await started.app.listen({ host: '127.0.0.1', port: 0 })
    await importTemplate(started)
    await prepare(started)
    const launched = await launchChromium()
    browser = launched
    stage = {
      ...started,
      url,
      browser: launched,
      enter: (role, options) => enter(launched, { ...started, url }, role, options),
    }
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })
  return () => {
    if (stage === undefined) throw new Error('The stage is not ready.')
    return stage
  }
}

async function importTemplate({ ganglion, kbId, tenantId }: Console): Promise<void> {
  const kb = await ganglion.kb(tenantId, kbId)
  await importDirectory(kb, join(templateDir, 'neurons'), { actor: operator, now: ganglion.now, source: 'ganglion' })
}

async function enter(
  browser: Browser,
  { ganglion, url }: Pick<Stage, 'ganglion' | 'url'>,
  role: PersonRole,
  { email, name, ...options }: EnterOptions = {},
): Promise<Visitor> {
  const person = { ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) }
  const { token } = await signIn(ganglion, 'acme', role, person)
  const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce', ...options })
  await context.addCookies([{ name: 'ganglion', value: token, url, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  const alarms: string[] = []
  const transfer = { bytes: 0, requests: 0 }
  page.on('dialog', async (dialog) => {
    if (dialog.type() === 'alert') alarms.push(`a script ran: ${dialog.message()}`)
    await dialog.accept()
  })
  page.on('pageerror', (error) => alarms.push(`a script failed: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) alarms.push(message.text())
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) alarms.push(`asked another origin: ${request.url()}`)
  })
  page.on('response', async (response) => {
    transfer.requests++
    const sizes = await response
      .request()
      .sizes()
      .catch(() => undefined)
    transfer.bytes += (sizes?.responseBodySize ?? 0) + (sizes?.responseHeadersSize ?? 0)
  })
  return {
    page,
    context,
    alarms,
    transfer,
    async visit(path) {
      transfer.bytes = 0
      transfer.requests = 0
      return page.goto(path, { waitUntil: 'networkidle' })
    },
  }
}
