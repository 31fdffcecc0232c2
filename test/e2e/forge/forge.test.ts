import { expect, test } from 'vitest'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { startGithub } from '../../forge/support/emulated-github.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import {
  approve,
  approved,
  candidateDetail,
  candidates,
  correctionOf,
  neuron,
  soundProduct,
  submitted,
} from '../git/git-support.ts'
import { bridged, bridgedTo } from './forge-support.ts'

function head(pull: Record<string, unknown> | undefined): { ref: string; sha: string } {
  return pull?.head as { ref: string; sha: string }
}

test('a waiting candidate is a pull request with all that a curator decides by', async () => {
  const { product, github, sync, open } = await bridged({
    product: await soundProduct({ publicUrl: 'https://kb.example.org' }),
  })
  const content = 'Tea is at four. See [[Lunch]] and [[Nowhere]].\n\n@everyone <script>alert(1)</script>'
  const id = await submitted(product, 'Tea', content, { confidence: 0.4, metadata: { actionZone: 'yellow' } })
  expect(await sync()).toBeUndefined()
  const pulls = await open()
  expect(pulls).toHaveLength(1)
  const [pull] = pulls
  const { ref, sha } = head(pull)
  expect(pull).toMatchObject({ title: 'Add "Tea"', draft: false })
  expect(ref).toMatch(/^ganglion\/[0-9a-f]{8}-tea$/)
  const body = String(pull?.body)
  expect(body).toContain(`(https://kb.example.org/queue/${id})`)
  expect(body).toContain('`Lunch`')
  expect(body).toContain('(`zone yellow`)')
  expect(body).not.toMatch(/^@everyone|^<script/m)
  expect(await github.labels(Number(pull?.number))).toEqual(['ganglion', 'kind: external-feed', 'zone: yellow'])
  const [run] = await github.checkRuns()
  expect(run).toMatchObject({ head_sha: sha, conclusion: 'neutral' })
  expect(nativeGit(github.git.dir, ['rev-parse', 'main'])).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  expect(github.wrong).toEqual([])

  github.requests.length = 0
  await sync()
  expect(github.requests.filter((request) => /^(POST|PATCH|PUT) (?!.*git-upload-pack)/.test(request))).toEqual([])
})

test('a version that its sender makes is pushed to the same pull request', async () => {
  const { product, github, sync, open } = await bridged()
  const id = await submitted(product, 'Tea', 'Tea is at four.', { confidence: 0.4 })
  await sync()
  const [before] = await open()
  const path = `/api/v1/queue/candidates/${id}`
  const body = { content: 'Tea is at five.', title: 'Tea time' }
  expect((await product.request('PUT', path, { as: product.tokens.app, body })).status).toBe(200)
  await sync()
  const [pull] = await open()
  expect([pull?.number, head(pull).ref, pull?.title]).toEqual([before?.number, head(before).ref, 'Add "Tea time"'])
  expect(nativeGit(github.git.dir, ['show', head(pull).sha])).toContain('+Tea is at five.')
  expect((await product.request('DELETE', path, { as: product.tokens.app })).status).toBe(200)
  await sync()
  expect(await open()).toEqual([])
})

test('a title makes the forge do nothing, wherever it comes', async () => {
  const { product, github, sync, open } = await bridged()
  const id = await submitted(product, 'Fixes #1 @ada [skip ci]', 'Tea is at four.', { confidence: 0.4 })
  await sync()
  const [pull] = await open()
  expect(pull?.title).toBe('Add "Fixes ＃1 ＠ada ［skip ci]"')
  const subject = (ref: string) => nativeGit(github.git.dir, ['log', '-1', '--format=%s', ref])
  expect(subject(head(pull).ref)).toBe(pull?.title)
  await approve(product, id)
  await sync()
  expect(subject('main')).toBe(pull?.title)
})

