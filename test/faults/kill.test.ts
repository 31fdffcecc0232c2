import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { processesIn, until } from '../http/support/git-server.ts'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known, runClient } from './support/clients.ts'
import { NativeCurator } from './support/curator.ts'
import { cycles } from './support/cycles.ts'
import { type Deployment, end, kbSlug, newDeployment, remoteUrl, startServer, verify } from './support/deployment.ts'
import { Importer } from './support/importer.ts'
import { Ledger } from './support/ledger.ts'
import { Pusher } from './support/pusher.ts'
import { ageQuarantines, auditSettled, quarantinesIn, settled, wrongHeads } from './support/settled.ts'
import { askAgain, newWitness, readBack } from './support/witness.ts'

test(`nothing acknowledged is lost or doubled in ${cycles} kills under load`, async () => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const ledger = new Ledger()
  const known = new Known()
  const pushers = (['main', 'review'] as const).map(
    (target) => new Pusher(join(tempDir(), 'clone'), target, { ledger, known }),
  )
  const curator = await NativeCurator.start(deployment.gitDir, join(tempDir(), 'clone'), ledger)
  const importer = new Importer(deployment, join(tempDir(), 'notes'), ledger)
  const witness = newWitness(deployment.gitDir)
  const begun = performance.now()

  for (let cycle = 0; cycle < cycles; cycle++) {
    const server = await startServer(deployment)
    const api = new Api(server.url, deployment.token, ledger)
    await askAgain(api, ledger)
    expect(await readBack(api, ledger)).toEqual([])

    let isOver = false
    const hasEnded = () => isOver
    // Who pushes to a branch that never rests is rejected for ever.
    const isQuiet = cycle % 3 > 0
    const [atOnce, pauseMs] = isQuiet ? [2, 800] : [4 + (cycle % 5), 0]
    const clients = Array.from({ length: atOnce }, () => runClient(api, ledger, known, hasEnded, pauseMs))
    const tidiesUp = cycle % 2 === 0
    const remote = remoteUrl(server.url, deployment)
    const pushing = pushers.map((pusher) => pusher.work(remote, hasEnded, { besidePrune: tidiesUp }))
    const native = curator.work(hasEnded, { tidiesUp, pauseMs: isQuiet ? 1_500 : 20 })
    const imports = cycle % 3 === 0 ? importer.run() : undefined
    await delay(50 + Math.random() * (isQuiet ? 3_000 : 750))
    if (cycle % 3 === 2) {
      await until(() => pushers.some(({ isPushing }) => isPushing), { forMs: 120_000 })
      await delay(Math.random() * 200)
    }
    if (cycle % 6 === 0) importer.kill()
    if (cycle % 10 === 5) curator.kill()
    await end(server.process, 'SIGKILL')
    isOver = true
    await Promise.all([...clients, ...pushing, native, imports])
    // A git that packs in the background gets what others leave of the processor.
    await until(() => processesIn(deployment.gitDir).length === 0, { forMs: 120_000 })
    expect([cycle, ...(await witness(ledger))]).toEqual([cycle])
  }

  ageQuarantines(deployment.gitDir)
  const server = await startServer(deployment)
  const api = new Api(server.url, deployment.token, ledger)
  await askAgain(api, ledger)
  expect(await readBack(api, ledger)).toEqual([])
  await settled(deployment)
  expect(quarantinesIn(deployment.gitDir)).toEqual([])
  expect(await wrongHeads(server.url, deployment)).toEqual([])
  const found = await searched(server.url, deployment)
  await end(server.process, 'SIGTERM')
  expect(await audit(deployment.gitDir, ledger)).toEqual([])
  expect(await auditSettled(deployment, ledger)).toEqual([])
  report(ledger, { cycles, seconds: (performance.now() - begun) / 1000 })
  const { code, stdout } = await verify(deployment)
  expect([code, stdout]).toEqual([0, expect.any(String)])
  rmSync(join(deployment.dataDir, 'index'), { recursive: true })
  const rebuilt = await startServer(deployment)
  expect(await searched(rebuilt.url, deployment)).toEqual(found)
  await end(rebuilt.process, 'SIGTERM')
})

/** Returns the result of a search for a word of every Neuron, once the index is built. */
async function searched(url: string, { token }: Deployment): Promise<unknown> {
  for (;;) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${url}/api/v1/search?kb=${kbSlug}&q=first+OR+imported&limit=100`, { headers })
    expect([200, 503]).toContain(response.status)
    const answer = (await response.json()) as object
    if (response.status === 200 && !('behind' in answer)) return answer
  }
}

function report(ledger: Ledger, { cycles, seconds }: { cycles: number; seconds: number }): void {
  const { candidates, approvals, dismissals, pushes, served, proposals, imported } = ledger
  const counts = { candidates, approvals, dismissals, pushes, served, proposals, imported }
  const sizes = Object.entries(counts).map(([name, { size }]) => `${size} ${name}`)
  const done = `${cycles} kills in ${Math.round(seconds)} s, ${ledger.cutPushes} pushes cut`
  process.stdout.write(`${done}, acknowledged: ${sizes.join(', ')}; none lost\n`)
}
