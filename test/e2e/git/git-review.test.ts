import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import type { Product } from '../support.ts'
import { addressOf, Clone, runGit } from './git-clone.ts'
import {
  approve,
  approved,
  candidateDetail,
  candidates,
  correctionOf,
  neuron,
  soundProduct,
  submitted,
} from './git-support.ts'

const body = 'One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.'

/** A Neuron, a pending correction of it, a pending new one, and a curator's clone. */
async function withPending(): Promise<{ product: Product; seqId: string; clone: Clone; edit: string; added: string }> {
  const product = await soundProduct()
  const seqId = await approved(product, 'Policy', body)
  const edit = await submitted(product, 'Policy', body.replace('Two.', 'Two, better.'), correctionOf(seqId))
  const added = await submitted(product, 'Brand new', 'Hello.', {
    metadata: { onBehalfOf: { id: 'u-17', name: 'Ann' } },
  })
  return { product, seqId, edit, added, clone: await Clone.of(product, product.tokens.curator) }
}

const head = (id: string) => `refs/candidates/${id}/head`

test('a clone has no heads of candidates, and each can be fetched', async () => {
  const { clone, edit, added } = await withPending()
  expect(await clone.git('for-each-ref', '--format=%(refname)')).not.toContain('candidates')

  await clone.git('fetch', '--quiet', 'origin', `${head(edit)}:edit`, `${head(added)}:added`)
  expect(await clone.git('diff', '--stat', 'main..edit')).toContain('1 file changed')
  expect(await clone.git('show', 'edit')).toContain('+Two, better.')
  expect(await clone.git('diff', '--name-status', 'main..added')).toMatch(/^A\tneurons\/.*brand-new-[0-9a-f]{6}\.md$/)
  const unknown = await clone.run('fetch', 'origin', head('0199a5c1-0000-7000-8000-000000000002'))
  expect(unknown.stderr).toContain("couldn't find remote ref")
})

test.each(['merge', 'squash', 'rebase', 'cherry-pick'])(
  'a %s of a head that is pushed approves its candidate',
  async (way) => {
    const { product, seqId, clone, edit, added } = await withPending()
    await clone.commit({ 'README.md': '# Main has moved\n' })
    for (const id of [edit, added]) {
      await clone.git('fetch', '--quiet', 'origin', head(id))
      if (way === 'merge') await clone.git('merge', '--quiet', '--no-edit', 'FETCH_HEAD')
      else if (way === 'cherry-pick') await clone.git('cherry-pick', 'FETCH_HEAD')
      else if (way === 'rebase') {
        await clone.git('checkout', '--quiet', '-B', 'candidate', 'FETCH_HEAD')
        await clone.git('rebase', '--quiet', 'main')
        await clone.git('checkout', '--quiet', 'main')
        await clone.git('merge', '--quiet', '--ff-only', 'candidate')
      } else {
        await clone.git('merge', '--quiet', '--squash', 'FETCH_HEAD')
        await clone.git('commit', '--quiet', '-m', 'Squashed')
      }
    }

    const { code, stderr } = await clone.push('main')
    expect([code, stderr]).toEqual([0, expect.stringContaining('added handbook_00000002 "Brand new"')])

    expect(await candidates(product, 'pending')).toEqual([])
    const decided = (await candidates(product, 'approved')).map(({ candidateId, seqId: of }) => [candidateId, of])
    expect(decided).toEqual(
      expect.arrayContaining([
        [edit, seqId],
        [added, 'handbook_00000002'],
      ]),
    )
    expect(decided).toHaveLength(3)
    expect((await neuron(product, seqId)).body).toMatchObject({
      version: 2,
      content: body.replace('Two.', 'Two, better.'),
    })
    expect((await neuron(product, 'handbook_00000002')).body).toMatchObject({ version: 1, content: 'Hello.' })
    expect((await clone.run('fetch', 'origin', head(edit))).stderr).toContain("couldn't find remote ref")
    await clone.git('fetch', '--quiet', 'origin')
    const named = '--format=%(trailers:key=On-Behalf-Of,valueonly)'
    expect((await clone.git('log', '-1', '--first-parent', named, 'origin/main')).trim()).toBe('Ann <u-17>')
  },
)

