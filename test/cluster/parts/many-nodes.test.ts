import { globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Api } from '../../faults/support/api.ts'
import { audit } from '../../faults/support/audit.ts'
import { Known, runClient } from '../../faults/support/clients.ts'
import { remoteUrl, verify } from '../../faults/support/deployment.ts'
import { readWholeHistory } from '../../faults/support/history.ts'
import { Ledger } from '../../faults/support/ledger.ts'
import { Pusher } from '../../faults/support/pusher.ts'
import { wrongPushes } from '../../faults/support/served.ts'
import { wronglyTold } from '../../faults/support/told.ts'
import { askAgain, readBack } from '../../faults/support/witness.ts'
import { eventually } from '../../support/eventually.ts'
import { type HeadOperation, headProblems } from '../../support/head-history.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import { tempDir } from '../../support/temp.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { faultsOf } from '../support/faults.ts'
import { RecordingApi, readHeads } from '../support/head-recorder.ts'
import { Uploaders } from '../support/uploaders.ts'

const seconds = Number(process.env.CLUSTER_SECONDS ?? 600)
const isLong = seconds >= 120
/** Milliseconds for which a part is out of reach at most. */
const longestMs = isLong ? 30_000 : 4_000
const clients = 8

test(`three nodes lose and double nothing while their parts fail for ${seconds} s`, {
  timeout: seconds * 1_000 + 1_200_000,
}, async () => {
  const cluster = await startCluster({ isLong, perNode: [{}, anHourAhead(), {}] })
  const { postgres, nodes, url, deployment } = cluster
  const ledger = new Ledger()
  const known = new Known()
  const operations: HeadOperation[] = []
  let isOver = false
  const ended = () => isOver
  const recorded = { operations, begun: new Map<string, number>() }
  const api = () => new RecordingApi(recorded, url, deployment.token, ledger, 'failures')
  const working = Array.from({ length: clients }, () => runClient(api(), ledger, known, ended, 20))
  const reading = [1, 2].map(() => readHeads(url, deployment.token, { operations, isOver: ended }))
  const pushing = (['main', 'review'] as const).map(async (target) => {
    const pusher = new Pusher(join(tempDir(), 'clone'), target, { ledger, known })
    for (; !isOver; await delay(100)) await pusher.tryOnce(remoteUrl(url, deployment)).catch(() => {})
  })
  const uploaders = new Uploaders(cluster)
  const uploading = uploaders.work(ended)
  const counts = await breakParts(cluster)
  isOver = true
  await Promise.all([...working, ...reading, ...pushing, uploading])

  await Promise.all(nodes.map((node) => node.start()))
  const calm = new Api(url, deployment.token, ledger)
  // The load balancer may not have seen them yet.
  await eventually(async () => expect((await calm.request('GET', '/me'))?.status).toBe(200))
  await askAgain(calm, ledger)
  expect(await readBack(calm, ledger)).toEqual([])
  await uploaders.finish()
  await allTold(postgres, deployment.kbId)
  await Promise.all(nodes.map((node) => node.stop('SIGTERM')))

  const fresh = await cluster.newNode()
  await fresh.start()
  expect(await readBack(new Api(fresh.url, deployment.token, ledger), ledger)).toEqual([])
  await uploaders.leaveNothing()
  await fresh.stop('SIGTERM')
  const { dataDir } = fresh
  const gitDir = join(dataDir, 'repos', `${deployment.kbId}.git`)
  const history = await readWholeHistory(gitDir)
  const line = history.line.map(({ oid }) => oid)
  expect(await audit(gitDir, ledger)).toEqual([])
  expect(await wrongPushes(gitDir, history, ledger, deployment.pusher.id)).toEqual([])
  expect(await wronglyTold(deployment, history)).toEqual([])
  expect(headProblems(line, operations)).toEqual([])
  expect(await uploaders.audit(history)).toEqual([])
  const { code, stdout } = await verify({ ...deployment, dataDir }, cluster.env)
  expect([code, stdout]).toEqual([0, expect.any(String)])
  const reads = operations.filter(({ kind }) => kind === 'read').length
  const broken = [...counts].map(([name, count]) => `${count} × ${name}`).join(', ')
  const done = `${line.length} commits, ${ledger.size} acknowledged writes, ${reads} reads of the head`
  process.stdout.write(`${seconds} s: ${broken}; ${done}, ${ledger.failures} refused; ${uploaders.figures}\n`)
})

test('nodes that are replaced one after the other fail no request', { timeout: 300_000 }, async () => {
  const drained = { GANGLION_DRAIN: '5' }
  const { nodes, url, deployment } = await startCluster({ perNode: [drained, drained, drained] })
  const ledger = new Ledger()
  const known = new Known()
  let isOver = false
  const api = () => new Api(url, deployment.token, ledger)
  const working = Array.from({ length: 4 }, () => runClient(api(), ledger, known, () => isOver, 20))
  for (const node of nodes) {
    await node.stop('SIGTERM')
    await node.start()
    await delay(3_000) // until the load balancer has seen it
  }
  isOver = true
  await Promise.all(working)
  expect([...ledger.unexpected, ...ledger.cut]).toEqual([])
  expect(ledger.approvals.size).toBeGreaterThan(0)
})

/** @returns how often each part failed */
async function breakParts(cluster: Cluster): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const faults = faultsOf(longestMs)
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    const fault = faults[Math.floor(Math.random() * faults.length)]
    await fault?.run(cluster)
    counts.set(fault?.name ?? '', (counts.get(fault?.name ?? '') ?? 0) + 1)
    await delay(500 + Math.random() * 2_500)
  }
  return counts
}

function anHourAhead(): Record<string, string> {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')
  if (library === undefined) throw new Error("There is no libfaketime: install Debian's package faketime.")
  return { LD_PRELOAD: library, FAKETIME: '+1h', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}

/** Waits until all commits have been told as events. */
async function allTold(postgres: PostgresServer, kbId: string): Promise<void> {
  for (const end = performance.now() + 60_000; ; await delay(100)) {
    const cursors = await postgres.run(`select main, queue from event_cursors where kb_id = '${kbId}'`, 'ganglion')
    const refs = await postgres.run(`select ref, oid from repository_refs where kb_id = '${kbId}'`, 'ganglion')
    const heads = Object.fromEntries(refs.map(({ ref, oid }) => [ref, oid]))
    const [told] = cursors
    if (told?.main === heads['refs/heads/main'] && told?.queue === heads['refs/ganglion/queue']) return
    if (performance.now() > end) throw new Error(`not told up to ${JSON.stringify(heads)}: ${JSON.stringify(told)}`)
  }
}
