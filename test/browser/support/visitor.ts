import type { BrowserContext, Page, Response } from 'playwright-core'

export type Visitor = {
  page: Page
  context: BrowserContext
  /** Unexpected events: scripts that ran, resources that the policy blocked, errors of our own scripts. */
  alarms: string[]
  /** Bytes and number of the answers since the last visit of a page. */
  transfer: { bytes: number; requests: number }
  /** Opens a path of the console, once it has come to rest. */
  visit(path: string): Promise<Response | null>
}

/** Opens a window of a browser on the console at `url`. */
export async function visitorIn(context: BrowserContext, url: string): Promise<Visitor> {
  // Of what hangs, and shorter than that of a test, so that what is waited for is named.
  context.setDefaultTimeout(100_000)
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

/** Returns the limits of a first visit: 100 KB in ten requests, and 180 KB in two for CodeMirror if the page has it. */
export async function limitsOf(page: Page): Promise<{ bytes: number; requests: number }> {
  const hasCode = (await page.locator('.cm-editor').count()) > 0
  return { bytes: (hasCode ? 280 : 100) * 1024, requests: hasCode ? 12 : 10 }
}
