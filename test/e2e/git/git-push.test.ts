import { expect, test, vi } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import type { Product } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approved, candidates, neuron, soundProduct, submitted } from './git-support.ts'

const main = 'refs/heads/main'

test('a new page that is pushed is a Neuron at once, with a candidate that its pusher approved', async () => {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  const picture = `![Plan](data:image/png;base64,${'A'.repeat(64)})`
  const text = `Page the lead. ${picture}\n\n\`${picture}\``
  const pushed = await clone.commit({ 'neurons/vip.md': page('VIP escalation', text) }, 'Approved-By: root')

  const { code, stderr } = await clone.push('main')
  expect(stderr).toContain(`added handbook_00000001 "VIP escalation" ${product.url}/kb/handbook/neurons/handbook_`)
  expect(stderr).not.toMatch(/error|warning/)
  expect(code).toBe(0)

  const { body } = await neuron(product, 'handbook_00000001')
  expect(body).toMatchObject({ title: 'VIP escalation', version: 1 })
  const [, name = ''] =
    /^Page the lead\. !\[Plan\]\((attachments\/plan-\w+\.png)\)\n\n/.exec(String(body.content)) ?? []
  expect(String(body.content).split('\n\n')[1]).toBe(`\`${picture}\``)
  const [candidate] = await candidates(product, 'approved')
  expect(candidate).toMatchObject({ connector: 'git', seqId: 'handbook_00000001', createdBy: 'curator' })

  await clone.git('pull', '--quiet')
  expect(clone.read(`neurons/${name}`)).toBe('\0'.repeat(48))
  const { fields } = parseNeuronFile(clone.read('neurons/vip.md'))
  expect(fields).toMatchObject({
    seqId: 'handbook_00000001',
    title: 'VIP escalation',
    candidate: candidate?.candidateId,
  })
  expect(fields.id).toBeDefined()
  const head = nativeGit(product.gitDir, [
    'log',
    '-1',
    '--format=%an|%cn|%P|%(trailers:key=Approved-By,valueonly)',
    main,
  ])
  expect(head).toMatch(new RegExp(`^curator\\|Ganglion\\|[0-9a-f]{40} ${pushed}\\|curator <key:`))
  expect(nativeGit(product.gitDir, ['fsck', '--strict'])).toBe('')
})

test('an edit of several commits is one version and one candidate', async () => {
  const product = await soundProduct()
  const seqId = await approved(product, 'VIP escalation', 'Page the lead.')
  const clone = await Clone.of(product, product.tokens.curator)
  const path = await clone.git('ls-files', 'neurons')
  const text = clone.read(path)
  await clone.commit({ [path]: text.replace('lead', 'lead at once') })
  await clone.commit({ [path]: text.replace('lead', 'lead within an hour') })

  expect((await clone.push('main')).code).toBe(0)

  expect((await neuron(product, seqId)).body).toMatchObject({ version: 2, content: 'Page the lead within an hour.' })
  const [edit] = (await candidates(product, 'approved')).filter(({ connector }) => connector === 'git')
  expect(edit).toMatchObject({ kind: 'user-correction', target: seqId })
  const path2 = `/api/v1/queue/candidates/${edit?.candidateId}`
  const { body } = await product.request('GET', path2, { as: product.tokens.curator })
  expect(body.diff).toContain('+Page the lead within an hour.')
  expect(body.decisions).toMatchObject([{ action: 'approve', by: 'curator' }])
})

/** A knowledge base with a page that two curators work on. */
async function withPage(body = 'One.\n\nTwo.\n\nThree.') {
  const product = await soundProduct()
  const seqId = await approved(product, 'Old title', body)
  const clone = await Clone.of(product, product.tokens.curator)
  const path = await clone.git('ls-files', 'neurons')
  return { product, seqId, clone, path, text: clone.read(path) }
}

