import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { pushedChanges } from '../../../src/git/pushed-objects.ts'
import { proposePush } from '../../../src/push/push-proposals.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import type { Page } from '../support.ts'
import { deskForFile, follow, hostile } from './desk.ts'

const desk = deskForFile()

const titles = (page: Page) => page.texts('[data-entry] h2')
const picks = (page: Page) =>
  [...page.document.querySelectorAll(':not(.undo) > input[name="pick"]')].map((box) => box.getAttribute('value') ?? '')
const undone = (page: Page) =>
  [...page.document.querySelectorAll('.notice form.undo input[name="pick"]')].map(
    (box) => box.getAttribute('value') ?? '',
  )
const hrefOf = (page: Page, selector: string) => page.document.querySelector(selector)?.getAttribute('href') ?? ''

test('what was decided last is no filter of the list', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit()
  await kb.approve(id)
  const after = await curator.get(`/queue?done=${id}`)
  expect(after.texts('.chip').filter((chip) => /Clear filters|Save filter/.test(chip))).toEqual([])
  expect((await curator.get(`/queue?kb=${kb.slug}`)).texts('.chip')).toContain('Clear filters')
})

test('the queue lists what waits, the most urgent first, with all that one chooses by', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Escalation' })
  await kb.submit({ title: 'Plain', confidence: 0.4 })
  await kb.correct(seqId, 'New.', {
    title: 'Correction',
    metadata: JSON.stringify({ targetNeuron: seqId, actionZone: 'red', tags: ['ops'] }),
  })
  const page = await curator.get(`/queue?kb=${kb.slug}`)
  expect(page.status).toBe(200)
  expect(page.texts('h1')).toEqual(['Queue'])
  expect(titles(page)).toEqual(['Correction', 'Plain'])
  const [first, second] = page.texts('[data-entry]')
  expect(first).toContain('Red zone Changes Escalation')
  expect(first).toContain('#ops')
  // The badge and the confidence say it already.
  expect(page.texts('.why, .entry .warnings')).toEqual([])
  expect(second).toContain('New page')
  expect(second).toContain('Confidence 40 %')
  expect(second).toContain('by The app')
  expect(page.texts('nav[aria-label="Zones"] a')).toEqual([
    'All 2',
    'Red zone 1',
    'Yellow zone 0',
    'Green zone 0',
    'No zone 1',
  ])
})

test('filters stand in the address, stay while one pages, and are kept by every link', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  for (let n = 0; n < 30; n++)
    await kb.submit({ title: `Tram ${n}`, impactEstimate: 100 - n, metadata: '{"tags":["a&b"]}' })
  await kb.submit({ title: 'Other' })
  const first = await curator.get(`/queue?kb=${kb.slug}&kind=&connector=&tag=a%26b&text=TRAM&zone=`)
  expect(titles(first)).toHaveLength(25)
  expect(first.document.querySelector('input[name="tag"]')?.getAttribute('value')).toBe('a&b')
  const open = hrefOf(first, '[data-open]')
  expect(new URL(open, 'http://x').searchParams.get('tag')).toBe('a&b')
  const second = await curator.get(hrefOf(first, 'a[rel="next"]'))
  expect(titles(second)).toEqual(['Tram 25', 'Tram 26', 'Tram 27', 'Tram 28', 'Tram 29'])
  expect(hrefOf(second, 'a[rel="next"]')).toBe('')
  const back = await curator.get(hrefOf(second, 'a[rel="prev"]'))
  expect(titles(back)).toEqual(titles(first))
  expect(titles(await curator.get(`/queue?kb=${kb.slug}&status=dismissed`))).toEqual([])
})

test.each(['kind=nonsense', 'zone=blue', 'after=nonsense', 'did=x', 'kind=chat&kind=chat', `text=${'x'.repeat(201)}`])(
  'a query that no page made (%s) is refused',
  async (query) => {
    expect((await desk().curator.get(`/queue?${query}`)).status).toBe(400)
  },
)

