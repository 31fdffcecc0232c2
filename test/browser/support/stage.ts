import { join } from 'node:path'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { PersonRole } from '../../../src/contract/vocabulary.ts'
import { operator, templateDir } from '../../../src/kb/create-kb.ts'
import { importDirectory } from '../../../src/operate/import/import-directory.ts'
import { type Console, startConsole } from '../../console/support.ts'
import { signIn } from '../../support/person.ts'
import { launchChromium } from './chromium.ts'
import { type Visitor, visitorIn } from './visitor.ts'

export type { Visitor }

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

/** A server on a socket with pages of the template, and a browser, for all tests of a file. */
export function stageForFile(
  prepare: (stage: Console) => Promise<void> = async () => {},
  options: Parameters<typeof startConsole>[0] = {},
): () => Stage {
  let stage: Stage | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    const started = await startConsole(options)
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

async function importTemplate({ ctx, kbId, tenantId }: Console): Promise<void> {
  const kb = await ctx.kb(tenantId, kbId)
  await importDirectory(kb, join(templateDir, 'neurons'), { actor: operator, now: ctx.now, source: 'ganglion' })
}

async function enter(
  browser: Browser,
  { ctx, url }: Pick<Stage, 'ctx' | 'url'>,
  role: PersonRole,
  { email, name, ...options }: EnterOptions = {},
): Promise<Visitor> {
  const person = { ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) }
  const { token } = await signIn(ctx, 'acme', role, person)
  const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce', ...options })
  await context.addCookies([{ name: 'ganglion', value: token, url, httpOnly: true, sameSite: 'Lax' }])
  return visitorIn(context, url)
}
