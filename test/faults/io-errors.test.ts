import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known } from './support/clients.ts'
import { scaled } from './support/cycles.ts'
import { end, newDeployment, remoteUrl, startServer } from './support/deployment.ts'
import { planFaults } from './support/fault-plan.ts'
import { Ledger } from './support/ledger.ts'
import { load } from './support/load.ts'
import { Pusher } from './support/pusher.ts'
import { auditSettled, settled } from './support/settled.ts'
import { askAgain, newWitness, readBack } from './support/witness.ts'

test.each([
  { name: 'broken sectors', codes: ['EIO'], rate: 0.05 },
  { name: 'too many open files', codes: ['EMFILE', 'EIO'], rate: 0.1 },
  { name: 'a disk that fails in every way', codes: ['EIO', 'ENOSPC', 'EMFILE'], rate: 0.3 },
])('with $name the server stays up, loses nothing, and recovers by itself', async ({ codes, rate }) => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const faults = planFaults({ mode: 'fail', rate, codes, seed: 42 })
  const server = await startServer(deployment, faults.env)
  const [ledger, known] = [new Ledger(), new Known()]
  const witness = newWitness(deployment.gitDir)
  const target = { url: server.url, token: deployment.token }
  const api = new Api(server.url, deployment.token, ledger)
  const pusher = new Pusher(join(tempDir(), 'clone'), 'main', { ledger, known })
  const remote = remoteUrl(server.url, deployment)

  await load(target, { ledger, known, forMs: 300, tolerance: 'no failures' })
  for (let round = 0; round < scaled(4); round++) {
    faults.begin()
    await load(target, { ledger, known, forMs: 1_000, tolerance: 'failures' })
    await pusher.tryOnce(remote)
    expect(await readBack(api, ledger)).toEqual([])
    faults.cease()
    await askAgain(api, ledger)
    // Approvals that an error cut off are completed meanwhile, and move main.
    await eventually(async () => expect(await pusher.pushOnce(remote)).toMatchObject({ code: 0 }))
    await load(target, { ledger, known, forMs: 300, tolerance: 'no failures' })
    expect(await witness(ledger)).toEqual([])
  }
  expect(ledger.failures).toBeGreaterThan(0)
  expect(server.process.exitCode).toBeNull()
  await settled(deployment)
  await end(server.process, 'SIGTERM')
  expect(await audit(deployment.gitDir, ledger)).toEqual([])
  expect(await auditSettled(deployment, ledger)).toEqual([])
  process.stdout.write(`${ledger.size} acknowledged writes, ${ledger.failures} refused by the disk\n`)
})
