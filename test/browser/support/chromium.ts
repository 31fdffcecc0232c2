import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Programs, the one without windows first: it takes half of the processor time. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Options for a CI machine: as root, and without background requests. */
const options = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts Chromium, which `CHROMIUM` may name. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place))
  if (executablePath === undefined) throw new Error('These tests need Chromium: install it, or name it in CHROMIUM.')
  return chromium.launch({ executablePath, args: options })
}