test('a page that is renamed and moved keeps its seqId, and links by its old names go on', async () => {
  const { product, seqId, clone, path, text } = await withPage()
  const file = path.slice(path.lastIndexOf('/') + 1, -'.md'.length)
  const linking = await approved(product, 'Linking', `See [[Old title]] and [[${file}|the file]].`)
  await clone.git('pull', '--quiet')
  clone.remove(path)
  await clone.commit({ 'neurons/moved/new-name.md': text.replace('Old title', 'New title') })

  const { code, stderr } = await clone.push('main')
  expect(stderr).toContain(`updated ${seqId} "New title"`)
  expect(code).toBe(0)

  const { body } = await neuron(product, seqId)
  expect(body).toMatchObject({ title: 'New title', version: 2 })
  expect((await neuron(product, linking)).body).toMatchObject({
    links: [{ type: 'cites', target: seqId }],
    unresolved: [],
  })
  await clone.git('pull', '--quiet')
  expect(parseNeuronFile(clone.read('neurons/moved/new-name.md')).fields.aliases).toEqual(['Old title', file])
})

test('where the settings say so, links are rewritten in the commit that renames', async () => {
  const { product, seqId, clone, path, text } = await withPage()
  const linking = await approved(product, 'Linking', 'See [[Old title#Two|that]].')
  await clone.git('pull', '--quiet')
  const settings = clone.read('kb.yaml').replace('rewriteLinks: false', 'rewriteLinks: true')
  await clone.commit({ 'kb.yaml': settings }, 'Let links follow')
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')

  await clone.commit({ [path]: text.replace('Old title', 'New title') })
  expect((await clone.push('main')).code).toBe(0)

  const { body } = await neuron(product, linking)
  expect(body).toMatchObject({ content: 'See [[New title#Two|that]].', version: 2, links: [{ target: seqId }] })
  expect((await candidates(product, 'approved')).filter(({ connector }) => connector === 'git')).toHaveLength(2)
})

test('a page that is deleted is a candidate too, and comes back with its seqId when that is undone', async () => {
  const { product, seqId, clone, path } = await withPage()
  clone.remove(path)
  const deletion = await clone.commit({}, 'Delete')

  const { code, stderr } = await clone.push('main')
  expect(stderr).toContain(`removed ${seqId} "Old title"`)
  expect(code).toBe(0)

  expect((await neuron(product, seqId)).status).toBe(404)
  const [removal] = (await candidates(product, 'approved')).filter(({ removes }) => removes === true)
  expect(removal).toMatchObject({ target: seqId, seqId, connector: 'git', title: 'Old title' })

  await clone.git('pull', '--quiet')
  await clone.git('revert', '--no-edit', deletion)
  const restored = await clone.push('main')
  expect(restored.stderr).toContain(`restored ${seqId}`)
  expect((await neuron(product, seqId)).body).toMatchObject({ title: 'Old title', version: 3 })
})

test('a folder that moves is one line for its pusher, proposed or pushed; a page that waits as a candidate is asked about', async () => {
  const product = await soundProduct()
  const waiting = await submitted(product, 'Lunch', 'Lunch is at one.')
  const clone = await Clone.of(product, product.tokens.curator)
  const pages = ['a', 'sub/b'].map((name) => `${name}.md`)
  await clone.commit(Object.fromEntries(pages.map((path) => [`neurons/old/${path}`, page(`Page ${path}`, 'Text.')])))
  await clone.push('main')
  await clone.git('pull', '--quiet')
  await clone.git('mv', 'neurons/old', 'neurons/new')
  await clone.git('commit', '--quiet', '-m', 'Move')
  const proposed = await clone.push('HEAD:refs/for/main')
  const ids = (await candidates(product, 'pending')).flatMap(({ candidateId, target }) => (target ? [candidateId] : []))
  const [moved, bundle] = proposed.stderr.split('\n').filter((line) => /Neurons|refs\/candidates/.test(line))
  expect(moved).toContain('2 Neurons to move from neurons/old/ to neurons/new/, in one entry of the queue http')
  expect(ids.every((id) => bundle?.includes(String(id)))).toBe(true)
  const pushed = await clone.push('main')
  expect(pushed.stderr).toContain('moved 2 Neurons from neurons/old/ to neurons/new/')
  expect(pushed.stderr).not.toContain('updated')
  await clone.git('pull', '--quiet')
  await clone.git('rm', '-r', '--quiet', 'neurons/new')
  await clone.git('commit', '--quiet', '-m', 'Remove')
  expect((await clone.push('HEAD:refs/for/main')).stderr).toContain(
    '2 Neurons to remove from neurons/new/, in one entry',
  )
  expect((await clone.push('main')).stderr).toContain('removed 2 Neurons from neurons/new/')
  await clone.git('pull', '--quiet')

  await clone.commit({ 'neurons/lunch.md': page('Lunch', 'Lunch is at two.') })
  expect((await clone.push('HEAD:refs/for/main')).stderr).toContain(`add the line "candidate: ${waiting}"`)
  await clone.commit({
    'neurons/lunch.md': page('Lunch', 'Lunch is at two.').replace('---', `---\ncandidate: ${waiting}`),
  })
  expect((await clone.push('main')).stderr).not.toContain('warning')
  expect((await candidates(product, 'approved')).map(({ candidateId }) => candidateId)).toContain(waiting)
})