test('a change shows before and after, links that it gains and loses, and what is like it', async () => {
  const { product, sync, open } = await bridged()
  await approved(product, 'Canteen', 'The canteen serves lunch every weekday in the large hall of the main building.')
  const seqId = await approved(product, 'Lunch', 'Lunch is at one. See [[Tea]].')
  await submitted(product, 'Lunch', 'Lunch is at two, in the canteen. See [[Canteen]].', correctionOf(seqId))
  await submitted(product, 'Lunch', 'Lunch is at three.', correctionOf(seqId))
  await sync()
  const pulls = await open()
  expect(pulls.map(({ title }) => title)).toEqual(['Update "Lunch"', 'Update "Lunch"'])
  const body = pulls.map((pull) => String(pull.body)).find((text) => text.includes('at two')) ?? ''
  expect(body).toContain('-Lunch is at one. See [[Tea]].\n+Lunch is at two, in the canteen. See [[Canteen]].')
  expect(body).toContain('**Links gained**\n- `Canteen` → `handbook_00000001 Canteen`')
  expect(body).toContain('**Links lost**\n- `Tea` → `nothing`')
  expect(body).toContain('**Waiting as well**\n- `Lunch` (same Neuron, same title)')
  expect(body).toContain(`- Neuron: \`${seqId}\` \`Lunch\``)
})

test.for(['merge', 'squash', 'rebase'] as const)(
  'a %s on the forge approves, by whoever pressed the button',
  async (method) => {
    const { product, github, sync, numberOf } = await bridged()
    const id = await submitted(product, 'Lunch', 'Lunch is at one.')
    await sync()
    await github.merge('ada', await numberOf('Add "Lunch"'), method)
    expect(await sync()).toBeUndefined()
    expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' })
    expect(nativeGit(product.gitDir, ['log', '-1', '--format=%(trailers:key=Approved-By,valueonly)', 'main'])).toBe(
      'ada <github:ada>',
    )
    expect(nativeGit(github.git.dir, ['rev-parse', 'main'])).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  },
)

test('what a reviewer commits to the branch is part of what is approved', async () => {
  const { product, github, sync, open, numberOf } = await bridged()
  const id = await submitted(product, 'Lunch', 'Lunch is at one.')
  await sync()
  const { ref: branch } = head((await open())[0])
  const [path = ''] = nativeGit(github.git.dir, ['diff', '--name-only', `main..${branch}`]).split('\n')
  const page = nativeGit(github.git.dir, ['show', `${branch}:${path}`])
  const edited = github.git.commit(branch, { [path]: `${page.replace('at one', 'at half past one')}\n` })
  await sync()
  expect(await candidateDetail(product, id)).toMatchObject({
    status: 'pending',
    content: 'Lunch is at half past one.',
  })
  expect(github.git.head(`refs/heads/${branch}`)).toBe(edited)
  await github.merge('bob', await numberOf('Add "Lunch"'), 'squash')
  await sync()
  expect((await neuron(product, 'handbook_00000001')).body).toMatchObject({ content: 'Lunch is at half past one.' })
})

test('approved here is merged there; dismissed here is closed there with the reason; both can be undone', async () => {
  const { product, github, sync, numberOf, open } = await bridged()
  const curator = { as: product.tokens.curator }
  const lunch = await submitted(product, 'Lunch', 'Lunch is at one.')
  const tea = await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  await approve(product, lunch)
  await product.request('POST', `/api/v1/queue/candidates/${tea}/dismiss`, { ...curator, body: { reason: 'No tea.' } })
  await sync()
  expect(
    (await github.pulls()).map(({ title, merged_at, state }) => [title, merged_at !== null, state]).sort(),
  ).toEqual([
    ['Add "Lunch"', true, 'closed'],
    ['Add "Tea"', false, 'closed'],
  ])
  const number = await numberOf('Add "Tea"')
  expect((await github.comments(number)).map(({ body }) => body.split('\n')[1])).toEqual([
    'Dismissed by curator: No tea.',
  ])

  await product.request('POST', `/api/v1/queue/candidates/${tea}/reopen`, curator)
  await sync()
  expect((await open()).map(({ title }) => title)).toEqual(['Add "Tea"'])
  await github.close('ada', number)
  await sync()
  expect(await candidateDetail(product, tea)).toMatchObject({ status: 'dismissed' })
  await github.reopen('ada', number)
  await sync()
  expect(await candidateDetail(product, tea)).toMatchObject({ status: 'pending' })
})

