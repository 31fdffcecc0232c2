import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { finished, startNode } from '../support/process.ts'
import { eventsOf } from './support/events-of.ts'

/** Submits and approves without end, and writes what was acknowledged. */
const approving = (moduleUrl: (name: string) => string) => `
  const { openContext } = await import(${moduleUrl('app/open-context')})
  const { submitCandidate } = await import(${moduleUrl('queue/submit-candidate')})
  const { approveCandidate } = await import(${moduleUrl('queue/decide-candidate')})
  const [dataDir, tenantId] = process.argv.slice(1)
  const ctx = await openContext({ dataDir })
  const caller = { id: 'key:k', name: 'K', tenantId, role: 'curator', connectors: [] }
  const rest = { kind: 'external-feed', metadata: null, confidence: null, impactEstimate: null, content: 'Text.' }
  await Promise.all([1, 2, 3, 4].map(async (n) => {
    for (let round = 0; ; round++) {
      const title = 'Note ' + n + ' ' + round
      const { candidateId } = await submitCandidate(ctx, caller, { knowledgeBaseId: 'handbook', title, ...rest })
      process.stdout.write('created ' + candidateId + '\\n')
      await approveCandidate(ctx, caller, candidateId, {})
      process.stdout.write('approved ' + candidateId + '\\n')
    }
  }))`

test('a process that is killed between its commits and their events loses none and doubles none', async () => {
  const bed = await newTestBed()
  await eventsOf(bed, bed.ctx)
  const moduleUrl = (name: string) => JSON.stringify(new URL(`../../src/${name}.ts`, import.meta.url).href)
  const acknowledged: string[] = []
  for (const lines of [1, 7, 20, 60]) {
    await bed.ctx.close()
    const args = ['--input-type=module', '-e', approving(moduleUrl), bed.dataDir, bed.curator.tenantId]
    const child = startNode(args)
    let count = 0
    child.stdout?.on('data', (data: Buffer) => {
      count += data.toString().split('\n').length - 1
      if (count >= lines) child.kill('SIGKILL')
    })
    const { signal, stdout } = await finished(child)
    expect(signal).toBe('SIGKILL')
    acknowledged.push(...stdout.trim().split('\n'))
    const events = await eventsOf(bed, await bed.reopen())
    const told = events.map(({ kind, data }) => `${kind.replace('candidate.', '')} ${data.candidateId}`)
    expect(acknowledged.filter((line) => line !== '' && !told.includes(line))).toEqual([])
    expect(new Set(told).size).toBe(told.length)
  }
  expect(acknowledged.length).toBeGreaterThan(20)
})

test('two processes on one data directory tell everything once', async () => {
  const bed = await newTestBed()
  await eventsOf(bed, bed.ctx)
  const other = await openContext({ dataDir: bed.dataDir, watch: { onError: () => {} } })
  onTestFinished(() => other.close())
  await other.kb(bed.curator.tenantId, 'handbook')
  const writer = new NativeWriter(bed.gitDir)
  const work = [bed.ctx, other].map(async (ctx, which) => {
    for (let n = 0; n < 15; n++) {
      const { candidateId } = await submitCandidate(ctx, bed.app, candidate({ title: `Note ${which} ${n}` }))
      await approveCandidate(which === 0 ? other : bed.ctx, bed.curator, candidateId, {})
    }
  })
  await Promise.all(work)
  writer.commit('refs/heads/main', new Map([['notes.md', 'No Neuron, which would be adopted.']]))
  const events = await eventsOf(bed, bed.ctx)
  expect(await eventsOf(bed, other)).toEqual(events)
  const told = events.map(({ kind, data }) => `${kind} ${data.candidateId ?? data.commit}`)
  expect(new Set(told).size).toBe(told.length)
  expect(told).toHaveLength(30 * 3 + 1)
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1))
})