test('what is proposed waits, is updated by the next push, and can be approved', async () => {
  const { product, seqId, clone, path, text } = await withPage()
  await clone.commit({ [path]: text.replace('Two.', 'Two, better.'), 'neurons/new.md': page('Brand new', 'Hello.') })

  const first = await clone.push('HEAD:refs/for/main')
  expect(first.code).toBe(0)
  const pending = await candidates(product, 'pending')
  expect(pending.map(({ title, target }) => [title, target])).toEqual([
    ['Brand new', null],
    ['Old title', seqId],
  ])
  for (const { candidateId } of pending) expect(first.stderr).toContain(`/queue/${candidateId}`)
  expect((await neuron(product, seqId)).body).toMatchObject({ version: 1 })

  await clone.commit({ [path]: text.replace('Two.', 'Two, best.').replace('title:', 'owner: ada\ntitle:') })
  const again = await clone.push('HEAD:refs/for/main')
  expect(again.stderr).toContain('updated "Old title"')
  expect(again.stderr).toContain('unchanged "Brand new"')
  expect((await candidates(product, 'pending')).map(({ candidateId }) => candidateId)).toEqual(
    pending.map(({ candidateId }) => candidateId),
  )

  for (const { candidateId } of pending) {
    const route = `/api/v1/queue/candidates/${candidateId}/approve`
    expect((await product.request('POST', route, { as: product.tokens.curator, body: {} })).status).toBe(200)
  }
  expect((await neuron(product, seqId)).body).toMatchObject({ content: 'One.\n\nTwo, best.\n\nThree.', version: 2 })
  expect((await neuron(product, 'handbook_00000002')).body).toMatchObject({ title: 'Brand new', content: 'Hello.' })
  const own = await Clone.of(product, await product.newKey('acme', 'reader', [], null, 'all'))
  expect(own.read(path)).toContain('owner: ada')
  expect(own.read('neurons/new.md')).toContain('seqId: handbook_00000002')
})

test('topics keep two proposals of one page apart', async () => {
  const { product, clone, path, text } = await withPage()
  await clone.commit({ [path]: text.replace('One.', 'One!') })
  expect((await clone.push('-o', 'topic=one', 'HEAD:refs/for/main')).code).toBe(0)
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  await clone.commit({ [path]: text.replace('Three.', 'Three!') })
  expect((await clone.push('-o', 'topic=three', 'HEAD:refs/for/main')).code).toBe(0)

  expect(await candidates(product, 'pending')).toHaveLength(2)
  expect((await clone.push('-o', 'theme=one', 'HEAD:refs/for/main')).stderr).toContain(
    'the only push options are submit and topic=',
  )
})

