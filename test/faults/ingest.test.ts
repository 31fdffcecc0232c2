import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { sweepBlobs } from '../../src/operate/sweeping.ts'
import { until } from '../http/support/git-server.ts'
import { tempDir } from '../support/temp.ts'
import { audit } from './support/audit.ts'
import { cycles } from './support/cycles.ts'
import { end, newDeployment, type Server, startServer, verify } from './support/deployment.ts'
import { readWholeHistory } from './support/history.ts'
import { timeToKill } from './support/ingest/ingest-aims.ts'
import { IngestApi } from './support/ingest/ingest-api.ts'
import { auditEvents, auditNeurons, auditSources } from './support/ingest/ingest-audit.ts'
import { ChunkUploader } from './support/ingest/ingest-chunks.ts'
import { askAgain, runUploader } from './support/ingest/ingest-clients.ts'
import { EventFollower } from './support/ingest/ingest-events.ts'
import { Figures } from './support/ingest/ingest-figures.ts'
import { IngestLedger, type ToldSource } from './support/ingest/ingest-ledger.ts'
import { readBack } from './support/ingest/ingest-read-back.ts'
import { ageBlobs, blobsOf, extractorsOf, remains } from './support/ingest/ingest-remains.ts'
import { sourceRows } from './support/ingest/ingest-rows.ts'
import { Ledger } from './support/ledger.ts'
import { auditSettled, settled } from './support/settled.ts'
import { newWitness } from './support/witness.ts'

const kills = Math.min(100, cycles)
const uploaders = 3
/** The share of the Sources that were told of long ago that is downloaded after each restart. */
const sample = 0.03
/** Milliseconds that a server may go on without ending any ingest. */
const patience = 60_000

test(`every Source that was acknowledged is ingested once in ${kills} kills`, async () => {
  const deployment = await newDeployment(join(tempDir(), 'data'))
  const { dataDir, gitDir } = deployment
  const scratch = tempDir()
  const ledger = new IngestLedger()
  const follower = new EventFollower(deployment.token)
  const chunks = new ChunkUploader(ledger)
  const figures = new Figures()
  const witness = newWitness(gitDir)
  const start = () => startServer(deployment, { TMPDIR: scratch })
  const apiOf = ({ url }: Server) => new IngestApi(url, deployment.token, ledger)
  const begun = performance.now()
  let left: string[] = []

  for (; ledger.cycle < kills; ledger.cycle++) {
    const server = await start()
    const { cycle } = ledger
    expect(left.filter(existsSync)).toEqual([])
    const isAtOnce = cycle % 9 === 6
    const api = apiOf(server)
    let isOver = false
    const following = follower.follow(server.url)
    if (!isAtOnce) {
      await askAgain(api, ledger)
      const isAsked = (source: ToldSource) => source.cycle >= cycle - 2 || Math.random() < sample
      expect([cycle, ...(await readBack(api, ledger, isAsked))]).toEqual([cycle])
    }
    const pauseMs = cycle % 3 === 0 ? 10 : 100
    const options = { isOver: () => isOver, waiting: () => follower.waiting.difference(ledger.archived).size, pauseMs }
    const clients = Array.from({ length: uploaders }, () => runUploader(api, ledger, options))
    const chunking = chunks.work(api, options.isOver, pauseMs / 2)
    await timeToKill(cycle, { dataDir, gitDir, follower, chunks })
    figures.before(deployment)
    await end(server.process, 'SIGKILL')
    isOver = true
    await Promise.all([...clients, chunking, following])
    // They have a low priority, and end when they have read what they were at.
    await until(() => extractorsOf(dataDir).length === 0, { forMs: 60_000 })
    await figures.after(deployment)
    left = remains(dataDir, scratch)
    expect([cycle, ...(await witness(new Ledger())), ...ledger.unexpected, ...follower.problems]).toEqual([cycle])
  }

  const server = await start()
  expect(left.filter(existsSync)).toEqual([])
  const api = apiOf(server)
  const following = follower.follow(server.url)
  await askAgain(api, ledger)
  await chunks.finish(api)
  await allIngested(dataDir)
  await settled(deployment)
  expect(await readBack(api, ledger, () => true)).toEqual([])
  await end(server.process, 'SIGTERM')
  await following
  // The small process that starts gits notices the end of its server, and then removes its folder.
  await expect.poll(() => remains(dataDir, scratch)).toEqual([])
  const history = await readWholeHistory(gitDir)
  const rows = sourceRows(dataDir)
  expect(auditSources(rows, ledger)).toEqual([])
  expect(follower.problems).toEqual([])
  expect(auditEvents(rows, ledger, follower.events)).toEqual([])
  expect(auditNeurons(rows, history, ledger, follower.events)).toEqual([])
  expect(await audit(gitDir, new Ledger())).toEqual([])
  expect(await auditSettled(deployment, new Ledger())).toEqual([])
  const { code, stdout } = await verify(deployment)
  expect([code, stdout]).toEqual([0, expect.any(String)])
  await auditBlobs(dataDir)
  report({ ledger, chunks, figures, seconds: (performance.now() - begun) / 1000 })
})

/** Waits until no ingest is due; fails once none of them gets on. */
async function allIngested(dataDir: string): Promise<void> {
  const unfinished = () =>
    sourceRows(dataDir).filter(({ archived_at, status }) => archived_at === null && !/success|failed/.test(status))
  let before = unfinished().length
  for (let end = performance.now() + patience; before > 0; await delay(100)) {
    const now = unfinished()
    if (now.length < before) end = performance.now() + patience
    expect(performance.now() < end || now).toBe(true)
    before = now.length
  }
}

/** Each Source has its bytes, and what no Source has goes after a day. */
async function auditBlobs(dataDir: string): Promise<void> {
  const named = new Set(sourceRows(dataDir).map(({ content_hash }) => content_hash))
  const { hashes, damaged } = blobsOf(dataDir)
  expect(damaged).toEqual([])
  expect([...named].filter((hash) => !hashes.has(hash))).toEqual([])
  ageBlobs(dataDir)
  const ctx = await openContext({ dataDir })
  await sweepBlobs(ctx)
  await ctx.close()
  expect(blobsOf(dataDir).hashes).toEqual(named)
}

type Run = { ledger: IngestLedger; chunks: ChunkUploader; figures: Figures; seconds: number }

function report({ ledger, chunks, figures, seconds }: Run): void {
  const again = [...ledger.again.values()].reduce((sum, { taken }) => sum + taken, 0)
  const counts = {
    'Sources acknowledged': ledger.sources.size,
    'uploads cut': ledger.cutUploads,
    'chunks cut': ledger.cutChunks,
    'uploads resumed': chunks.resumed,
    'uploads in chunks finished': chunks.finished,
    duplicates: ledger.duplicates,
    'ingested again': again,
    'queued already': ledger.alreadyQueued,
    archived: ledger.archived.size,
  }
  const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  const met = [...figures.met].map(([name, count]) => `${count} ${name}`)
  process.stdout.write(`${kills} kills in ${Math.round(seconds)} s: ${told.join(', ')}; met ${met.join(', ')}\n`)
}