test('comments of curators are not posted in a repository that others can read', async () => {
  const github = await startGithub()
  github.show('public')
  const { product, sync, numberOf } = await bridged({ github })
  const id = await submitted(product, 'Lunch', 'At one.')
  await sync()
  const number = await numberOf('Add "Lunch"')
  const comment = { as: product.tokens.curator, body: { comment: 'Ask the board first.' } }
  expect((await product.request('POST', `/api/v1/queue/candidates/${id}/comment`, comment)).status).toBe(201)
  await github.comment('ada', number, 'One or two?')
  await sync()
  await sync()
  expect((await github.comments(number)).map(({ body }) => body)).toEqual(['One or two?'])
})

test('comments go both ways, each once, and the last one is the reason when a pull request is closed', async () => {
  const { product, github, sync, numberOf, restart } = await bridged()
  const id = await submitted(product, 'Lunch', 'Lunch is at one.')
  await sync()
  const number = await numberOf('Add "Lunch"')
  await github.comment('ada', number, 'One or two?')
  const comment = `/api/v1/queue/candidates/${id}/comment`
  await product.request('POST', comment, { as: product.tokens.curator, body: { comment: 'Two, I think.' } })
  for (let n = 0; n < 3; n++) {
    await sync()
    restart()
  }
  await github.comment('ada', number, 'Nobody eats at two.')
  await github.comment('mallory', number, 'Approved by the board.')
  await github.close('ada', number)
  await sync()
  await sync()
  const { decisions, status } = await candidateDetail(product, id)
  expect(status).toBe('dismissed')
  expect(decisions).toMatchObject([
    { action: 'comment', by: 'curator', reason: 'Two, I think.' },
    { action: 'comment', by: 'ada', reason: 'One or two?' },
    { action: 'comment', by: 'ada', reason: 'Nobody eats at two.' },
    { action: 'comment', by: 'mallory', reason: 'Approved by the board.' },
    { action: 'dismiss', reason: 'Nobody eats at two.' },
  ])
  const bodies = (await github.comments(number)).map(({ body }) => body)
  expect(bodies.filter((body) => body.includes('Two, I think.'))).toHaveLength(1)
  expect(bodies).toHaveLength(4)
})

test('a pull request that a person opens there becomes candidates, which are decided with it', async () => {
  const { product, github, sync } = await bridged()
  await sync()
  const write = (branch: string, title: string) =>
    github.git.commit(branch, { [`neurons/${title.toLowerCase()}.md`]: `---\ntitle: ${title}\n---\n\nBy Ada.\n` })
  write('ada', 'Tea')
  write('ada', 'Lunch')
  const number = await github.openPull('ada', 'ada', 'Meals')
  await sync()
  expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Lunch' }, { title: 'Tea' }])
  expect((await github.pulls()).map(({ title }) => title)).toEqual(['Meals'])
  expect((await github.checkRuns()).at(-1)).toMatchObject({
    conclusion: 'neutral',
    head_sha: github.git.head('refs/heads/ada'),
  })

  github.git.commit('ada', { 'neurons/tea.md': null })
  write('ada', 'Dinner')
  await sync()
  expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Dinner' }, { title: 'Lunch' }])
  await github.merge('bob', number)
  expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'approved')).toMatchObject([{ title: 'Dinner' }, { title: 'Lunch' }])
  expect(await candidates(product, 'dismissed')).toMatchObject([{ title: 'Tea' }])

  github.git.commit('broken', { 'neurons/broken.md': '---\ntitle: [oops\n---\n\nText.\n' })
  await github.openPull('eve', 'broken', 'Broken')
  await sync()
  expect((await github.checkRuns()).at(-1)).toMatchObject({ conclusion: 'failure' })
  expect(await candidates(product, 'pending')).toEqual([])
})

test('a person closes their own pull request, and its candidates are dismissed', async () => {
  const { product, github, sync } = await bridged()
  await sync()
  github.git.commit('ada', { 'neurons/tea.md': '---\ntitle: Tea\n---\n\nBy Ada.\n' })
  const number = await github.openPull('ada', 'ada', 'Tea')
  await sync()
  await github.close('ada', number)
  await sync()
  expect(await candidates(product, 'dismissed')).toMatchObject([{ title: 'Tea' }])
})