test('an empty queue says what comes next, and an empty filter how to leave it', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const page = await curator.get(`/queue?kb=${kb.slug}`)
  expect(page.texts('.empty')).toEqual(['No candidate passes these filters. Show all that wait'])
  expect((await curator.get('/queue?kb=nowhere')).status).toBe(404)
})

test('what was decided together is undone together: put back, or as reversals that wait', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  for (const title of ['One', 'Two', 'Three']) await kb.submit({ title })
  const path = `/queue?kb=${kb.slug}`
  const decide = async (fields: Record<string, string | string[]>) =>
    follow(curator, await curator.post(path, { reason: '', ...fields }))
  const dismissed = await decide({ decision: 'dismiss', pick: picks(await curator.get(path)) })
  expect(dismissed.texts('.notice h2, .notice button')).toEqual(['3 of 3 done', 'Undo these 3'])
  const back = await decide({ decision: 'reopen', pick: undone(dismissed) })
  expect(back.texts('.notice h2, .notice p, .notice button')).toEqual(['3 of 3 done', '3 in the queue.'])
  expect(titles(back)).toEqual(['One', 'Two', 'Three'])

  const approved = await decide({ decision: 'approve', pick: picks(back) })
  expect(approved.texts('.notice button')).toEqual(['Undo these 3'])
  const reversed = await decide({ decision: 'reverse', pick: undone(approved) })
  expect(reversed.texts('.notice h2, .notice p')).toEqual(['3 of 3 done', '3 in the queue.'])
  expect(reversed.texts('.entry .intent')).toHaveLength(3)
})

test('several are decided together, each on its own, and the page says what became of each', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Base', content: 'one\n' })
  await kb.submit({ title: 'Fine' })
  await kb.correct(seqId, 'two\n', { title: 'First change' })
  const clash = await kb.correct(seqId, 'three\n', { title: 'Second change' })
  const gone = await kb.submit({ title: 'Gone' })
  const path = `/queue?kb=${kb.slug}&pick=all`
  const page = await curator.get(path)
  expect([...page.document.querySelectorAll('input[name="pick"][checked]')]).toHaveLength(4)
  await kb.approve(gone)
  const answer = await curator.post(`/queue?kb=${kb.slug}`, { decision: 'approve', pick: picks(page), reason: '' })
  const result = await follow(curator, answer)
  expect(result.texts('.notice h2')).toEqual(['2 of 4 done'])
  const texts = result.texts('.notice li')
  expect(texts).toHaveLength(2)
  expect(texts).toContainEqual(expect.stringMatching(/^Second change: not decided, since it or its page has changed/))
  expect(texts).toContainEqual(expect.stringMatching(/^Gone: Olga Other approved it .* before you\.$/))
  expect(titles(result)).toEqual(['Second change'])

  const again = await curator.post(`/queue?kb=${kb.slug}`, {
    decision: 'dismiss',
    pick: picks(result),
    reason: 'Twice.',
  })
  const dismissed = await follow(curator, again)
  expect(dismissed.texts('.notice h2, .notice li, .notice button')).toEqual(['1 of 1 done', 'Undo it'])
  expect((await curator.get(`/queue/${clash}`)).texts('.steps blockquote')).toEqual(['Twice.'])
  const back = await curator.post(`/queue?kb=${kb.slug}&status=dismissed`, {
    decision: 'reopen',
    pick: `${clash} x`,
    reason: '',
  })
  expect((await follow(curator, back)).texts('.notice p, .notice li')).toEqual(['1 in the queue.'])
})

