import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known } from './support/clients.ts'
import { scaled } from './support/cycles.ts'
import { end, newDeployment, startServer } from './support/deployment.ts'
import { fillUp, smallDisk } from './support/disk.ts'
import { planFaults } from './support/fault-plan.ts'
import { Ledger } from './support/ledger.ts'
import { load } from './support/load.ts'
import { askAgain, newWitness, readBack } from './support/witness.ts'

type Disk = { dataDir: string; env: Record<string, string>; fill(): () => void }

/** A disk that really fills up where one can be mounted, else one whose writes fail as if it were full. */
function disk(): Disk {
  const mountPoint = smallDisk(64)
  if (mountPoint !== undefined) {
    return {
      dataDir: join(mountPoint, 'data'),
      env: { GANGLION_LOG_LEVEL: 'silent' },
      fill: () => fillUp(mountPoint),
    }
  }
  const faults = planFaults({ mode: 'fail', rate: 1, codes: ['ENOSPC'] })
  const fill = () => {
    faults.begin()
    return faults.cease
  }
  return { dataDir: join(tempDir(), 'data'), env: faults.env, fill }
}

/** For so many milliseconds the server goes by its last measurement of the disk. */
const measuredFor = 3_000

test('on a full disk writes fail, reads go on, nothing is lost, and space is all it takes to go on', async () => {
  const { dataDir, env, fill } = disk()
  const deployment = await newDeployment(dataDir)
  const server = await startServer(deployment, env)
  const [ledger, known] = [new Ledger(), new Known()]
  const witness = newWitness(deployment.gitDir)
  const target = { url: server.url, token: deployment.token }
  const api = new Api(server.url, deployment.token, ledger)

  for (let round = 0; round < scaled(3); round++) {
    await load(target, { ledger, known, forMs: 500, tolerance: 'no failures' })
    const before = ledger.failures
    let free = () => {}
    await load(target, { ledger, known, forMs: 1_500, tolerance: 'failures' }, async () => {
      await delay(200)
      free = fill()
    })
    expect(ledger.failures).toBeGreaterThan(before)
    expect(await readBack(api, ledger)).toEqual([])
    expect(await witness(ledger)).toEqual([])
    free()
    await delay(measuredFor)
    await askAgain(api, ledger)
  }
  await load(target, { ledger, known, forMs: 500, tolerance: 'no failures' })
  await end(server.process, 'SIGTERM')
  expect(await audit(deployment.gitDir, ledger)).toEqual([])
  process.stdout.write(`${ledger.size} acknowledged writes, ${ledger.failures} refused for want of space\n`)
})