test('only so many are open as are allowed, the most urgent first, and places are filled as they come free', async () => {
  const { product, github, sync, open, numberOf } = await bridged({ maxOpen: 2 })
  await submitted(product, 'Minor', 'It can wait.')
  await submitted(product, 'Major', 'It matters.', { impactEstimate: 90 })
  await submitted(product, 'Red', 'It is hot.', { metadata: { actionZone: 'red' } })
  await sync()
  expect((await open()).map(({ title, draft }) => [title, draft])).toEqual([
    ['Add "Major"', false],
    ['Add "Red"', true],
  ])
  await github.merge('ada', await numberOf('Add "Major"'))
  await sync()
  expect((await open()).map(({ title }) => title)).toEqual(['Add "Minor"', 'Add "Red"'])
})

test('a branch is made again only if what it changes is no longer the same', async () => {
  const { product, github, sync, open } = await bridged()
  const seqId = await approved(product, 'Lunch', 'Lunch is at one.\n\nBring a chair.')
  await submitted(product, 'Lunch', 'Lunch is at two.\n\nBring a chair.', correctionOf(seqId))
  await sync()
  const tip = async () => head((await open())[0]).sha
  const first = await tip()
  await approved(product, 'Elsewhere', 'Something else.')
  await sync()
  expect(await tip()).toBe(first)
  expect(await github.checkRuns()).toHaveLength(1)
  const other = await submitted(product, 'Lunch', 'Lunch is at one.\n\nBring two chairs.', correctionOf(seqId))
  await approve(product, other)
  await sync()
  expect(await tip()).not.toBe(first)
  expect((await github.checkRuns()).at(-1)).toMatchObject({ head_sha: await tip() })
})

test('what the knowledge base refuses is told, and taken once the forge has put it right', async () => {
  const { product, github, sync } = await bridged()
  await sync()
  github.git.commit('main', { 'neurons/broken.md': '---\ntitle: [oops\n---\n\nText.\n' })
  expect(await sync()).toContain('neurons/broken.md:2: title must be text')
  github.git.commit('main', { 'neurons/broken.md': '---\ntitle: Mended\n---\n\nText.\n' })
  expect(await sync()).toBeUndefined()
  expect((await neuron(product, 'handbook_00000001')).body).toMatchObject({ title: 'Mended' })
})

test('a link whose table was lost, as by a restore, finds its pull requests again', async () => {
  const { product, github, sync, open, link } = await bridged()
  await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  const before = await open()
  const { ctx } = product
  await ctx.forgeLinks.remove(link.id)
  const again = await bridged({ product, github })
  await again.sync()
  expect((await open()).map(({ number }) => number)).toEqual(before.map(({ number }) => number))
})

test('what was decided before the number of its pull request was noted is closed, or forgotten with its branch', async () => {
  const { product, github, sync, open, link, restart } = await bridged()
  const { ctx } = product
  const [tea, milk] = [await submitted(product, 'Tea', 'At four.'), await submitted(product, 'Milk', 'At five.')]
  await sync()
  const rowOf = async (id: string) => {
    const row = (await ctx.forgePulls.list(link.id)).find(({ candidates: of }) => of.includes(id))
    if (row === undefined) throw new Error(`no row of ${id}`)
    return row
  }
  await ctx.forgePulls.put(link.id, { ...(await rowOf(tea)), number: null })
  // A branch that was pushed, and whose pull request was still to be opened.
  const unopened = { ...(await rowOf(milk)), branch: 'ganglion/00000000-unopened', number: null }
  await ctx.forgePulls.put(link.id, unopened)
  nativeGit(github.git.dir, ['branch', unopened.branch, 'main'])
  const pathOf = (id: string) => `/api/v1/queue/candidates/${id}/dismiss`
  for (const id of [tea, milk]) {
    await product.request('POST', pathOf(id), { as: product.tokens.curator, body: { reason: 'No.' } })
  }
  restart()
  await sync()
  await sync()
  expect(await open()).toEqual([])
  const rows = await ctx.forgePulls.list(link.id)
  expect(rows.map(({ state, number }) => [state, typeof number])).toEqual([
    ['closed', 'number'],
    ['closed', 'number'],
  ])
  expect(github.git.head(`refs/heads/${unopened.branch}`)).toBeUndefined()
})