test('what waits of a push is one entry, which becomes one commit or is dismissed as a whole', async () => {
  const { curator, newKb, ctx, tenantId } = desk()
  const { slug, add, approve, correct } = await newKb()
  const seqIds = [await add({ title: 'One' }), await add({ title: 'Two' }), await add({ title: 'Three' })]
  const kb = await ctx.kb(tenantId, slug)
  const clone = join(tempDir(), 'clone')
  nativeGit(kb.repository.gitDir, ['clone', '--quiet', kb.repository.gitDir, clone])
  const git = (...args: string[]) => nativeGit(clone, args)
  const pathOf = (seqId: string) => git('grep', '-l', `seqId: ${seqId}`).trim()
  const [one = '', two = '', three = ''] = seqIds.map(pathOf)
  const propose = async () => {
    git('commit', '--all', '--quiet', '--message', 'Change')
    nativeGit(kb.repository.gitDir, ['fetch', '--quiet', clone, 'HEAD'])
    const [from, to] = [git('rev-parse', 'origin/main'), git('rev-parse', 'HEAD')]
    const proposer = { id: 'git:key:ada', name: 'Ada' }
    const changes = await pushedChanges(kb.repository, from, to)
    const push = { changes, range: { from, to }, proposer, origin: { door: 'for', by: 'ada' } } as const
    return proposePush(kb, push, ctx.now)
  }
  mkdirSync(join(clone, 'neurons/new'))
  for (const path of [one, two]) git('mv', path, `neurons/new/${basename(path)}`)
  writeFileSync(join(clone, 'neurons/new', basename(two)), git('show', `HEAD:${two}`).concat('\n[[One]]\n'))
  git('rm', '--quiet', three)
  mkdirSync(join(clone, 'tests'))
  writeFileSync(join(clone, 'tests/answers.yaml'), '- question: Who?\n  refuses: true\n')
  git('add', 'tests')
  await propose()
  const path = `/queue?kb=${slug}`
  const page = await curator.get(path)
  expect(titles(page)).toEqual([
    `Moves 2 pages from ${dirname(one)}/ to neurons/new/ and changes 1 of them · Removes 1 page`,
  ])
  expect(page.texts('.members li').toSorted()).toEqual(['One', 'Three', 'Two Changed'])
  expect(page.texts('nav[aria-label="Zones"] a')[0]).toBe('All 3')
  const [picked = ''] = picks(page)
  const withTests = await curator.get(`/queue/${picked.split(' ')[0]}`)
  expect(withTests.texts('#tests-title + h3')).toEqual(['tests/answers.yaml'])
  expect(withTests.texts('#tests-title ~ div .added .text')).toEqual(['- question: Who?', 'refuses: true'])
  const decide = (decision: string, pick: string[]) => curator.post(path, { decision, pick, reason: '' })

  // A page of it that changes makes another of it.
  writeFileSync(
    join(clone, 'neurons/new', basename(two)),
    git('show', `HEAD:neurons/new/${basename(two)}`).concat('More.\n'),
  )
  await propose()
  expect((await follow(curator, await decide('approve', picks(page)))).texts('.notice li')).toEqual([
    expect.stringContaining('not decided, since it or its page has changed'),
  ])
  const before = nativeGit(kb.repository.gitDir, ['rev-parse', 'main'])
  const approved = await follow(curator, await decide('approve', picks(await curator.get(path))))
  expect(approved.texts('.notice h2')).toEqual(['3 of 3 done'])
  expect(titles(approved)).toEqual([])
  const log = nativeGit(kb.repository.gitDir, [
    'log',
    '--format=%s',
    '--name-status',
    '--no-renames',
    `${before}..main`,
  ])
  expect(log.split('\n').filter(Boolean).toSorted()).toEqual(
    [
      'Change 3 Neurons',
      ...[one, two].flatMap((moved) => [`A\tneurons/new/${basename(moved)}`, `D\t${moved}`]),
      `D\t${three}`,
      'A\ttests/answers.yaml',
    ].toSorted(),
  )
  expect(nativeGit(kb.repository.gitDir, ['show', `main:neurons/new/${basename(two)}`])).toContain('More.')

  git('pull', '--quiet', '--no-rebase', 'origin', 'main')
  git('rm', '-r', '--quiet', 'neurons/new')
  await propose()
  const removal = await curator.get(path)
  expect(titles(removal)).toEqual(['Removes 2 pages from neurons/new/'])
  expect((await follow(curator, await decide('dismiss', picks(removal)))).texts('.notice h2')).toEqual(['2 of 2 done'])
  const queue = ['log', '-1', '--format=%s', 'refs/ganglion/queue']
  expect(nativeGit(kb.repository.gitDir, queue)).toBe('Dismiss 2 changes of Neurons')

  // One stays where it is, two change places, and the picture of a new one becomes a file.
  const seqId = await add({ title: 'Four' })
  git('reset', '--quiet', '--hard', 'HEAD^')
  git('pull', '--quiet', '--no-rebase', 'origin', 'main')
  const [first, second] = [`neurons/new/${basename(one)}`, `neurons/new/${basename(two)}`]
  const four = pathOf(seqId)
  const [oneText, twoText] = [git('show', `HEAD:${first}`), git('show', `HEAD:${second}`)]
  const picture = '![A dot](data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)'
  const texts = [
    [first, twoText],
    [second, oneText],
    [four, git('show', `HEAD:${four}`).concat('\nMore of [[Dot]], none of [[Dusk]].\n')],
    ['neurons/dot.md', `---\ntitle: Dot\n---\n\n${picture}\n`],
  ] as const
  for (const [file, text] of texts) writeFileSync(join(clone, file), text)
  git('add', '.')
  const proposed = await propose()
  const withLinks = await curator.get(`/queue/${proposed.find(({ title }) => title === 'Four')?.candidateId}`)
  expect(withLinks.texts('.links li')).toEqual(['Dot proposed together with this', 'Dusk leads nowhere'])
  const swap = await curator.get(path)
  expect(titles(swap)).toEqual(['Adds 1 page · Changes 3 pages'])
  const member = await curator.get(`/queue/${picks(swap)[0]?.split(' ')[0]}`)
  expect(member.texts('.bundle button')).toEqual(['Approve all 4', 'Dismiss all 4'])
  await follow(curator, await decide('approve', picks(member)))
  const onMain = (file = '') => nativeGit(kb.repository.gitDir, ['show', `main:${file}`])
  expect([onMain(first), onMain(second)]).toEqual([
    expect.stringContaining(`seqId: ${seqIds[1]}`),
    expect.stringContaining(`seqId: ${seqIds[0]}`),
  ])
  expect(onMain(four)).toContain('More of')
  const [, file = ''] = /!\[A dot\]\((.+)\)/.exec(onMain('neurons/dot.md')) ?? []
  expect(onMain(`neurons/${file}`)).toContain('GIF89a')

  // What conflicts is named.
  git('pull', '--quiet', '--no-rebase', '-X', 'theirs', 'origin', 'main')
  for (const edited of [first, four])
    writeFileSync(join(clone, edited), git('show', `HEAD:${edited}`).concat('Mine.\n'))
  await propose()
  const [, , body = ''] = onMain(four).split('---\n')
  await approve(await correct(seqId, body.concat('\nTheirs.\n')))
  const clash = await follow(curator, await decide('approve', picks(await curator.get(path))))
  expect(clash.texts('.notice li')).toEqual([expect.stringMatching(/^Four: not approved, since the page has changed/)])

  for (let n = 0; n < 51; n++) writeFileSync(join(clone, `neurons/many-${n}.md`), `Page ${n}.\n`)
  git('add', '.')
  await propose()
  const many = await follow(curator, await decide('dismiss', picks(await curator.get(path)).slice(-1)))
  expect(many.texts('.notice h2')).toEqual(['50 or more done'])
})

