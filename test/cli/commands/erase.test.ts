import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { approveCandidate } from '../../../src/queue/approve-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { ganglion } from '../support.ts'

test('erases pages and texts for the operator, says what still holds them, and records that in the audit', async () => {
  const dataDir = join(tempDir(), 'data')
  const run = (...args: string[]) => ganglion([...args, '--data', dataDir])
  await run('kb', 'create', 'handbook', '--tenant', 'acme')
  const use = async <Result>(
    work: (ctx: Awaited<ReturnType<typeof openContext>>, tenantId: string) => Promise<Result>,
  ) => {
    const ctx = await openContext({ dataDir, threads })
    try {
      return await work(ctx, (await ctx.tenants.find('acme'))?.id ?? '')
    } finally {
      await ctx.close()
    }
  }
  await use(async (ctx, tenantId) => {
    const curator = { id: 'key:c', name: 'Ada', tenantId, role: 'curator' as const, connectors: [] }
    const { candidateId } = await submitCandidate(ctx, curator, candidate({ content: 'Call Quist at once.' }))
    await approveCandidate(ctx, curator, candidateId, {})
    const locked = await ganglion(['erase', '--kb', 'handbook', '--data', join(dataDir, 'none'), '--text', 'Quist'])
    expect(locked).toMatchObject({ code: 1, stderr: expect.stringContaining('no data directory') })
  })
  for (const [args, says] of [
    [[], 'one of --neuron, --text, --source and --person is needed'],
    [['--text', 'Qu'], 'at least 4 characters'],
    [['--neuron', 'handbook_00000009'], 'There is no Neuron handbook_00000009'],
    [['--text', 'handbook_0000'], 'part of ids that Ganglion itself writes'],
    [['--source', crypto.randomUUID()], 'no Source'],
    [['--person', 'nobody@example.org'], 'nobody with the address'],
  ] as const) {
    const { code, stderr } = await run('erase', '--kb', 'handbook', ...args)
    expect([code > 0, stderr]).toEqual([true, expect.stringContaining(says)])
  }
  expect((await run('erase', '--kb', 'handbook', '--text', 'Quist', '--dry-run')).stdout).toBe('1 texts would go\n')
  const read = () =>
    use(async (ctx, tenantId) => {
      const { repository, projection } = await ctx.kb(tenantId, 'handbook')
      const row = projection.read.get`SELECT blob FROM neurons`
      return repository.readText(String(row?.blob))
    })
  expect(await read()).toContain('Call Quist at once.')

  const erased = await run('erase', '--kb', 'handbook', '--text', 'Quist', '--json')
  expect(JSON.parse(erased.stdout)).toEqual({
    neurons: [],
    candidates: 0,
    texts: 1,
    sources: [],
    people: [],
    problems: [],
    copies: [],
  })
  expect(erased.stderr).toContain('The new history is in place.')
  expect(await read()).toContain('Call Erased at once.')
  const page = await run('erase', '--kb', 'handbook', '--neuron', 'handbook_00000001')
  expect([page.code, page.stdout]).toEqual([0, expect.stringContaining('Clones, mirrors and backups')])
  expect(await read()).toContain('This version was erased (1).')
  expect((await run('erase', '--resume')).stdout).toBe('There is none to finish.\n')
  const acts = await use((ctx, tenantId) => ctx.audit.list(tenantId, { limit: 2 }))
  expect(acts.map(({ action, detail }) => `${action}: ${detail}`)).toEqual([
    'kb.erased: 1 Neurons, 1 candidates went: handbook_00000001',
    'kb.erased: 1 texts went',
  ])
  expect((await run('verify')).code).toBe(0)
})