test('each change takes the requests that the document tells', async () => {
  const { product, github, sync, numberOf } = await bridged()
  const curator = { as: product.tokens.curator }
  const taken = async (): Promise<string[]> => {
    github.requests.length = 0
    await sync()
    const asked = github.requests.filter(
      (request) => !/[.]git\/|access_tokens|installation|\/reviews|GET .*comments\?|pulls\?state=open/.test(request),
    )
    return asked.map((request) =>
      request
        .replace(/ \S*\/handbook/, ' ')
        .replace(/\d+/g, 'n')
        .replace(/\?.*/, ''),
    )
  }
  const [tea, lunch, dinner] = [
    await submitted(product, 'Tea', 'Tea is at four.'),
    await submitted(product, 'Lunch', 'Lunch is at one.'),
    await submitted(product, 'Dinner', 'Dinner is at eight.'),
  ]
  await sync()
  await submitted(product, 'Supper', 'Supper is at ten.')
  expect(await taken()).toEqual(['POST /pulls', 'POST /issues/n/labels', 'POST /check-runs'])
  expect(await taken()).toEqual([])
  await github.merge('ada', await numberOf('Add "Tea"'))
  expect(await taken()).toEqual(['GET /pulls/n'])
  await approve(product, lunch)
  expect([...(await taken()), ...(await taken())]).toEqual(['GET /pulls/n'])
  await product.request('POST', `/api/v1/queue/candidates/${dinner}/dismiss`, { ...curator, body: {} })
  expect(await taken()).toEqual(['POST /issues/n/comments', 'PATCH /pulls/n closed'])
  expect(await taken()).toEqual([])
  expect(await candidateDetail(product, tea)).toMatchObject({ status: 'approved' })
})

test('what is reopened here, and cannot be there since its branch is gone, gets another pull request', async () => {
  const { product, github, sync, open } = await bridged()
  const curator = { as: product.tokens.curator }
  const id = await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  const [before] = await open()
  await product.request('POST', `/api/v1/queue/candidates/${id}/dismiss`, { ...curator, body: {} })
  await sync()
  nativeGit(github.git.dir, ['update-ref', '-d', `refs/heads/${head(before).ref}`])
  await product.request('POST', `/api/v1/queue/candidates/${id}/reopen`, curator)
  await sync()
  await sync()
  const pulls = await open()
  expect(pulls.map(({ title }) => title)).toEqual(['Add "Tea"'])
  expect(pulls[0]?.number).not.toBe(before?.number)
  await github.merge('ada', Number(pulls[0]?.number))
  await sync()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' })
})

test("a stranger's fork waits until somebody who may lets it in", async () => {
  const { product, github, sync } = await bridged()
  await sync()
  github.git.commit('theirs', { 'neurons/tea.md': '---\ntitle: Tea\n---\n\nBy Eve.\n' })
  const number = await github.openForkPull('eve', 'theirs', 'Tea')
  await sync()
  expect(await candidates(product, 'pending')).toEqual([])
  await github.label('ada', number, 'ganglion')
  await sync()
  expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Tea' }])
  // Its base is changed, and changed back.
  for (const base of ['stable', 'main']) {
    await github.retarget('eve', number, base)
    for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
    expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Tea' }])
  }
  expect(await github.pulls()).toHaveLength(1)
  await github.merge('ada', number)
  expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'approved')).toMatchObject([{ title: 'Tea' }])
})

test('a flood of remarks leaves room in the record, and does not hide a late decision', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  for (let n = 0; n < 150; n++) forge.people.say('mallory', 1, `${n} ${'é'.repeat(4_000)}`)
  expect(await sync()).toBeUndefined()
  const comment = { as: product.tokens.curator, body: { comment: 'c'.repeat(10_000) } }
  for (let n = 0; n < 5; n++) {
    const { status } = await product.request('POST', `/api/v1/queue/candidates/${id}/comment`, comment)
    expect(status).toBeLessThan(300)
  }
  forge.people.say('bob', 1, 'Not this one.')
  for (let n = 0; n < 150; n++) forge.people.say('mallory', 1, `Yes ${n}.`)
  await forge.close('bob', 1)
  expect(await sync()).toBeUndefined()
  const { status, decisions } = await candidateDetail(product, id)
  expect([status, (decisions as unknown[]).at(-1)]).toEqual([
    'dismissed',
    expect.objectContaining({ reason: 'Not this one.' }),
  ])
})