test('the red zone is asked about before it is approved with others', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  await kb.submit({ title: 'Danger', metadata: '{"actionZone":"red"}' })
  for (const title of ['One', 'Two']) await kb.submit({ title })
  const path = `/queue?kb=${kb.slug}`
  const approval = { decision: 'approve', pick: picks(await curator.get(path)), reason: '' }
  const asked = await curator.post(path, approval)
  expect([asked.status, ...asked.texts('main li, main button')]).toEqual([
    200,
    'Danger',
    'Approve the other 2',
    'Approve all 3',
  ])
  const [others] = asked.document.querySelectorAll('main form')
  const rest = [...(others?.querySelectorAll('[name=pick]') ?? [])].map((pick) => pick.getAttribute('value') ?? '')
  await follow(curator, await curator.post(path, { ...approval, pick: rest, sure: '1' }))
  expect(titles(await curator.get(path))).toEqual(['Danger'])
  await curator.post(path, { ...approval, pick: picks(await curator.get(path)), sure: '1' })
  expect(titles(await curator.get(path))).toEqual([])
})

test('nothing selected is said beside the buttons, and the reason that was typed stays', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  await kb.submit()
  const page = await curator.post(`/queue?kb=${kb.slug}`, { decision: 'dismiss', reason: 'My reason' })
  expect(page.status).toBe(422)
  expect(page.texts('[role="alert"]')).toEqual(['There is a problem Select at least one candidate.'])
  expect(page.document.querySelector('input[name="reason"]')?.getAttribute('value')).toBe('My reason')
  expect(titles(page)).toHaveLength(1)
})

