import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openForge } from '../../src/forge/open-forge.ts'
import { operator } from '../../src/services/create-kb.ts'
import { ForgeBridge } from '../../src/services/forge/forge-bridge.ts'
import { linkForge } from '../../src/services/forge/manage-links.ts'
import { type EmulatedGithub, startGithub } from '../forge/support/emulated-github.ts'
import { tempDir } from '../support/temp.ts'
import { soundProduct } from './git-support.ts'
import type { Product } from './support.ts'

/** A product whose knowledge base `handbook` is linked to a repository on an emulated GitHub. */
export async function bridged(options: { maxOpen?: number; product?: Product; github?: EmulatedGithub } = {}) {
  const product = options.product ?? (await soundProduct())
  const github = options.github ?? (await startGithub())
  const { ganglion, kbId } = product
  const errors: unknown[] = []
  const secretFile = join(tempDir(), 'secret')
  writeFileSync(secretFile, `${github.webhookSecret}\n`)
  const newBridge = () =>
    new ForgeBridge(ganglion, {
      env: { APP_KEY: github.app.privateKey },
      onError: (error) => errors.push(error),
      open: (forge) => openForge({ ...forge, writePauseMs: 0, timeoutMs: 2_000 }),
    })
  let bridge = newBridge()
  const tenantId = (await ganglion.knowledgeBases.list())[0]?.tenantId ?? ''
  const { link } = await linkForge(ganglion, { ...operator, tenantId }, bridge, {
    kb: 'handbook',
    ...{ url: github.url, kind: 'github', apiUrl: github.apiUrl, maxOpen: options.maxOpen },
    credential: { appId: github.app.appId, privateKey: 'env:APP_KEY' },
    webhookSecret: `file:${secretFile}`,
  })
  /** Compares both sides once. @returns what a person has to see to */
  const sync = async () => {
    const now = await ganglion.forgeLinks.find(link.id)
    if (now === undefined) throw new Error('There is no link.')
    return bridge.sync(now)
  }
  return {
    ...{ product, github, link, errors, kbId, sync },
    /** What a server is that was killed: another one, which knows only what is on the disk. */
    restart: () => {
      bridge = newBridge()
    },
    /** Open pull requests, by title. */
    open: async () => (await github.pulls()).filter(({ state }) => state === 'open').sort(byTitle),
    numberOf: async (title: string) => {
      const pull = (await github.pulls()).find((each) => each.title === title)
      if (pull === undefined) throw new Error(`There is no pull request ${title}.`)
      return Number(pull.number)
    },
  }
}

function byTitle(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return String(a.title) < String(b.title) ? -1 : 1
}
