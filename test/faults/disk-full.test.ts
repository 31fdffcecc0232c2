import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known } from './support/clients.ts'
import { scaled } from './support/cycles.ts'
import { type Deployment, end, newDeployment, remoteUrl, startServer } from './support/deployment.ts'
import { fillUp, smallDisk } from './support/disk.ts'
import { planFaults } from './support/fault-plan.ts'
import { gitLines } from './support/git.ts'
import { Ledger } from './support/ledger.ts'
import { load } from './support/load.ts'
import { Pusher } from './support/pusher.ts'
import { auditSettled, quarantinesIn, settled } from './support/settled.ts'
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

/** Milliseconds for which the server reuses its last measurement of the disk. */
const measuredFor = 3_000

test('on a full disk writes fail, reads go on, nothing is lost, and space is all it takes to go on', async () => {
  const { dataDir, env, fill } = disk()
  const deployment = await newDeployment(dataDir)
  const server = await startServer(deployment, env)
  const [ledger, known] = [new Ledger(), new Known()]
  const witness = newWitness(deployment.gitDir)
  const target = { url: server.url, token: deployment.token }
  const api = new Api(server.url, deployment.token, ledger)
  const pusher = new Pusher(join(tempDir(), 'clone'), 'main', { ledger, known })
  const remote = remoteUrl(server.url, deployment)
  expect((await pusher.pushOnce(remote)).stderr).toContain('main is now')

  for (let round = 0; round < scaled(3); round++) {
    await load(target, { ledger, known, forMs: 500, tolerance: 'no failures' })
    const before = ledger.failures
    let free = () => {}
    await load(target, { ledger, known, forMs: 1_500, tolerance: 'failures' }, async () => {
      await delay(200)
      free = fill()
    })
    expect(ledger.failures).toBeGreaterThan(before)
    // Git may take a commit just before the disk is full, and the tables then cannot follow it: readers see the state before.
    const late = await readBack(api, ledger)
    expect(late.filter((problem) => !/"error":"not_found"|"status":"pending"/.test(problem))).toEqual([])
    expect(await witness(ledger)).toEqual([])
    await refusesPush(pusher, remote, deployment)
    free()
    await delay(measuredFor)
    await askAgain(api, ledger)
    expect(await readBack(api, ledger)).toEqual([])
    expect((await pusher.pushOnce(remote)).stderr).toContain('main is now')
  }
  await load(target, { ledger, known, forMs: 500, tolerance: 'no failures' })
  await settled(deployment)
  await end(server.process, 'SIGTERM')
  expect(await audit(deployment.gitDir, ledger)).toEqual([])
  expect(await auditSettled(deployment, ledger)).toEqual([])
  process.stdout.write(`${ledger.size} acknowledged writes, ${ledger.failures} refused for want of space\n`)
})

/** A push that finds no space says so, and nothing of it stays. */
async function refusesPush(pusher: Pusher, remote: string, { gitDir }: Deployment): Promise<void> {
  const refs = await gitLines(gitDir, ['for-each-ref'])
  const { code, stderr } = await pusher.pushOnce(remote)
  // Refused before it begins, or as soon as it writes.
  expect([code === 0, stderr]).toEqual([
    false,
    expect.stringMatching(/no space left|out of disk ?space|disk is nearly full/i),
  ])
  const after = await gitLines(gitDir, ['for-each-ref'])
  // The head of a candidate that was decided before may still go: that takes no space.
  const gone = refs.filter((line) => !after.includes(line))
  expect([...after, ...gone].toSorted()).toEqual(refs.toSorted())
  expect(gone.filter((line) => !line.includes('\trefs/candidates/'))).toEqual([])
  expect(quarantinesIn(gitDir)).toEqual([])
}
