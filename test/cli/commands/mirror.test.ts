import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { audienceClone } from '../../../src/kb/clone/audience-clone.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { neuronText } from '../../kb/support/written-neurons.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { ganglion, ganglionJson } from '../support.ts'

const main = 'refs/heads/main'
const page = (number: number, body: string, tags: string[] = []) =>
  neuronText(number, { title: `T${number}`, audience: ['public'], tags }, `${body}\n`)

/** A data directory that is open, as a server has it, and an empty bare repository elsewhere. */
async function served() {
  const data = tempDir()
  const ctx = await openContext({ dataDir: data, threads })
  onTestFinished(() => ctx.close())
  const { id, gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const native = new NativeWriter(gitDir)
  const remote = join(tempDir(), 'public "1".git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', '--initial-branch=main', remote])
  const there = (...args: string[]) => nativeGit(remote, args)
  const mirror = (...more: string[]) => ganglion(['mirror', remote, '--kb', 'handbook', '--data', data, ...more])
  const write = (files: Record<string, string | null>) => native.commit(main, new Map(Object.entries(files)))
  const kb = async () => ctx.kb((await ctx.tenants.find('acme'))?.id ?? '', id)
  return { ctx, id, data, remote, there, mirror, write, kb }
}

test('a mirror gets what its audience sees, follows main, and loses what is hidden', async () => {
  const { mirror, remote, there, write, data } = await served()
  expect(await mirror()).toMatchObject({
    code: 0,
    stdout: `${remote} already has what the audience public sees of handbook: nothing\n`,
  })
  write({ 'neurons/a.md': page(1, 'Open'), 'neurons/b.md': page(2, 'Closed', ['internal']) })
  there(
    'update-ref',
    'refs/heads/of-others',
    there('commit-tree', there('hash-object', '-t', 'tree', '-w', '/dev/null'), '-m', 'x'),
  )

  const { stdout } = await mirror()
  const first = there('rev-parse', main)
  expect(stdout).toBe(`${remote} now has what the audience public sees of handbook: ${first}\n`)
  expect(there('ls-tree', '-r', '--name-only', main)).toBe('neurons/a.md')
  expect((await mirror()).stdout).toContain('already has')

  write({ 'neurons/c.md': page(3, 'Open for now') })
  const asJson = await ganglionJson(['mirror', remote, '--kb', 'handbook', '--tenant', 'acme', '--data', data])
  const json = { kb: 'handbook', audience: 'public', remote, commit: there('rev-parse', main), change: 'forwarded' }
  expect(asJson).toEqual({ code: 0, json })
  expect(there('rev-parse', `${main}^`)).toBe(first)

  write({ 'neurons/c.md': page(3, 'Closed', ['internal']) })
  expect((await mirror()).stdout).toContain(
    `has lost what is hidden by now, and has what the audience public sees of handbook: ${first}`,
  )
  write({ 'neurons/a.md': page(1, 'Closed', ['internal']) })
  const refused = 'error: git push failed: remote: error: By default, deleting the current branch is denied'
  expect(await mirror()).toMatchObject({ code: 1, stderr: expect.stringContaining(refused) })
  there('config', 'receive.denyDeleteCurrent', 'ignore')
  expect((await mirror()).stdout).toContain('public sees of handbook: nothing')
  expect(there('for-each-ref', '--format=%(refname)')).toBe('refs/heads/of-others')
})

test('a repository whose main others wrote is left alone, and failures are said in words', async () => {
  const { ctx, id, data, mirror, remote, there, write } = await served()
  write({ 'neurons/a.md': page(1, 'Open') })
  const theirs = there('commit-tree', there('hash-object', '-t', 'tree', '-w', '/dev/null'), '-m', 'Not ours')
  there('update-ref', main, theirs)
  expect(await mirror()).toMatchObject({
    code: 1,
    stderr: `error: The main of ${remote} was not pushed by this command, and would be lost: name another repository.\n`,
  })
  expect(there('rev-parse', main)).toBe(theirs)

  there('update-ref', '-d', main)
  there('config', 'receive.maxInputSize', '1')
  expect(await mirror()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: git push failed: .*unpack/s) })
  const to = (address: string, ...more: string[]) => ganglion(['mirror', address, '--data', data, ...more])
  expect((await to('https://ada:secret@127.0.0.1:1/x.git', '--kb', 'handbook')).stderr).toMatch(
    /^error: git ls-remote failed: (?!.*secret)/s,
  )
  expect((await to('--upload-pack=false', '--kb', 'handbook')).code).toBe(2)
  expect((await to(remote, '--kb', 'none')).stderr).toContain('There is no knowledge base none, or it is disabled.')
  expect((await mirror('--tenant', 'umbrella')).stderr).toContain('There is no tenant umbrella. Known tenants: acme.')
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'handbook' })
  expect((await mirror()).stderr).toContain('Several tenants have a knowledge base handbook: say whose with --tenant.')
  await ctx.knowledgeBases.setDisabled({ id }, ctx.now())
  expect((await mirror('--tenant', 'acme')).stderr).toContain('or it is disabled')
  expect(there('for-each-ref')).toBe('')
})

test('it follows main at the same time as a server', async () => {
  const { ctx, kb, mirror, there, write } = await served()
  for (let round = 1; round <= 5; round++) {
    write({
      [`neurons/${round}.md`]: page(round, 'Open'),
      'neurons/x.md': page(9, `Now ${round}`, round % 2 ? [] : ['internal']),
    })
    const [{ code, stderr }, gitDir] = await Promise.all([mirror(), audienceClone(ctx, await kb(), 'public')])
    expect([code, stderr]).toEqual([0, ''])
    expect(there('rev-parse', main)).toBe(nativeGit(gitDir, ['rev-parse', main]))
    nativeGit(gitDir, ['fsck', '--strict'])
  }
})
