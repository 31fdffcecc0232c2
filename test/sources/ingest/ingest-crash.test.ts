import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { addSource, eventsOf, ingest, statusOf, steps } from '../../kb/support/ingest-support.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { eventually } from '../../support/eventually.ts'
import { finished, startNode } from '../../support/process.ts'
import { runs } from '../../support/properties.ts'

const cycles = runs(6, 3)
const moduleUrl = (name: string) => JSON.stringify(new URL(`../../../src/${name}.ts`, import.meta.url).href)

/** Ingests with steps that take a while and note each commit, until a commit hangs: then it is killed. */
const script = `
  import { appendFileSync } from 'node:fs'
  import { setTimeout as delay } from 'node:timers/promises'
  const { openContext } = await import(${moduleUrl('app/open-context')})
  const { startIngest } = await import(${moduleUrl('sources/ingest/job-runner')})
  const [dataDir, ledger, hangsAt] = process.argv.slice(1)
  const ctx = await openContext({ dataDir })
  const pause = () => delay(Math.random() * 15)
  let pauses = 0
  const pauseOrHang = () => {
    if (++pauses !== Number(hangsAt)) return pause()
    console.log('hangs')
    return new Promise(() => {})
  }
  const steps = {
    extract: () => pause().then(() => ({ title: 'Note', markdown: 'Text.', anchors: [], warnings: [] })),
    compile: () => pause().then(() => ({ pages: [], warnings: [] })),
    async commit(source) {
      await pauseOrHang()
      appendFileSync(ledger, source.id + '\\n')
      await pauseOrHang()
      return { seqIds: [source.id], pending: 0, commit: undefined, warnings: [] }
    },
  }
  await startIngest(ctx, steps, { onError: (error) => console.error(error) })`

test('whenever the process is killed, each Source is ingested in the end, and told of once', async () => {
  const { ctx, dataDir, kbId } = await newTestBed()
  const sources = []
  for (let n = 0; n < 60; n++) {
    sources.push(await addSource(ctx, { kbId, status: n % 2 === 0 ? 'pending' : 'ready' }))
  }
  await ctx.close()
  const ledger = join(dataDir, 'ledger')
  writeFileSync(ledger, '')
  for (let cycle = 0; cycle < cycles; cycle++) {
    const hangsAt = String(1 + Math.floor(Math.random() * 12))
    const child = startNode(['--input-type=module', '-e', script, dataDir, ledger, hangsAt])
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    await delay(Math.random() * 20)
    child.kill('SIGKILL')
    const { stderr } = await finished(child)
    expect(stderr).toBe('')
    const seen = await openContext({ dataDir })
    const statuses = await Promise.all(sources.map(async (source) => (await statusOf(seen, source)).status))
    expect(statuses).toContain('processing')
    expect(statuses).not.toContain('failed')
    await seen.close()
  }
  const last = await openContext({ dataDir })
  const committed = new Set(readFileSync(ledger, 'utf8').split('\n'))
  const stop = await ingest(
    last,
    steps({
      async commit({ id }) {
        committed.add(id)
        return { seqIds: [id], pending: 0, commit: undefined, warnings: [] }
      },
    }),
  )
  await eventually(async () => expect(await last.jobs.nextDue('nobody')).toBeUndefined())
  await stop()
  for (const source of sources) {
    expect(await statusOf(last, source)).toEqual({ status: 'success', errorMessage: null, attempt: 1 })
    const kinds = (await eventsOf(last, source)).map(({ kind }) => kind).filter((kind) => kind !== 'ingest.progress')
    expect(kinds).toEqual(['source.uploaded', 'ingest.started', 'ingest.completed'])
    expect(committed).toContain(source.id)
  }
  await last.close()
})
