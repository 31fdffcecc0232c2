import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { ForgeBridge } from '../../src/forge/bridge/forge-bridge.ts'
import { linkForge } from '../../src/forge/bridge/manage-links.ts'
import { createKnowledgeBase, operator } from '../../src/kb/create-kb.ts'
import { serve } from '../cli/support.ts'
import { agreed } from '../e2e/forge/forge-day.ts'
import { startProduct } from '../e2e/support.ts'
import { startGithub } from '../forge/support/emulated-github.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { tempDir } from '../support/temp.ts'
import { scaled } from './support/cycles.ts'

const kills = Math.max(2, scaled(10))
const count = 6 * kills
const maxOpen = 5 * kills
/** GitHub is written to once a second. */
const patienceMs = count * 20_000

test(`a server that is killed ${kills} times ends with one pull request for each candidate that waits`, async () => {
  const github = await startGithub()
  const dataDir = join(tempDir(), 'data')
  const [keyFile, secretFile] = [join(tempDir(), 'app.pem'), join(tempDir(), 'secret')]
  writeFileSync(keyFile, github.app.privateKey)
  writeFileSync(secretFile, github.webhookSecret)
  const { linkId, token } = await linked()
  let url = ''
  let deliveries = 0
  github.deliverTo(({ headers: { host: _, connection: _connection, 'content-length': _length, ...headers }, body }) => {
    deliveries++
    // Two are lost, and one comes twice; a server that is down misses others.
    const times = deliveries === 3 || deliveries === 8 ? 0 : deliveries === 5 ? 2 : 1
    const send = () => fetch(`${url}/forge/${linkId}/events`, { method: 'POST', headers, body: new Uint8Array(body) })
    for (let n = 0; n < times; n++) void send().catch(() => {})
  })

  let submitted = 0
  for (let kill = 0; kill < kills; kill++) {
    const server = await serve(dataDir)
    url = String(server.line.url)
    for (let n = 0; n < count / kills; n++) await submit(++submitted)
    await delay(1_000 + Math.random() * 8_000)
    const open = (await github.pulls()).filter(({ state, draft }) => state === 'open' && draft !== true)
    const [first, second, third, fourth] = open.map(({ number }) => Number(number))
    const method = (['merge', 'squash', 'rebase'] as const)[kill % 3]
    if (first !== undefined) await github.merge('ada', first, method).catch(() => {})
    if (fourth !== undefined) {
      edit(open.find(({ number }) => number === fourth))
      if (kill % 2 === 0) await github.merge('bob', fourth, 'squash').catch(() => {})
    }
    if (second !== undefined && kill % 3 === 0) {
      await github.comment('bob', second, 'Not this one.')
      await github.close('bob', second)
    }
    if (third !== undefined) await github.comment('eve', third, `What of ${kill}?`)
    await delay(Math.random() * 3_000)
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
  }

  const last = await serve(dataDir)
  url = String(last.line.url)
  await expect.poll(standsStill, { timeout: patienceMs, interval: 8_000 }).toBe(true)
  last.child.kill('SIGTERM')
  await once(last.child, 'exit')
  await agreed({ product: await startProduct({ restored: dataDir }), forge: github }, { count, maxOpen })

  async function linked() {
    const ctx = await openContext({ dataDir })
    await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
    const { id: tenantId } = await ctx.tenants.ensure('acme', new Date())
    const key = { tenantId, name: 'app', role: 'app' as const, connectors: [], expiresAt: null }
    const made = await ctx.apiKeys.create(key, new Date())
    const bridge = new ForgeBridge(ctx, { env: {}, onError: () => {} })
    const { link } = await linkForge(ctx, { ...operator, tenantId }, bridge, {
      ...{ kb: 'handbook', url: github.url, kind: 'github', apiUrl: github.apiUrl, maxOpen },
      credential: { appId: github.app.appId, privateKey: `file:${keyFile}` },
      webhookSecret: `file:${secretFile}`,
    })
    await bridge.close()
    await ctx.close()
    return { linkId: link.id, token: made.token }
  }

  /** A reviewer commits to the branch. */
  function edit(pull: Record<string, unknown> | undefined): void {
    const { ref } = pull?.head === undefined ? { ref: '' } : (pull.head as { ref: string })
    const [path = ''] = nativeGit(github.git.dir, ['diff', '--name-only', `main...${ref}`]).split('\n')
    const page = nativeGit(github.git.dir, ['show', `${ref}:${path}`])
    github.git.commit(ref, { [path]: `${page}\n\nSaid better.\n` })
  }

  async function submit(n: number): Promise<void> {
    const candidate = { kb: 'handbook', kind: 'external-feed', title: `Page ${n}`, content: `This is page ${n}.` }
    const metadata = n % 10 === 0 ? { metadata: { actionZone: 'red' } } : {}
    const { status } = await fetch(`${url}/api/v1/queue/candidates`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...candidate, ...metadata }),
    })
    expect(status).toBe(201)
  }

  /** Whether nothing was written there for a while. */
  async function standsStill(): Promise<boolean> {
    const writes = () => github.requests.filter((request) => /^(POST|PATCH|PUT) (?!.*upload-pack)/.test(request)).length
    const before = writes()
    await delay(7_000)
    return writes() === before
  }
})