test.each(['merge', 'squash'])(
  'a %s of a dismissed head reopens and approves its candidate, and says so',
  async (way) => {
    const { product, seqId, clone, edit, added } = await withPending()
    await clone.git('fetch', '--quiet', 'origin', `${head(edit)}:edit`, `${head(added)}:added`)
    for (const id of [edit, added]) {
      const path = `/api/v1/queue/candidates/${id}/dismiss`
      await product.request('POST', path, { as: product.tokens.curator, body: { reason: 'Not now.' } })
    }
    for (const branch of ['edit', 'added']) {
      if (way === 'merge') await clone.git('merge', '--quiet', '--no-edit', branch)
      else await clone.git('merge', '--quiet', '--squash', branch).then(() => clone.commit())
    }

    const { code, stderr } = await clone.push('main')

    expect([code, stderr]).toEqual([0, expect.stringContaining('updated handbook_00000001 "Policy"')])
    for (const [id, of] of [
      [edit, seqId],
      [added, 'handbook_00000002'],
    ] as const) {
      expect(stderr).toContain(
        `its candidate ${id} was dismissed by curator ("Not now."): the push reopened and approved it`,
      )
      const detail = await candidateDetail(product, id)
      expect(detail).toMatchObject({ status: 'approved', seqId: of })
      expect(detail.decisions).toMatchObject([{ action: 'dismiss' }, { action: 'reopen' }, { action: 'approve' }])
    }
    expect(await candidates(product, 'approved')).toHaveLength(3)
  },
)

test('edits on top of a merged head are what was approved', async () => {
  const { product, clone, added } = await withPending()
  await clone.git('fetch', '--quiet', 'origin', head(added))
  await clone.git('merge', '--quiet', '--no-commit', '--no-ff', 'FETCH_HEAD')
  const path = await clone.git('diff', '--cached', '--name-only')
  await clone.commit({
    [path]: clone.read(path).replace('Hello.', 'Hello, everybody.').replace('Brand new', 'Welcome'),
  })

  expect((await clone.push('main')).code).toBe(0)

  expect((await neuron(product, 'handbook_00000002')).body).toMatchObject({
    title: 'Welcome',
    content: 'Hello, everybody.',
  })
  const detail = await candidateDetail(product, added)
  expect(detail).toMatchObject({
    status: 'approved',
    title: 'Brand new',
    content: 'Hello.',
    after: 'Hello, everybody.',
  })
  expect(detail.decisions).toMatchObject([{ action: 'approve', by: 'curator' }])
})

test('an amended head that is proposed again revises its candidate', async () => {
  const { product, clone, edit } = await withPending()
  await clone.git('fetch', '--quiet', 'origin', head(edit))
  await clone.git('checkout', '--quiet', 'FETCH_HEAD')
  const path = await clone.git('diff', '--name-only', 'HEAD^')
  await clone.commit({ [path]: clone.read(path).replace('Two, better.', 'Two, best.') })

  const { stderr } = await clone.push('HEAD:refs/for/main')

  expect(stderr).toContain('updated "Policy"')
  const detail = await candidateDetail(product, edit)
  expect(detail).toMatchObject({ status: 'pending', diff: expect.stringContaining('+Two, best.') })
  expect(detail.decisions).toMatchObject([{ action: 'revise', by: 'curator' }])
})

test('heads follow main, and one that no longer merges stands where it was made', async () => {
  const { product, seqId, clone, edit } = await withPending()
  const path = await clone.git('ls-files', 'neurons')
  const text = clone.read(path)
  await clone.commit({ [path]: text.replace('Five.', 'Five!') })
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  await clone.git('fetch', '--quiet', 'origin', head(edit))
  expect(await clone.git('rev-parse', 'FETCH_HEAD^')).toBe(await clone.git('rev-parse', 'main'))
  expect(await clone.git('show', `FETCH_HEAD:${path}`)).toContain('Two, better.\n\nThree.\n\nFour.\n\nFive!')

  await clone.commit({ [path]: clone.read(path).replace('Two.', 'Two, otherwise.') })
  expect((await clone.push('main')).code).toBe(0)
  expect((await approve(product, edit)).body).toMatchObject({ error: 'merge_conflict' })
  await clone.git('pull', '--quiet')
  await clone.git('fetch', '--quiet', 'origin', head(edit))
  expect((await clone.run('merge', 'FETCH_HEAD')).stdout).toContain('CONFLICT')

  const hunk = /<<<<<<<[\s\S]*?>>>>>>> .*\n/
  const resolved = clone.read(path).replace(hunk, `candidate: ${edit}\n`).replace(hunk, 'Two, both.\n')
  await clone.commit({ [path]: resolved })
  expect((await clone.push('main')).code).toBe(0)
  expect((await neuron(product, seqId)).body).toMatchObject({
    version: 4,
    content: expect.stringContaining('Two, both.'),
  })
  expect(await candidateDetail(product, edit)).toMatchObject({ status: 'approved' })
})

test('several candidates are reviewed as one bundle: one branch, one merge, one commit each', async () => {
  const { product, clone, edit, added } = await withPending()
  await clone.git('fetch', '--quiet', 'origin', `${head(`${edit}+${added}`)}:bundle`)
  expect(await clone.git('rev-list', '--count', 'main..bundle')).toBe('2')
  await clone.git('merge', '--quiet', '--no-ff', '--no-edit', 'bundle')

  expect((await clone.push('main')).code).toBe(0)

  expect(await candidates(product, 'pending')).toEqual([])
  expect((await candidates(product, 'approved')).map(({ candidateId }) => candidateId)).toEqual(
    expect.arrayContaining([edit, added]),
  )
})

