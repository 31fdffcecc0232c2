import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ForgeBridge } from '../../../src/forge/bridge/forge-bridge.ts'
import { linkForge } from '../../../src/forge/bridge/manage-links.ts'
import { syncLink } from '../../../src/forge/bridge/start-forges.ts'
import { openForge } from '../../../src/forge/open-forge.ts'
import { operator } from '../../../src/kb/create-kb.ts'
import type { DescribedForge } from '../../forge/support/described-forge.ts'
import { type EmulatedGithub, startGithub } from '../../forge/support/emulated-github.ts'
import { tempDir } from '../../support/temp.ts'
import { soundProduct } from '../git/git-support.ts'
import type { Product } from '../support.ts'

type Options = { maxOpen?: number; product?: Product /** On GitHub, a token and no App. */; byToken?: boolean }
/** Emulation of a forge, or one that answers by its published description. */
export type FakeForge = EmulatedGithub | DescribedForge

/** A product whose knowledge base `handbook` is linked to a repository on an emulated GitHub. */
export async function bridged({ github, ...options }: Options & { github?: EmulatedGithub } = {}) {
  const { forge, ...rest } = await bridgedTo(github ?? (await startGithub()), options)
  return { ...rest, github: forge }
}

/** A product whose knowledge base `handbook` is linked to a repository on a forge. */
export async function bridgedTo<Fake extends FakeForge>(forge: Fake, options: Options = {}) {
  const product = options.product ?? (await soundProduct())
  const isApp = 'app' in forge && options.byToken !== true
  const secret = isApp ? forge.app.privateKey : forge.token.token
  const credential = isApp ? { appId: forge.app.appId, privateKey: 'env:SECRET' } : { token: 'env:SECRET' }
  const { ctx, kbId } = product
  const errors: unknown[] = []
  const secretFile = join(tempDir(), 'secret')
  writeFileSync(secretFile, `${forge.webhookSecret}\n`)
  const newBridge = () =>
    new ForgeBridge(ctx, {
      env: { SECRET: secret },
      onError: (error) => errors.push(error),
      open: (opened) => openForge({ ...opened, writePauseMs: 0, timeoutMs: 2_000 }),
    })
  let bridge = newBridge()
  const tenantId = (await ctx.knowledgeBases.list())[0]?.tenantId ?? ''
  const [known] = await ctx.forgeLinks.list()
  const linkNow = () =>
    linkForge(ctx, { ...operator, tenantId }, bridge, {
      kb: 'handbook',
      ...{ url: forge.url, kind: forge.kind, apiUrl: forge.apiUrl, maxOpen: options.maxOpen, credential },
      webhookSecret: `file:${secretFile}`,
    })
  const link = known ?? (await linkNow()).link
  /** Compares both sides once. @returns what a person has to see to */
  const sync = async () => {
    const now = await ctx.forgeLinks.find(link.id)
    if (now === undefined) throw new Error('There is no link.')
    return bridge.sync(now)
  }
  /** Runs {@link sync}, and records the result as a server does. */
  const syncNoted = async () => {
    await syncLink(ctx, bridge, (await ctx.forgeLinks.find(link.id)) ?? link)
  }
  return {
    ...{ product, forge, link, errors, kbId, sync, syncNoted },
    /** Replaces the server as after a kill: the new one knows only what is on the disk. */
    restart: () => {
      bridge = newBridge()
    },
    /** Open pull requests, by title. */
    open: async () => (await forge.pulls()).filter(({ state }) => state === 'open').sort(byTitle),
    numberOf: async (title: string) => {
      const pull = (await forge.pulls()).find((each) => each.title === title)
      if (pull === undefined) throw new Error(`There is no pull request ${title}.`)
      return Number(pull.number)
    },
  }
}

function byTitle(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return String(a.title) < String(b.title) ? -1 : 1
}