test('only curators and administrators see the queue', async () => {
  const { browser, app } = desk()
  expect((await (await browser('reader')).get('/queue')).status).toBe(403)
  expect((await (await browser('admin')).get('/queue')).status).toBe(200)
  const nobody = await app.inject({
    url: '/queue/019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70?zone=red',
    headers: { accept: 'text/html' },
  })
  expect(nobody.statusCode).toBe(302)
  expect(nobody.headers.location).toBe(
    `/sign-in?next=${encodeURIComponent('/queue/019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70?zone=red')}`,
  )
})

test("another tenant's candidates are not there", async () => {
  const { browser, newKb, curator } = desk()
  const kb = await newKb()
  const id = await kb.submit()
  const stranger = await browser('curator', { tenant: 'other', email: 'else@example.com' })
  expect((await stranger.get(`/queue/${id}`)).status).toBe(404)
  expect((await stranger.post(`/queue/${id}/approve`, { seen: 'x' })).status).toBe(404)
  expect((await stranger.get(`/queue?kb=${kb.slug}`)).status).toBe(404)
  expect((await curator.get(`/queue/${id}`)).status).toBe(200)
})

test('hostile text stays text', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const metadata = JSON.stringify({ tags: ['"><script>'], connector: '<b>x</b>' })
  await kb.submit({ title: hostile, metadata })
  await kb.submit({ title: '🦊'.repeat(500) })
  await kb.submit({ title: 'مرحبا بالعالم' })
  const page = await curator.get(`/queue?kb=${kb.slug}&text=${encodeURIComponent(hostile.slice(0, 150))}`)
  expect(page.document.querySelectorAll('main script, main img, main b')).toHaveLength(0)
  const all = await curator.get(`/queue?kb=${kb.slug}`)
  expect(titles(all)[0]).toContain('<script>alert(1)</script>')
  expect(all.document.querySelectorAll('main script, main img, main b')).toHaveLength(0)
  expect(all.document.querySelectorAll('[href^="javascript:" i]')).toHaveLength(0)
  expect(all.body).not.toContain('style=')
})

test('the queue says since when pull requests could not be compared', async () => {
  const { curator, newKb, ctx } = desk()
  const [kb, other] = [await newKb(), await newKb()]
  const [known] = (await ctx.knowledgeBases.list()).filter(({ slug }) => slug === kb.slug)
  const link = await ctx.forgeLinks.create(
    {
      ...{ tenantId: known?.tenantId ?? '', kbId: known?.id ?? '', kind: 'github', apiUrl: null, webhookSecret: null },
      ...{ url: 'https://github.com/acme/x', credential: { token: 'env:TOKEN' }, maxOpen: 50 },
    },
    new Date(),
  )
  const warnings = async (slug: string) => (await curator.get(`/queue?kb=${slug}`)).texts('main > .warning')
  expect(await warnings(kb.slug)).toEqual([])
  const note = 'a note for administrators'
  await ctx.forgeLinks.note(link?.id ?? '', { failingSince: '2026-01-02T03:04:05.000Z', failures: 1, note })
  const [warning] = await warnings(kb.slug)
  expect(warning).toMatch(new RegExp(`^Since .+, ${kb.slug} could not be compared with its pull requests`))
  expect(warning).not.toContain(note)
  expect(await warnings(other.slug)).toEqual([])
})
