import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp.ts'
import { Api } from './support/api.ts'
import { audit } from './support/audit.ts'
import { Known } from './support/clients.ts'
import { scaled } from './support/cycles.ts'
import { end, newDeployment, startServer } from './support/deployment.ts'
import { type LoopDisk, loopDisk } from './support/disk.ts'
import type { Plan } from './support/failing-fs.ts'
import { planFaults } from './support/fault-plan.ts'
import { unflushed } from './support/flushes.ts'
import { Ledger } from './support/ledger.ts'
import { load } from './support/load.ts'
import { wrongHeads } from './support/settled.ts'
import { askAgain, newWitness, readBack } from './support/witness.ts'

const cuts = scaled(10)

/**
 * Cuts the power of a disk made of a file where that is possible; elsewhere checks the order of writes and flushes, with which nothing can
 * be lost.
 */
test('what was acknowledged is there after the power was cut', async () => {
  const disk = loopDisk(256)
  expect(disk === undefined ? await problemsWithOrder('record') : await problemsAfterCuts(disk)).toEqual([])
})

test('a server that does not flush does lose something, or this test would prove nothing', async () => {
  const disk = loopDisk(256)
  const forgetful = planFaults({ mode: 'forget' })
  forgetful.begin()
  const problems = disk === undefined ? await problemsWithOrder('forget') : await problemsAfterCut(disk, forgetful.env)
  expect(problems).not.toEqual([])
})

async function problemsAfterCuts(disk: LoopDisk): Promise<string[]> {
  const deployment = await newDeployment(join(disk.mountPoint, 'data'))
  const [ledger, known] = [new Ledger(), new Known()]
  const witness = newWitness(deployment.gitDir)
  for (let cut = 0; cut < cuts; cut++) {
    const server = await startServer(deployment, { GANGLION_LOG_LEVEL: 'silent' })
    const api = new Api(server.url, deployment.token, ledger)
    await askAgain(api, ledger)
    expect(await readBack(api, ledger)).toEqual([])
    const target = { url: server.url, token: deployment.token }
    // A dead disk answers 5xx as long as the server lives.
    await load(target, { ledger, known, forMs: 200 + Math.random() * 1_300, tolerance: 'no failures' })
    await cutUnderLoad(disk, target, { ledger, known })
    await end(server.process, 'SIGKILL')
    disk.mount()
    expect(await witness(ledger)).toEqual([])
  }
  const server = await startServer(deployment)
  const api = new Api(server.url, deployment.token, ledger)
  await askAgain(api, ledger)
  // A fetch sees sound heads, whatever the cut left of their refs.
  const problems = [...(await readBack(api, ledger)), ...(await wrongHeads(server.url, deployment))]
  await end(server.process, 'SIGTERM')
  process.stdout.write(`${cuts} power cuts, ${ledger.size} acknowledged writes\n`)
  return [...problems, ...(await audit(deployment.gitDir, ledger))]
}

async function cutUnderLoad(
  disk: LoopDisk,
  target: { url: string; token: string },
  { ledger, known }: { ledger: Ledger; known: Known },
): Promise<void> {
  await load(target, { ledger, known, forMs: 100, tolerance: 'failures' }, async () => disk.cut())
}

/** One cut, of the power of a server that has just begun. */
async function problemsAfterCut(disk: LoopDisk, env: Record<string, string>): Promise<string[]> {
  const deployment = await newDeployment(join(disk.mountPoint, 'data'))
  const server = await startServer(deployment, env)
  const [ledger, known] = [new Ledger(), new Known()]
  const target = { url: server.url, token: deployment.token }
  await load(target, { ledger, known, forMs: 1_000, tolerance: 'no failures' })
  disk.cut()
  await end(server.process, 'SIGKILL')
  disk.mount()
  return audit(deployment.gitDir, ledger).catch((error: unknown) => [String(error)])
}

async function problemsWithOrder(mode: Plan['mode']): Promise<string[]> {
  const log = join(tempDir(), 'log')
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const record = planFaults({ mode, log })
  record.begin()
  const server = await startServer(deployment, record.env)
  const [ledger, known] = [new Ledger(), new Known()]
  await load({ url: server.url, token: deployment.token }, { ledger, known, forMs: 1_000, tolerance: 'no failures' })
  await end(server.process, 'SIGTERM')
  expect(ledger.approvals.size).toBeGreaterThan(0)
  return unflushed(log)
}
