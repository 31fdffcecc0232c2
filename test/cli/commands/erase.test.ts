import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { approveCandidate } from '../../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { ganglion, main } from '../support.ts'

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
    [[], 'one of --neuron, --text, --source, --person and --on-behalf-of is needed'],
    [['--text', 'Qu'], 'at least 4 characters'],
    [['--neuron', 'handbook_00000009'], 'There is no Neuron handbook_00000009'],
    [['--text', 'handbook_0000'], 'part of ids that Ganglion itself writes'],
    [['--source', crypto.randomUUID()], 'no Source'],
    [['--person', 'nobody@example.org'], 'nobody with the address'],
  ] as const) {
    const { code, stderr } = await run('erase', '--kb', 'handbook', ...args)
    expect([code > 0, stderr]).toEqual([true, expect.stringContaining(says)])
  }
  const texts = ['--text', 'Quist', '--text', 'Xanadu', '--text', 'VIP escalation policy']
  expect((await run('erase', '--kb', 'handbook', ...texts, '--dry-run')).stdout).toBe(
    [
      '3 texts would go',
      '  Quist: in 1 page, 1 version, 1 candidate',
      '  Xanadu: found nowhere',
      '  VIP escalation policy: in 1 page, 1 version, 1 candidate, 2 commits',
      '',
    ].join('\n'),
  )
  const beside = await use(async () => run('erase', '--kb', 'handbook', ...texts))
  expect(beside).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another Ganglion process') })
  const read = () =>
    use(async (ctx, tenantId) => {
      const { repository, projection } = await ctx.kb(tenantId, 'handbook')
      const row = projection.read.get`SELECT blob FROM neurons`
      return repository.readText(String(row?.blob))
    })
  expect(await read()).toContain('Call Quist at once.')

  await use(async (ctx, tenantId) => {
    for (const name of ['ann', 'ben', 'cat']) {
      const user = await ctx.users.create({ email: `${name}@example.org`, name, passwordHash: null }, ctx.now())
      await ctx.users.setRole(user?.id ?? '', tenantId, name === 'cat' ? 'curator' : 'admin')
    }
    const writer = new NativeWriter((await ctx.kb(tenantId, 'handbook')).repository.gitDir)
    const settings = writer.read('refs/heads/main', 'kb.yaml').replace(/^approvals:.*\n(?: .*\n)*/m, '')
    writer.commit('refs/heads/main', new Map([['kb.yaml', `${settings}\napprovals: { red: 2 }\n`]]))
  })
  const by = (...names: string[]) => names.flatMap((name) => ['--by', `${name}@example.org`])
  for (const [names, says] of [
    [[], 'asks for 2 people'],
    [['ann', 'ann'], 'asks for 2 people'],
    [['ann', 'cat'], 'cat@example.org is no administrator'],
  ] as const) {
    const refused = await run('erase', '--kb', 'handbook', '--text', 'Quist', ...by(...names))
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(says)])
  }
  const url = 'https://github.example/acme/handbook'
  await use(async (ctx, tenantId) => {
    const { identity } = await ctx.kb(tenantId, 'handbook')
    const credential = { token: 'env:TOKEN' }
    const link = { tenantId, kbId: identity.id, kind: 'github' as const, url, apiUrl: null, credential }
    await ctx.forgeLinks.create({ ...link, webhookSecret: null, maxOpen: 5 }, ctx.now())
  })
  const both = by('ann', 'ben')
  const tried = await run('erase', '--kb', 'handbook', '--text', 'Quist', '--dry-run')
  expect(tried.stdout).toContain(`The link to ${url} goes, too`)
  const erased = await run('erase', '--kb', 'handbook', '--text', 'Quist', '--json', ...both)
  expect(JSON.parse(erased.stdout)).toEqual({
    neurons: [],
    candidates: 0,
    texts: 1,
    sources: [],
    people: [],
    endUsers: 0,
    forge: url,
    problems: [],
    copies: [],
  })
  expect(erased.stderr).toContain('The new history is in place.')
  expect(await read()).toContain('Call Erased at once.')
  expect(await use((ctx) => ctx.forgeLinks.list())).toEqual([])
  const page = await run('erase', '--kb', 'handbook', '--neuron', 'handbook_00000001', ...both)
  expect([page.code, page.stdout]).toEqual([0, expect.stringContaining('Clones, mirrors and backups')])
  expect(await read()).toContain('This version was erased (1).')
  expect((await run('erase', '--resume')).stdout).toBe('There is none to finish.\n')
  expect(await run('erase', '--resume', '--dry-run')).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining("'--resume' cannot be used with option '--dry-run'") },
  })
  const acts = await use((ctx, tenantId) => ctx.audit.list(tenantId, { limit: 2 }))
  expect(acts.map(({ action, detail }) => `${action}: ${detail}`)).toEqual([
    'kb.erased: 1 Neuron, 1 candidate went: handbook_00000001; decided by ann@example.org; decided by ben@example.org',
    'kb.erased: 1 text went; decided by ann@example.org; decided by ben@example.org',
  ])
  expect((await run('verify')).code).toBe(0)
})

test('an erasure goes on when nobody reads its lines any longer', async () => {
  const dataDir = join(tempDir(), 'data')
  await ganglion(['kb', 'create', 'handbook', '--tenant', 'acme', '--data', dataDir])
  const text = 'VIP escalation policy'
  const write = await openContext({ dataDir, threads })
  const tenantId = (await write.tenants.find('acme'))?.id ?? ''
  const curator = { id: 'key:c', name: 'Ada', tenantId, role: 'curator' as const, connectors: [] }
  const { candidateId } = await submitCandidate(write, curator, candidate({ content: 'Call at once.' }))
  await approveCandidate(write, curator, candidateId, {})
  await write.close()
  const child = startNode([main, 'erase', '--kb', 'handbook', '--text', text, '--data', dataDir])
  const exit = once(child, 'exit')
  for (const stream of [child.stdout, child.stderr]) stream?.destroy()
  expect(await exit).toEqual([0, null])
  expect(await ganglion(['erase', '--resume', '--data', dataDir])).toMatchObject({
    stdout: 'There is none to finish.\n',
  })
  const { stdout } = await ganglion(['erase', '--kb', 'handbook', '--text', text, '--dry-run', '--data', dataDir])
  expect(stdout).toContain('found nowhere')
})