test('deleting the head of a candidate dismisses it', async () => {
  const { product, clone, edit } = await withPending()
  const { code, stderr } = await clone.push(`:${head(edit)}`)
  expect([code, stderr]).toEqual([0, expect.stringContaining(`Dismissed the candidate ${edit}`)])
  const detail = await candidateDetail(product, edit)
  expect(detail).toMatchObject({ status: 'dismissed', decisions: [{ action: 'dismiss', by: 'curator' }] })
  expect((await clone.push(':refs/candidates/0199a5c1-0000-7000-8000-000000000002/head')).stderr).toContain(
    'there is no such candidate',
  )
})

test('a merged deletion approves the candidate that proposed it', async () => {
  const { product, seqId, clone } = await withPending()
  const path = await clone.git('ls-files', 'neurons')
  clone.remove(path)
  await clone.commit({}, 'Delete')
  expect((await clone.push('HEAD:refs/for/main')).code).toBe(0)
  const [removal] = (await candidates(product, 'pending')).filter(({ removes }) => removes === true)
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  await clone.git('fetch', '--quiet', 'origin', head(String(removal?.candidateId)))
  await clone.git('merge', '--quiet', '--squash', 'FETCH_HEAD')
  await clone.git('commit', '--quiet', '-m', 'Take it away')

  expect((await clone.push('main')).code).toBe(0)

  expect((await neuron(product, seqId)).status).toBe(404)
  expect(await candidateDetail(product, String(removal?.candidateId))).toMatchObject({ status: 'approved', seqId })
})

test('all of it works from a second bare repository that mirrors the first, as a forge keeps one', async () => {
  const { product, seqId, edit, added } = await withPending()
  const mirror = join(tempDir(), 'mirror.git')
  const address = `${product.url.replace('://', `://any:${product.tokens.curator}@`)}/git/acme/handbook.git`
  const git = async (...args: string[]) => {
    const { code, stdout, stderr } = await runGit(mirror, '--git-dir=.', ...args)
    if (code !== 0) throw new Error(stderr)
    return stdout
  }
  expect((await runGit(tempDir(), 'clone', '--quiet', '--mirror', address, mirror)).code).toBe(0)
  expect(await git('for-each-ref', '--format=%(refname)')).toContain(head(edit))

  const merged = await git('merge-tree', '--write-tree', 'main', head(edit)).catch(() =>
    git('rev-parse', `${head(edit)}^{tree}`),
  )
  const commit = await git('commit-tree', merged, '-p', 'main', '-p', head(edit), '-m', 'Merge on the forge')
  await git('update-ref', 'refs/heads/main', commit)
  await git('push', address, 'refs/heads/main')
  await git('push', address, `:${head(added)}`)

  await git('fetch', '--quiet', '--prune', address, '+refs/*:refs/*')
  expect(await git('for-each-ref', '--format=%(refname)')).not.toContain(head(edit))
  expect(await git('rev-parse', 'main')).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  expect(await candidateDetail(product, edit)).toMatchObject({ status: 'approved', seqId })
  expect(await candidateDetail(product, added)).toMatchObject({ status: 'dismissed' })
})

test('who is no curator clones what it may see, or what the key was made for', async () => {
  const { product, edit } = await withPending()
  for (const role of ['app', 'reader'] as const) {
    const clone = await Clone.of(product, product.tokens[role], '--mirror')
    expect(await clone.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    expect(await clone.git('ls-tree', '-r', '--name-only', 'main')).not.toMatch(/kb.yaml|README/)
    expect((await clone.run('fetch', 'origin', head(edit))).code).not.toBe(0)
    expect((await clone.run('push', 'origin')).stderr).toContain('403')
    const ci = await Clone.of(product, await product.newKey('acme', role, [], null, 'all'), '--mirror')
    expect(await ci.git('for-each-ref', '--format=%(refname)')).toContain(head(edit))
    expect((await ci.run('push', 'origin')).stderr).toContain('403')
  }
  const curator = await Clone.of(product, product.tokens.curator, '--mirror')
  expect(await curator.git('for-each-ref', '--format=%(refname)')).toContain('refs/ganglion/queue')
  const asPublic = `${addressOf(product, product.tokens.curator).slice(0, -'.git'.length)}@public.git`
  expect((await runGit(tempDir(), 'ls-remote', asPublic)).stdout).toMatch(
    /^[0-9a-f]{40}\tHEAD\n[0-9a-f]{40}\trefs\/heads\/main\n?$/,
  )
  expect((await runGit(curator.dir, 'push', asPublic, 'main:refs/heads/x')).stderr).toContain('takes no push')
  expect((await runGit(tempDir(), 'ls-remote', asPublic.replace('@public', '@nobody'))).stderr).toContain('not found')
})
