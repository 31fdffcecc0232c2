import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ganglionProcess } from '../cli/support.ts'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known } from './support/clients.ts'
import { NativeCurator } from './support/curator.ts'
import { scaled } from './support/cycles.ts'
import { end, newDeployment, remoteUrl, startServer } from './support/deployment.ts'
import { Importer } from './support/importer.ts'
import { Ledger } from './support/ledger.ts'
import { load } from './support/load.ts'
import { Pusher } from './support/pusher.ts'
import { auditSettled, settled } from './support/settled.ts'
import { readBack } from './support/witness.ts'

test('a server that is pushed to, two imports at once, native pushes and gc write to one repository, and none undoes another', async () => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const [ledger, known] = [new Ledger(), new Known()]
  const server = await startServer(deployment)
  const target = { url: server.url, token: deployment.token }
  const curator = await NativeCurator.start(deployment.gitDir, join(tempDir(), 'clone'), ledger)
  const importer = new Importer(deployment, join(tempDir(), 'notes'), ledger)

  const pusher = new Pusher(join(tempDir(), 'clone'), 'main', { ledger, known })
  const isEmpty = () => ledger.pushes.size === 0 || ledger.served.size === 0

  // With pauses, since who pushes to a branch that never rests for a tenth of a second is rejected for ever.
  const pausing = { ledger, known, forMs: 1_000, tolerance: 'no failures', pauseMs: 800 } as const
  await load(target, pausing, async () => {
    let isOver = false
    const native = curator.work(() => isOver, { tidiesUp: true, pauseMs: 500 })
    const pushing = pusher.work(remoteUrl(server.url, deployment), () => isOver, { besidePrune: true })
    for (let round = 0; round < scaled(8); round++) {
      await importer.run({ processes: 2 })
      await delay(500)
    }
    // While imports write, hardly a push finds main where it fetched it.
    while (isEmpty()) await delay(100)
    isOver = true
    await Promise.all([native, pushing])
  })

  expect(await readBack(new Api(server.url, deployment.token, ledger), ledger)).toEqual([])
  await settled(deployment)
  await end(server.process, 'SIGTERM')
  expect(await audit(deployment.gitDir, ledger)).toEqual([])
  expect(await auditSettled(deployment, ledger)).toEqual([])
  const { approvals, pushes, served, imported } = ledger
  const counts = Object.entries({ approvals, pushes, served, imported }).map(([name, { size }]) => `${size} ${name}`)
  process.stdout.write(`${counts.join(', ')}; none lost\n`)
  expect(Math.min(approvals.size, pushes.size, served.size, imported.size)).toBeGreaterThan(0)
})

test('a second server on the same data directory says so and leaves', async () => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const server = await startServer(deployment)
  const second = await ganglionProcess(['serve', '--data', deployment.dataDir], { GANGLION_PORT: '0' })
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(/^error: .*in use/m)
  const api = new Api(server.url, deployment.token, new Ledger())
  expect((await api.request('GET', '/queue/candidates'))?.status).toBe(200)
  await end(server.process, 'SIGKILL')
  const next = await startServer(deployment)
  await end(next.process, 'SIGTERM')
})