test('a proposed deletion is approved like any other candidate', async () => {
  const { product, seqId, clone, path } = await withPage()
  clone.remove(path)
  await clone.commit({}, 'Delete')
  expect((await clone.push('HEAD:refs/for/main')).code).toBe(0)
  const [proposal] = await candidates(product, 'pending')
  expect(proposal).toMatchObject({ removes: true, target: seqId })
  const route = `/api/v1/queue/candidates/${proposal?.candidateId}`
  const { body } = await product.request('GET', route, { as: product.tokens.curator })
  expect(body).toMatchObject({ after: null, diff: expect.stringContaining('-One.') })

  const approval = await product.request('POST', `${route}/approve`, { as: product.tokens.curator, body: {} })
  expect(approval.body).toMatchObject({ status: 'approved', seqId })
  expect((await neuron(product, seqId)).status).toBe(404)
})

test('a proposed deletion of a page that has changed since is a conflict', async () => {
  const { product, seqId, clone, path, text } = await withPage()
  clone.remove(path)
  await clone.commit({}, 'Delete')
  expect((await clone.push('HEAD:refs/for/main')).code).toBe(0)
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  await clone.commit({ [path]: text.replace('One.', 'One!') })
  expect((await clone.push('main')).code).toBe(0)

  const [proposal] = await candidates(product, 'pending')
  const route = `/api/v1/queue/candidates/${proposal?.candidateId}/approve`
  const { status, body } = await product.request('POST', route, { as: product.tokens.curator, body: {} })
  expect([status, body.error]).toEqual([409, 'merge_conflict'])
  expect((await neuron(product, seqId)).status).toBe(200)
})

test('a push that lost the race is told to fetch first, and nothing is overwritten', async () => {
  const { product, seqId, clone, path, text } = await withPage()
  const other = await Clone.of(product, product.tokens.curator)
  await clone.commit({ [path]: text.replace('One.', 'One!') })
  await other.commit({ [path]: text.replace('Three.', 'Three!') })
  expect((await clone.push('main')).code).toBe(0)

  const lost = await other.push('main')
  expect(lost.code).not.toBe(0)
  expect(lost.stderr).toContain('fetch first')

  await other.git('pull', '--quiet', '--rebase')
  expect((await other.push('main')).code).toBe(0)
  expect((await neuron(product, seqId)).body).toMatchObject({ content: 'One!\n\nTwo.\n\nThree!', version: 3 })
})

test('a push that was cut off between the queue and main, and comes again on top of the edits of others, is one candidate', async () => {
  const { product, seqId, clone, path, text } = await withPage()
  const other = await Clone.of(product, product.tokens.curator)
  await clone.commit({ [path]: text.replace('One.', 'One!'), 'neurons/new.md': page('New', 'It is new.') })
  await cutOffBeforeMain(product)
  expect((await clone.push('main')).code).not.toBe(0)
  await other.commit({ [path]: text.replace('Three.', 'Three!') })
  expect((await other.push('main')).code).toBe(0)

  await clone.git('pull', '--quiet', '--rebase')
  await clone.commit({ 'neurons/new.md': page('New', 'It is new, and better.') })
  expect((await clone.push('main')).code).toBe(0)

  expect(await candidates(product, 'pending')).toEqual([])
  const titles = (await candidates(product, 'approved')).map(({ title }) => title)
  expect(titles.filter((title) => title === 'New')).toHaveLength(1)
  expect((await neuron(product, seqId)).body).toMatchObject({ content: 'One!\n\nTwo.\n\nThree!', version: 3 })
})

/** The next time that main is moved, the server is as good as killed. In a cluster the queue does not move without main. */
async function cutOffBeforeMain({ ctx, kbId }: Product): Promise<void> {
  if (ctx.cluster !== undefined) {
    vi.spyOn(ctx.cluster.packs, 'put').mockRejectedValueOnce(new Error('cut off'))
    return
  }
  const { tenantId } = (await ctx.knowledgeBases.list()).find(({ id }) => id === kbId) ?? { tenantId: '' }
  const { repository } = await ctx.kb(tenantId, kbId)
  const updateRef = repository.updateRef.bind(repository)
  repository.updateRef = async (ref, from, to) => {
    if (ref !== main) return updateRef(ref, from, to)
    repository.updateRef = updateRef
    throw new Error('cut off')
  }
}

