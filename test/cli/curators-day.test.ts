import { expect, test } from 'vitest'
import { Clone, page } from '../e2e/git/git-clone.ts'
import { startProduct } from '../e2e/support.ts'
import { ganglion } from './support.ts'

const leave = 'neurons/leave.md'
const question = 'How many days of leave does everyone have?'

test('a curator tries ten pages in the terminal, mends the answer that one breaks, decides with another, and undoes an afternoon', async () => {
  const product = await startProduct()
  const { ctx, url } = product
  const named = async (name: string) => {
    const { id: tenantId } = await ctx.tenants.ensure('acme', ctx.now())
    const given = { tenantId, name, role: 'curator', expiresAt: null } as const
    return (await ctx.apiKeys.create({ ...given, connectors: [] }, ctx.now())).token
  }
  const [ada, bob, agent] = [await named('Ada'), await named('Bob'), await named('Night agent')]
  const run = async (key: string, args: string[], cwd?: string) => {
    const said = await ganglion(args, { GANGLION_URL: url, GANGLION_KEY: key }, cwd === undefined ? {} : { cwd })
    return { ...said, text: said.stdout + said.stderr }
  }
  const clone = await Clone.of(product, ada)
  const settings = clone
    .read('kb.yaml')
    .replace(/^ {2}connectors:.*\n/m, '  connectors: {git: yellow}\napprovals: {yellow: 2}\n')
  await clone.commit({
    'kb.yaml': settings,
    'tests/answers.yaml': `- question: ${question}\n  contains: [25 days]\n`,
    [leave]: page('Leave', 'Everyone has 25 days of leave a year.'),
  })
  expect(await clone.push('main')).toMatchObject({ code: 0 })
  await clone.git('pull', '--quiet')
  const [morning, since] = [await clone.git('rev-parse', 'HEAD'), ctx.now().toISOString()]

  const working = await Clone.of(product, agent)
  const rooms = Array.from({ length: 9 }, (_, at) => [
    `neurons/room-${at + 1}.md`,
    page(`Room ${at + 1}`, `Room ${at + 1} has a blue door.`),
  ])
  const shorter = working.read(leave).replace('25 days', '20 days')
  await working.commit({ ...Object.fromEntries(rooms), [leave]: shorter })
  expect((await working.push('HEAD:refs/for/main')).stderr).toContain('Their approval breaks 1 of 1 answer tests')

  const fetchCandidates = async () => {
    await clone.git('fetch', '--quiet', 'origin', '+refs/candidates/*:refs/candidates/*')
    const refs = await clone.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/candidates')
    return refs.split('\n').map((line) => line.split(' ') as [ref: string, head: string])
  }
  const proposed = await fetchCandidates()
  const ids = proposed.map(([ref]) => ref.split('/')[2] ?? '')
  const asked = ['--kb', 'handbook', '--preview', ids.join(',')]
  expect((await run(ada, ['ask', question, '--kb', 'handbook'])).stdout).toContain('25 days')
  expect((await run(ada, ['ask', question, ...asked])).stdout).toMatch(/20 days .*\[(\w+)\]\n\1 {2}Leave\n$/)
  const found = await run(ada, ['search', 'blue', 'door', ...asked])
  expect(found.stdout.match(/^handbook_\d+ {2}Room \d\n {2}Room \d has a blue door\.$/gm)).toHaveLength(9)
  expect((await run(ada, ['search', 'blue', '--kb', 'handbook'])).stdout).toBe('Nothing is found.\n')

  const changes = await Promise.all(
    proposed.map(async ([ref]) => ({ ref, files: await clone.git('diff', '--name-only', `main...${ref}`) })),
  )
  const [breaking = ''] = changes.filter(({ files }) => files === leave).map(({ ref }) => ref)
  const broken = await run(ada, ['test', '--candidate', breaking.split('/')[2] ?? ''], clone.dir)
  expect([broken.code, broken.text]).toEqual([1, expect.stringContaining(`broken tests/answers.yaml:1: ${question}`)])

  await clone.git('checkout', '--quiet', '--detach', breaking)
  await clone.commit({ [leave]: clone.read(leave).replace('20 days', '25 days of leave. Interns have fewer') })
  expect((await run(ada, ['test'], clone.dir)).text).toContain('1 of 1 answer tests pass')
  expect((await clone.push('HEAD:refs/for/main')).stderr).toContain('updated "Leave"')

  for (const [ref, head] of await fetchCandidates()) {
    const said = await run(bob, ['review', ref, '--approve', '--head', head])
    expect(said.text).toMatch(
      /^(Its approval breaks none of .*\n)?Your approval of .* is recorded\. It needs 1 more approval\.\n$/,
    )
  }
  await clone.git('checkout', '--quiet', 'main')
  await clone.git('merge', '--quiet', '-m', 'Take the rooms', ...proposed.map(([ref]) => ref))
  expect(await clone.push('main')).toMatchObject({ code: 0 })
  await clone.git('pull', '--quiet', '--rebase')
  expect(await clone.git('log', '-1', '--format=%(trailers:key=Approved-By,valueonly)')).toMatch(/^Bob .*\nAda /)
  expect(clone.read(leave)).toContain('Interns have fewer')
  expect((await run(ada, ['test'], clone.dir)).code).toBe(0)

  const undone = await run(ada, ['undo', '--kb', 'handbook', '--key', 'Night agent', '--since', since, '--json'])
  const { reversals } = JSON.parse(undone.stdout) as { reversals: { candidateId: string }[] }
  expect(reversals).toHaveLength(10)
  for (const key of [ada, bob]) {
    for (const { candidateId } of reversals) await run(key, ['review', candidateId, '--approve'])
  }
  await clone.git('pull', '--quiet', '--rebase')
  expect(await clone.git('diff', '-I', '^candidate: ', morning, 'HEAD', '--', 'neurons')).toBe('')
  expect((await run(bob, ['still-true', clone.path(leave), '--kb', 'handbook'])).text).toMatch(/is still true|It waits/)
})
