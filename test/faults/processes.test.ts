import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ganglion } from '../cli/support.ts'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known } from './support/clients.ts'
import { NativeCurator } from './support/curator.ts'
import { scaled } from './support/cycles.ts'
import { end, newDeployment, startServer } from './support/deployment.ts'
import { Importer } from './support/importer.ts'
import { Ledger } from './support/ledger.ts'
import { load } from './support/load.ts'
import { readBack } from './support/witness.ts'

test('a server, two imports at once, native pushes and gc write to one repository, and none undoes another', async () => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const [ledger, known] = [new Ledger(), new Known()]
  const server = await startServer(deployment)
  const target = { url: server.url, token: deployment.token }
  const curator = await NativeCurator.start(deployment.gitDir, join(tempDir(), 'clone'), ledger)
  const importer = new Importer(deployment, join(tempDir(), 'notes'), ledger)

  // With pauses, since who pushes to a branch that never rests for a tenth of a second is rejected for ever.
  const pausing = { ledger, known, forMs: 1_000, tolerance: 'no failures', pauseMs: 800 } as const
  await load(target, pausing, async () => {
    let isOver = false
    const native = curator.work(() => isOver, { tidiesUp: true })
    for (let round = 0; round < scaled(8) || ledger.pushes.size === 0; round++) await importer.run({ processes: 2 })
    isOver = true
    await native
  })

  expect(await readBack(new Api(server.url, deployment.token, ledger), ledger)).toEqual([])
  await end(server.process, 'SIGTERM')
  expect(await audit(deployment.gitDir, ledger)).toEqual([])
  const { approvals, pushes, imported } = ledger
  process.stdout.write(`${approvals.size} approvals, ${pushes.size} pushes, ${imported.size} imported; none lost\n`)
  expect(Math.min(approvals.size, pushes.size, imported.size)).toBeGreaterThan(0)
})

test('a second server on the same data directory says so and leaves', async () => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const server = await startServer(deployment)
  const second = await ganglion(['serve', '--data', deployment.dataDir], { GANGLION_PORT: '0' })
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(/^error: .*in use/m)
  const api = new Api(server.url, deployment.token, new Ledger())
  expect((await api.request('GET', '/queue/candidates'))?.status).toBe(200)
  await end(server.process, 'SIGKILL')
  const next = await startServer(deployment)
  await end(next.process, 'SIGTERM')
})