test('main takes no forced push and is not deleted', async () => {
  const { product, clone, path, text } = await withPage()
  await clone.commit({ [path]: text.replace('One.', 'One!') })
  expect((await clone.push('main')).code).toBe(0)
  const before = nativeGit(product.gitDir, ['rev-parse', main])

  await clone.git('fetch', '--quiet')
  await clone.git('commit', '--quiet', '--amend', '-m', 'Another')
  const forced = await clone.push('--force', 'main')
  expect(forced.stderr).toContain('no fast-forward')
  const deleted = await clone.push(':main')
  expect(deleted.stderr).toContain('main cannot be deleted')
  expect([forced.code, deleted.code]).toEqual([1, 1])
  expect(nativeGit(product.gitDir, ['rev-parse', main])).toBe(before)
})

test.each([
  'refs/heads/topic',
  'refs/tags/v1',
  'refs/replace/0123456789012345678901234567890123456789',
  'refs/notes/commits',
  'refs/ganglion/queue',
  'refs/candidates/0199a5c1-0000-7000-8000-000000000002/head',
  'refs/for/other',
])('%s takes no push', async (ref) => {
  const { product, clone } = await withPage()
  await clone.commit({ 'neurons/new.md': page('New', 'New.') })
  const refs = nativeGit(product.gitDir, ['for-each-ref'])

  const { code, stderr } = await clone.push(`HEAD:${ref}`)

  expect(code).toBe(1)
  expect(stderr).toMatch(/refs\/heads\/main|makes the heads|hidden ref|refs\/for\/main/)
  expect(nativeGit(product.gitDir, ['for-each-ref'])).toBe(refs)
})

test('a refused push says where and why, and changes nothing', async () => {
  const { product, clone, path, text } = await withPage()
  const before = nativeGit(product.gitDir, ['for-each-ref'])
  await clone.commit({
    [path]: text.replace(/seqId: .*/, 'seqId: handbook_00000077'),
    'neurons/broken.md': '---\ntitle: [\n---\n\nText.\n',
  })

  const { code, stderr } = await clone.push('main')

  expect(code).toBe(1)
  expect(stderr).toContain(`remote: ${path}:1: The seqId handbook_00000001 was changed`)
  expect(stderr).toMatch(/remote: neurons\/broken\.md:\d: /)
  expect(nativeGit(product.gitDir, ['for-each-ref'])).toBe(before)
  expect(nativeGit(product.gitDir, ['count-objects', '-v'])).toMatch(/garbage: 0/)
  expect(await candidates(product, 'pending')).toEqual([])
})

test('a protected main takes proposals only', async () => {
  const { product, clone, path, text } = await withPage()
  await clone.commit({ 'kb.yaml': clone.read('kb.yaml').replace('protectMain: false', 'protectMain: true') }, 'Protect')
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  await clone.commit({ [path]: text.replace('One.', 'One!') })

  const direct = await clone.push('main')
  expect([direct.code, direct.stderr]).toEqual([1, expect.stringContaining('git push origin HEAD:refs/for/main')])
  expect((await clone.push('HEAD:refs/for/main')).code).toBe(0)
  expect(await candidates(product, 'pending')).toHaveLength(1)
})

test('files that are no Neurons are pushed to main, and cannot be proposed', async () => {
  const { product, clone } = await withPage()
  await clone.commit({ 'assets/logo.txt': 'A logo.\n', 'README.md': '# Ours\n' })
  const proposed = await clone.push('HEAD:refs/for/main')
  expect([proposed.code, proposed.stderr]).toEqual([1, expect.stringContaining('assets/logo.txt:1: Only Neurons')])

  expect((await clone.push('main')).code).toBe(0)
  expect(nativeGit(product.gitDir, ['show', `${main}:assets/logo.txt`])).toBe('A logo.')
  expect(await candidates(product, 'pending')).toEqual([])
})
