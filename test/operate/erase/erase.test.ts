import { createHash } from 'node:crypto'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { addAnswerTest } from '../../../src/answer-tests/add-test.ts'
import { openContext } from '../../../src/app/open-context.ts'
import { submitFeedback } from '../../../src/chat/submit-feedback.ts'
import type { FeedbackInput } from '../../../src/contract/chat.ts'
import { Repository } from '../../../src/git/repository.ts'
import { recordAct } from '../../../src/kb/access/audit.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { mainRef } from '../../../src/kb/refs/kb-refs.ts'
import { commitToQueue } from '../../../src/kb/writing/commits.ts'
import { parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import { type ErasureStep, findTexts } from '../../../src/operate/erase/erase.ts'
import { planErasure } from '../../../src/operate/erase/plan-erasure.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { openPage } from '../../../src/pages/write/open-page.ts'
import { writePage } from '../../../src/pages/write/write-page.ts'
import { checkPush } from '../../../src/push/checks/check-push.ts'
import { approveCandidate, commentCandidate, dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { reviseCandidate } from '../../../src/queue/revise-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { proposeUndo } from '../../../src/review/propose-undo.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { questionKey } from '../../../src/search/kb/question-log.ts'
import type { CompiledPage } from '../../../src/sources/compile/compiled.ts'
import { commitSource } from '../../../src/sources/ingest/commit-source.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { beginUpload } from '../../../src/sources/receive/chunked-upload.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { candidate, correction } from '../../kb/support/test-bed.ts'
import { fc, runs } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { holders, newHouse } from './support/erasure-house.ts'

test('a page is erased from all that the data directory has, and everything else is as it was', async () => {
  const house = await newHouse()
  const secret = { title: 'Zebulon Quist', content: 'Quist lives in Xanadu, at the quay of the river.' }
  const other = { title: 'Other', content: 'Another page, which stays.' }
  const { seqId: erased } = Object(await house.approve(await house.propose(candidate(secret))))
  const { seqId: kept } = Object(await house.approve(await house.propose(candidate(other))))
  const { curator } = house
  await house.approve(await house.propose(correction(kept, `${other.content} Once more.`, { title: 'Other' })))
  await house.approve(
    await house.propose(correction(erased, `${secret.content} Xanadu is far.`, { title: secret.title })),
  )
  const dismissed = await house.propose(correction(erased, 'Xanadu again', { title: secret.title }))
  await dismissCandidate(house.ctx(), curator, dismissed, { reason: 'Quist said no.' })
  const waiting = await house.propose(correction(erased, 'Xanadu once more', { title: secret.title }))
  expect((await house.search('Xanadu')).documents).toHaveLength(1)
  const before = await house.told(kept)
  const needles = ['Xanadu', 'Quist', 'zebulon', 'Zebulon']
  await house.reopen()
  // As a backup leaves it that is killed.
  const scratch = join(house.ctx().directory.tmp, 'backup-killed')
  cpSync(house.ctx().directory.index(house.kbId), scratch, { recursive: true })
  expect(holders(house.dataDir, house.gitDir, needles).length).toBeGreaterThan(5)

  const plan = await house.prepare({ neurons: [erased] })
  expect([plan.seqIds, plan.pending]).toEqual([[erased], [waiting]])
  await house.finish()
  expect(await house.told(kept)).toEqual(before)
  expect(
    (await house.told(erased)).map(({ version, text }) => [version, text?.includes('This version was erased')]),
  ).toEqual([
    [2, true],
    [1, true],
  ])
  expect((await house.search('Xanadu')).documents).toEqual([])
  const next = await house.propose(candidate({ title: 'Next', content: 'The next page.' }))
  expect(await house.approve(next)).toMatchObject({ seqId: 'handbook_00000003' })
  await house.sound()
  await house.reopen()
  expect(holders(house.dataDir, house.gitDir, needles)).toEqual([])
})

test('a Source goes with all its editions, its bytes and text, and the pages made of it; a person goes by name and address', async () => {
  const house = await newHouse()
  const { ctx, kbId, curator, dataDir } = house
  const { directory, blobs, users } = ctx()
  const person = await users.create(
    { email: 'quist@example.org', name: 'Zeb Quist', passwordHash: 'hash' },
    ctx().now(),
  )
  await users.setRole(person?.id ?? '', house.tenantId, 'curator')
  const ofPerson = { ...curator, id: `user:${person?.id}`, name: 'Zeb Quist' }
  const stored = async (text: string, changes: object) => {
    const file = join(directory.incoming, crypto.randomUUID())
    writeFileSync(file, text)
    const contentHash = createHash('sha256').update(text).digest('hex')
    await blobs.keep({ path: file, sha256: contentHash, size: text.length }, async () => {})
    const source = await addSource(ctx(), { kbId, filename: 'xanadu.md', contentHash, ...changes })
    await sourceTexts(ctx()).keep(source, { title: undefined, markdown: text, anchors: [], warnings: [] })
    return source
  }
  const first = await stored('Xanadu is a city of the first edition.', {})
  const kept = await stored('Another document.', { filename: 'kept.md' })
  const kb = await ctx().kb(house.tenantId, 'handbook')
  const page = (content: string): CompiledPage => {
    return { key: 'summary', kind: 'summary', title: 'Xanadu', content, tags: [], place: {} }
  }
  for (const content of ['Xanadu is a city of the first edition.', 'Xanadu is a city of the second edition.']) {
    const source = {
      id: first.id,
      filename: 'xanadu.md',
      sha256: 'ab'.repeat(32),
      editionOf: first.id,
      sourceUrl: null,
    }
    await commitSource(ctx(), kb, { ...source, isWanted: async () => true }, [page(content)])
    const [pending] = kb.projection.read.all`SELECT id FROM candidates WHERE status = 'pending'`
    if (pending !== undefined) await approveCandidate(ctx(), ofPerson, String(pending.id), {})
  }
  const { candidateId } = await submitCandidate(
    ctx(),
    ofPerson,
    candidate({ title: 'Mine', content: 'Ask Zeb Quist, or quist@example.org.' }),
  )
  await house.approve(candidateId)
  await recordAct(ctx(), ofPerson, { action: 'key.created', subject: 'Key of Zeb Quist' })
  const needles = ['Xanadu', 'xanadu', 'Zeb Quist', 'quist@']
  await house.reopen()
  expect(holders(dataDir, house.gitDir, needles).length).toBeGreaterThan(8)
  await expect(house.prepare({ texts: ['city of the first'] })).rejects.toThrow('erase the Source, too')
  const plan = await house.prepare({ sources: [first.id], people: ['Quist@example.org'] })
  expect([plan.seqIds, plan.sources.map(({ isOnly }) => isOnly)]).toEqual([['handbook_00000001'], [true]])
  await house.finish()
  expect((await readNeuron(ctx(), curator, { kb: 'handbook', seqId: 'handbook_00000002' })).content).toBe(
    'Ask Erased, or Erased.',
  )
  expect(await ctx().users.get(person?.id ?? '')).toMatchObject({
    name: 'Erased',
    passwordHash: null,
    disabledAt: expect.any(String),
  })
  expect((await ctx().sources.all(kbId)).map(({ id }) => id)).toEqual([kept.id])
  expect(await sourceTexts(ctx()).has(kept)).toBe(true)
  expect((await ctx().tenants.list()).map(({ slug }) => slug)).toEqual(['acme'])
  await house.sound()
  await house.reopen()
  expect(holders(dataDir, house.gitDir, needles)).toEqual([])
})

test('an end user goes from records in all versions, commits and undos, however short the id, and another stays', async () => {
  const house = await newHouse()
  const { app, curator } = house
  const sentFor = (onBehalfOf: object, title: string) =>
    candidate({ title, content: `${title}.`, metadata: JSON.stringify({ onBehalfOf, tags: ['a'] }) })
  const gone = { id: 'q7', name: 'Zeb Quist', email: 'quist@example.org' }
  const first = await house.propose(sentFor(gone, 'First'))
  const { seqId } = Object(await house.approve(first))
  const revised = await house.propose(sentFor({ id: 'q7', name: 'Zo' }, 'Second'))
  const other = JSON.stringify({ onBehalfOf: { id: 'q77', name: 'Ann Leeds' } })
  await reviseCandidate(house.ctx(), app, revised, { content: 'Second, of Zeb Quist.', metadata: other })
  await house.approve(revised)
  const since = '2020-01-01'
  const asked = { by: 'key', writer: app.id.slice('key:'.length), since, dryRun: false } as const
  const { reversals } = await proposeUndo(house.ctx(), curator, 'handbook', { ...asked, onBehalfOf: 'q7' })
  expect(reversals.map((one) => one.seqId)).toEqual([seqId])
  const needles = ['q7"', '<q7>', 'behalf of q7 ', 'Quist', 'quist', '"Zo"', 'Zo\\"']
  await house.reopen()
  expect(holders(house.dataDir, house.gitDir, needles).length).toBeGreaterThan(5)
  await house.prepare({ endUsers: ['q7'] })
  await house.finish()
  const trailers = nativeGit(house.gitDir, ['log', '--format=%(trailers:key=On-Behalf-Of,valueonly)', 'main'])
  expect(trailers.split('\n').filter(Boolean)).toEqual(['Ann Leeds <q77>', 'Erased'])
  expect(await readCandidate(house.ctx(), curator, first)).toMatchObject({
    ...{ title: 'First', status: 'approved', seqId, onBehalfOf: { id: 'Erased' } },
    metadata: '{"onBehalfOf":{"id":"Erased"},"tags":["a"]}',
  })
  expect(await readCandidate(house.ctx(), curator, revised)).toMatchObject({
    ...{ version: 2, content: 'Second, of Erased.', onBehalfOf: { id: 'q77', name: 'Ann Leeds' } },
  })
  await house.sound()
  await house.reopen()
  expect(holders(house.dataDir, house.gitDir, needles)).toEqual([])
})

test('a dry run counts where each text stands', async () => {
  const house = await newHouse()
  const ctx = house.ctx()
  const { seqId } = Object(await house.approve(await house.propose(candidate({ content: 'Ask Zeb Quist.' }))))
  for (const content of ['Ask Zeb Quist at once.', 'Ask nobody.']) {
    await house.approve(await house.propose(correction(seqId, content)))
  }
  await house.propose(candidate({ title: 'Zeb Quist', content: 'Waits.' }))
  const writer = new NativeWriter(house.gitDir)
  const pushed = {
    'neurons/pushed.md': '---\nseqId: handbook_00000009\ntitle: Pushed\n---\nBy Zeb\nQuist.\n',
    'files/a.txt': 'Of Zeb Quist.',
    'files/zeb-quist.txt': 'Of nobody.',
  }
  writer.commit(mainRef, new Map(Object.entries(pushed)))
  await ctx.users.create({ email: 'quist@example.org', name: 'Zeb Quist', passwordHash: null }, ctx.now())
  await recordAct(ctx, house.curator, { action: 'key.created', subject: 'Key of Zeb Quist' })
  const kb = await ctx.kb(house.tenantId, 'handbook')
  await kb.sync()
  const request = { neurons: [], texts: ['Xanadu'], sources: [], people: ['quist@example.org'], decidedBy: [] }
  const none = { pages: 0, versions: 0, candidates: 0, files: 0, commits: 0, rows: 0 }
  expect(await findTexts(ctx, kb, await planErasure(ctx, kb, request))).toEqual([
    { ...none, text: 'Xanadu' },
    { text: 'Zeb Quist', pages: 1, versions: 3, candidates: 3, files: 2, commits: 1, rows: 1 },
    { ...none, text: 'quist@example.org' },
  ])
})

test('a text goes however files write it, two from names of files in one folder, and a Source of another knowledge base does not keep it', async () => {
  const house = await newHouse()
  const texts = ["Zeb O'Quist", 'Ann Leeds', 'zeb@example.org']
  const contents = [
    "Asked\nZeb\nO'Quist, and:\n\n> wrote to Zeb  \n> O'Quist of Zeb@Example.ORG\n",
    "See [him](../people/Zeb%20O'Quist.md), [[zeb-oquist]] and https://x.example/?q=ann%20leeds&n=Ann%20Leeds\n",
  ]
  for (const [at, title] of texts.slice(0, 2).entries()) {
    const page = candidate({ title, content: contents[at] ?? '' })
    await house.approve(await house.propose(page))
    await house.approve(await house.propose(candidate({ title: `Talk with ${title}`, content: `The talk ${at}.` })))
  }
  const yaml = `- 'Zeb O''Quist'\n- "said \\"Ann\\n  Leeds\\""\n`
  const files = texts.slice(0, 2).map((name): [string, string] => [`assets/${name}.yaml`, yaml])
  new NativeWriter(house.gitDir).commit(mainRef, new Map(files))
  const { id: kbId } = await createKnowledgeBase(house.ctx(), { tenant: 'globex', slug: 'other' })
  const other = await addSource(house.ctx(), { kbId, filename: 'other.md' })
  const said = { title: undefined, markdown: "Zeb O'Quist", anchors: [], warnings: [] }
  await sourceTexts(house.ctx()).keep(other, said)
  await house.prepare({ texts })
  await house.finish()
  const paths = nativeGit(house.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons/', 'assets/']).split('\n')
  expect(paths.filter((path) => path.includes('/talk-with-erased')).length).toBe(2)
  expect(paths).toEqual(expect.arrayContaining(['assets/Erased-2.yaml', 'assets/Erased.yaml']))
  expect(await sourceTexts(house.ctx()).has(other)).toBe(true)
  const handbook = (await house.ctx().knowledgeBases.all()).filter(({ slug }) => slug === 'handbook')
  expect((await verify(house.ctx(), handbook)).kbs.flatMap(({ problems }) => problems)).toEqual([])
  await sourceTexts(house.ctx()).remove(other)
  await house.reopen()
  expect(
    holders(house.dataDir, house.gitDir, ['Quist', 'quist', 'Leeds', 'ann-leeds', 'xample.org', 'xample.ORG']),
  ).toEqual([])
})

test('a text goes from what the server writes otherwise: files that feedback names, filters that people saved, questions, and a file on its way', async () => {
  const house = await newHouse()
  const { users } = house.ctx()
  const person = await users.create({ email: 'ann@example.org', name: 'Ann', passwordHash: null }, new Date())
  await users.setRole(person?.id ?? '', house.tenantId, 'curator')
  const text = 'Zeb_Quist@x.org (é)'
  const path = `/queue?${new URLSearchParams({ q: text })}`
  await users.setFilters(person?.id ?? '', house.tenantId, [{ name: `Of ${text}`, path }])
  const citations = [{ documentId: '', path: '', filename: `${text}.pdf` }]
  const vote = { vote: 'down', reason: 'No', question: 'Who?', answer: 'He.', pageUrl: `x:${path}`, citations } as const
  await submitFeedback(house.ctx(), house.app, 'handbook', vote)
  const { askedQuestions } = house.ctx()
  for (const question of [`Where is ${text}?`, 'Where is he?'])
    await askedQuestions.note(house.kbId, questionKey(question), { asked: 1 }, new Date())
  await askedQuestions.noteOpened(house.kbId, questionKey(`Where is ${text}?`), 'handbook_00000001')
  const { uploadBytes } = house.ctx()
  const upload = { filename: 'x.md', fileSize: 99, path: '/', metadata: null }
  const { uploadId } = await beginUpload(house.ctx(), house.app, 'handbook', upload, { force: false, replace: false })
  await uploadBytes.append(uploadId, { start: 0, bytes: Readable.from([Buffer.from(text)]) }, async () => 0)
  await house.prepare({ texts: [text] })
  await house.finish()
  await house.sound()
  await house.reopen()
  expect(holders(house.dataDir, house.gitDir, ['Quist', 'quist'])).toEqual([])
  const [membership] = await house.ctx().users.memberships(person?.id ?? '')
  expect(membership?.filters).toEqual([{ name: 'Of Erased', path: '/queue?q=Erased' }])
  const asked = await house.ctx().askedQuestions.list(house.kbId, { order: 'asked', offset: 0, limit: 9 })
  expect(asked.map(({ question }) => question)).toEqual(['where is he'])
})

test('a text goes in the forms that the server and HTML make of it: names of one word and of digits, entities, emphasis, cut titles', async () => {
  const house = await newHouse()
  const phone = '+49 170 5551234'
  const long =
    'The list of all numbers that the people at the reception of the large building in the north may call at night'
  const pages = [
    { title: 'Quentinsonderzug', content: 'See [one](quentinsonderzug.md), [two](#quentinsonderzug).' },
    {
      title: `Phone list ${phone}`,
      content: 'Call +49&nbsp;170&#160;5551234, **+49** 170 <b>5551234</b>, or &plus;49 170 5551234.',
    },
    { title: 'Bjørn Åström', content: 'Bj&oslash;rn &Aring;str&ouml;m, *Bjørn* __Åström__, Bjørn\u00a0Åström.' },
    { title: `${long} ${phone}`, content: 'A title that is cut.' },
    { title: 'Other', content: 'The R&amp;D &copy; of 49 &lt;170&gt; stays, quentinsonderzug in lower case too.' },
  ]
  for (const page of pages) await house.approve(await house.propose(candidate(page)))
  const other = candidate({
    title: 'Tagged',
    content: 'Words.',
    metadata: JSON.stringify({ tags: ['knurrhahn', 'internal'] }),
  })
  const { seqId } = Object(await house.approve(await house.propose(other)))
  await house.prepare({ neurons: [seqId], texts: ['Quentinsonderzug', phone, 'Bjørn Åström'] })
  await house.finish()
  await house.sound()
  const paths = nativeGit(house.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons/'])
  expect(paths).not.toMatch(/quentin|5551|bjorn/)
  const { content } = await readNeuron(house.ctx(), house.curator, { kb: 'handbook', seqId: 'handbook_00000005' })
  expect(content).toContain('R&amp;D &copy; of 49 &lt;170&gt; stays, quentinsonderzug in lower case')
  const events = await house.ctx().database.db.selectFrom('events').select('candidate').execute()
  expect(JSON.stringify(events)).toContain('internal')
  await house.reopen()
  const left = [
    'knurrhahn',
    'Quentin',
    'quentinsonderzug.md',
    '#quentin',
    '5551234',
    '170 555',
    'oslash',
    'Åström',
    'bjorn',
  ]
  expect(holders(house.dataDir, house.gitDir, left)).toEqual([])
})

test('feedback on answers that cited a page goes with it, whether it waits or became a page', async () => {
  const house = await newHouse()
  const secret = candidate({ title: 'Quist', content: 'Quist lives in Xanadu, at the quay of the river.' })
  const { seqId, documentId } = Object(await house.approve(await house.propose(secret)))
  const { seqId: other } = Object(await house.approve(await house.propose(candidate({ title: 'Other' }))))
  const vote = async (changes: Partial<FeedbackInput>) => {
    const said = { vote: 'down', reason: 'No', question: 'Where?', answer: 'In Xanadu.', ...changes } as const
    return (await submitFeedback(house.ctx(), house.app, 'handbook', said)).candidateId
  }
  const cited = (id: string) => ({ citations: [{ documentId: id, path: '', filename: 'Page' }] })
  const waiting = [await vote(cited(seqId)), await vote(cited(documentId)), await vote({ shouldCite: seqId })]
  const { seqId: approved } = Object(await house.approve(await vote({ ...cited(seqId), vote: 'flag' })))
  const stays = await vote({ ...cited(other), answer: 'Elsewhere.' })
  const plan = await house.prepare({ neurons: [seqId] })
  expect(plan.seqIds).toEqual([seqId, approved])
  expect(plan.pending.toSorted()).toEqual(waiting.toSorted())
  await house.finish()
  await house.sound()
  const { read } = (await house.ctx().kb(house.tenantId, 'handbook')).projection
  expect(findCandidate(read, stays)).toMatchObject({ status: 'pending', title: 'Feedback: Where?' })
  await house.reopen()
  expect(holders(house.dataDir, house.gitDir, ['Xanadu'])).toEqual([])
})

test('pages that were pushed to where an erased page once stood stay', async () => {
  const house = await newHouse()
  const { seqId } = Object(await house.approve(await house.propose(candidate({ title: 'Quist' }))))
  const native = new NativeWriter(house.gitDir)
  const [path = ''] = nativeGit(house.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons/']).split('\n')
  const quist = nativeGit(house.gitDir, ['show', `main:${path}`])
  const places = ['neurons/one.md', 'neurons/two.md']
  for (const [at, place] of places.entries())
    native.commit(
      mainRef,
      new Map([
        [[path, ...places][at] ?? '', null],
        [place, quist],
      ]),
    )
  native.commit(mainRef, new Map([['neurons/two.md', null]]))
  const pushed = places.map((place) => [place, `---\ntitle: ${place}\n---\n\nWhat stays at ${place}.\n`] as const)
  native.commit(mainRef, new Map(pushed))
  const numbered = pushed.map(
    ([place, text], at) => [place, text.replace('---', `---\nseqId: handbook_0000000${at + 2}`)] as const,
  )
  native.commit(mainRef, new Map(numbered))
  await house.reopen()
  await house.prepare({ neurons: [seqId] })
  await house.finish()
  for (const [place, text] of pushed) expect(nativeGit(house.gitDir, ['show', `main^:${place}`])).toBe(text.trim())
})

test('a text of what hides a page or a candidate is refused, and words by which rows work stay', async () => {
  const house = await newHouse()
  const hidden = { tags: ['internal/hr'], audience: ['student'] }
  const page = { title: 'Page', content: 'A page of interns.', metadata: JSON.stringify(hidden) }
  await house.propose(candidate({ ...page, title: 'It waits' }))
  for (const text of ['intern', 'student'])
    await expect(house.prepare({ texts: [text] })).rejects.toThrow('hides a page')
  const { seqId } = Object(await house.approve(await house.propose(candidate(page))))
  for (const text of ['intern', 'student'])
    await expect(house.prepare({ texts: [text] })).rejects.toThrow('hides a page')
  await addSource(house.ctx(), { kbId: house.kbId, filename: 'ready for interns.md', status: 'ready' })
  await house.prepare({ texts: ['interns', 'ready'] })
  await house.finish()
  expect(await house.ctx().sources.all(house.kbId)).toMatchObject([
    { filename: 'Erased for Erased.md', status: 'ready' },
  ])
  expect(await readNeuron(house.ctx(), house.curator, { kb: 'handbook', seqId })).toMatchObject({ tags: hidden.tags })
})

test('a message that is no UTF-8 keeps its bytes', async () => {
  const house = await newHouse()
  await house.approve(await house.propose(candidate({ title: 'Page', content: 'A page.' })))
  const raw = join(tempDir(), 'commit')
  const tree = nativeGit(house.gitDir, ['rev-parse', 'main^{tree}'])
  const by = 'Zeb Quist <z@example.org> 1700000000 +0000'
  const message = `Grüße von Zeb Quist`
  writeFileSync(raw, `tree ${tree}\nauthor ${by}\ncommitter ${by}\nencoding ISO-8859-1\n\n${message}\n`, 'latin1')
  const foreign = nativeGit(house.gitDir, ['hash-object', '-t', 'commit', '-w', raw])
  const merge = nativeGit(house.gitDir, ['commit-tree', tree, '-p', 'main', '-p', foreign, '-m', 'Merge'])
  nativeGit(house.gitDir, ['update-ref', mainRef, merge])
  await house.prepare({ texts: ['Zeb Quist'] })
  await house.finish()
  expect(nativeGit(house.gitDir, ['log', '-1', '--format=%an: %s', 'main^2'])).toBe('Erased: Grüße von Erased')
  await house.sound()
})

test('answer tests that a candidate carries go with its page, and lose a text as the files of main do', async () => {
  const house = await newHouse()
  const { curator, gitDir } = house
  const write = async (files: Record<string, string>) => {
    const native = new NativeWriter(gitDir)
    native.commit(mainRef, new Map(Object.entries(files)))
    return native.git('rev-parse', `${mainRef}:${Object.keys(files)[0]}`)
  }
  const page = await house.propose(candidate({ title: 'Quist', content: 'Quist lives at the quay of the river.' }))
  const { seqId } = Object(await house.approve(page))
  const base = await write({ 'tests/a.yaml': '- question: Where is Xanadu?\n  refuses: true\n' })
  const carrying = async (id: string, text: string) => {
    const kb = await house.ctx().kb(house.tenantId, 'handbook')
    await kb.write(async (staging) => {
      const record = parseCandidate(await staging.readText(findCandidate(kb.projection.write, id)?.blob ?? ''))
      const candidates = [{ ...record, tests: [{ path: 'tests/a.yaml', base, text }] }]
      await commitToQueue(kb, staging, candidates, { by: curator, at: new Date(), message: 'Carry' })
    })
  }
  const erased = await house.propose(correction(seqId, 'Quist lives on the quay.', { title: 'Quist' }))
  const stays = await house.propose(candidate({ title: 'Other', content: 'Another page, which stays.' }))
  await carrying(erased, '- question: Where does Quist live?\n  contains: [quay]\n')
  await carrying(stays, '- question: Where is Xanadu?\n  refuses: true\n- question: Who?\n  refuses: true\n')

  await house.prepare({ neurons: [seqId], texts: ['Xanadu'] })
  await house.finish()
  const kb = await house.ctx().kb(house.tenantId, 'handbook')
  const recordOf = async (id: string) =>
    parseCandidate(await kb.repository.readText(findCandidate(kb.projection.read, id)?.blob ?? ''))
  expect((await recordOf(erased)).tests).toBeUndefined()
  expect((await recordOf(stays)).tests).toEqual([
    {
      path: 'tests/a.yaml',
      base: nativeGit(gitDir, ['rev-parse', `${mainRef}:tests/a.yaml`]).trim(),
      text: '- question: Where is Erased?\n  refuses: true\n- question: Who?\n  refuses: true\n',
    },
  ])
  expect(await house.approve(stays)).toMatchObject({ status: 'approved' })
  await house.sound()
})

test('a push that has a commit of before is refused, also after another erasure', async () => {
  const house = await newHouse()
  const { seqId } = Object(
    await house.approve(await house.propose(candidate({ title: 'Quist', content: 'Lives in Xanadu.' }))),
  )
  const clone = join(tempDir(), 'clone')
  nativeGit(house.dataDir, ['clone', '--quiet', house.gitDir, clone])
  for (const changes of [{ neurons: [seqId] }, { texts: ['This version'] }]) {
    await house.prepare(changes)
    await house.finish()
    nativeGit(clone, ['fetch', '--quiet', 'origin', '+main:fresh'])
    nativeGit(clone, ['checkout', '--quiet', '-B', 'merged', 'fresh'])
    nativeGit(clone, ['merge', '--quiet', '--strategy=ours', '--message', 'Bring it back', 'main'])
    const [from, to] = ['fresh', 'merged'].map((name) => nativeGit(clone, ['rev-parse', name]))
    const kb = await house.ctx().kb(house.tenantId, 'handbook')
    const repository = new Repository(kb.repository.gitDir, { quarantine: join(clone, '.git', 'objects') })
    const range = { from: from ?? '', to: to ?? '' }
    const findings = await checkPush(kb, { repository, ...range }).finally(() => repository.close())
    expect(findings).toMatchObject([{ rule: 'erased-history', severity: 'error' }])
  }
})

test('citations of pages that stay keep their answers after erasures, whatever names the commit', async () => {
  const house = await newHouse()
  const approved = async (title: string, content: string) =>
    Object(await house.approve(await house.propose(candidate({ title, content })))) as { seqId: string; commit: string }
  const erased = await approved('Quist', 'Lives in Xanadu.')
  const kept = await approved('Kept', 'First words of Orpheus.')
  const target = { kind: 'user-correction', metadata: JSON.stringify({ targetNeuron: kept.seqId }) } as const
  const changed = Object(
    await house.approve(await house.propose(candidate({ title: 'Kept', content: 'Second words.', ...target }))),
  )
  const other = await approved('Other', 'Of Orpheus.')
  const cited = [
    ...[kept.commit, changed.commit, other.commit].map((commit) => ({ seqId: kept.seqId, commit })),
    { seqId: other.seqId, commit: other.commit },
  ]
  const reads = (names: typeof cited) =>
    Promise.all(
      names.map(async ({ seqId, commit: at }) => {
        const { content, version } = await readNeuron(house.ctx(), house.curator, { kb: 'handbook', seqId, at })
        return { content, version }
      }),
    )
  const before = await reads(cited)
  expect(before.map(({ version }) => version)).toEqual([1, 2, 2, 1])
  // The second erasure replaces commits that the first has made.
  for (const changes of [{ neurons: [erased.seqId] }, { texts: ['This version'] }]) {
    await house.prepare(changes)
    await house.finish()
    expect(await reads(cited)).toEqual(before)
    expect(await reads(cited.map(({ seqId, commit }) => ({ seqId, commit: commit.slice(0, 12) })))).toEqual(before)
    await house.sound()
  }
  const mirror = join(tempDir(), 'mirror.git')
  nativeGit(house.dataDir, ['clone', '--quiet', '--mirror', house.gitDir, mirror])
  const map = nativeGit(mirror, ['cat-file', 'blob', 'refs/ganglion/erased:commits'])
  expect(map).toMatch(/^(?:[0-9a-f]{40} [0-9a-f]{40}\n?)+$/)
  const lines = map.trim().split('\n')
  const newIds = new Set(nativeGit(mirror, ['rev-list', '--all']).split('\n'))
  for (const { commit } of cited) {
    const now = lines.find((line) => line.startsWith(commit))?.slice(41) ?? ''
    expect(newIds).toContain(now)
  }
  const given = { kb: 'handbook', seqId: kept.seqId }
  const metadata = JSON.stringify({ targetNeuron: kept.seqId, baseCommit: changed.commit })
  const stale = candidate({ title: 'Kept', content: 'Third words.', kind: 'user-correction', metadata })
  await house.approve(await house.propose(stale))
  expect((await readNeuron(house.ctx(), house.curator, given)).content).toContain('Third words.')
})

test.each(['written', 'decided', 'switched', 'removed', 'rewritten'] as const)(
  'an erasure that is cut off after "%s" is either not begun, or is finished by the next',
  async (last) => {
    const house = await newHouse()
    const { seqId } = Object(
      await house.approve(await house.propose(candidate({ title: 'Quist', content: 'Lives in Xanadu.' }))),
    )
    const { seqId: kept } = Object(
      await house.approve(await house.propose(candidate({ title: 'Kept', content: 'Stays.' }))),
    )
    const before = { erased: await house.told(seqId), kept: await house.told(kept) }
    const cut = (step: ErasureStep) => {
      if (step === last) throw new Error('cut off')
    }
    const cutOff = async () => {
      await house.prepare({ neurons: [seqId] }, cut)
      await house.finish(cut)
    }
    await expect(cutOff()).rejects.toThrow('cut off')
    if (last === 'written') {
      await house.reopen()
      expect(await house.told(seqId)).toEqual(before.erased)
      await house.sound()
      await house.prepare({ neurons: [seqId] })
    } else await expect(openContext({ dataDir: house.dataDir, threads })).rejects.toThrow('ganglion erase --resume')
    await house.finish()
    expect(await house.told(kept)).toEqual(before.kept)
    await house.sound()
    await house.reopen()
    expect(holders(house.dataDir, house.gitDir, ['Quist', 'Xanadu'])).toEqual([])
  },
)

const edit = fc.record({
  does: fc.constantFrom('add', 'change', 'change', 'rename', 'remove', 'leave', 'talk', 'test', 'name', 'move', 'undo'),
  page: fc.nat(9),
  isSecret: fc.boolean(),
})

test('whatever the history, a page and a text are gone, and every other version of a page is as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 3, maxLength: 9 }), fc.boolean(), async (edits, isText) => {
      const house = await newHouse()
      const first = await house.propose(
        candidate({ title: 'Needle Qzx zero', content: 'Needle Qzx opens the history.' }),
      )
      const { seqId: erased } = Object(await house.approve(first))
      const pages = new Map<string, string>([[erased, 'Needle Qzx zero']])
      for (const [at, { does, page, isSecret }] of edits.entries()) {
        const [seqId = '', title = ''] = [...pages][page % pages.size] ?? []
        // Only the page that is erased whole has the word, unless it is erased as a text.
        const word = seqId === erased || (isText && isSecret) ? 'Needle Qzx' : 'Plain word'
        const content = `${word} of step ${at}.\n\nIt has [[Other ${at}]].\n`
        if (does === 'add') {
          const text = isText && isSecret ? 'Needle Qzx' : 'Plain word'
          const added = Object(
            await house.approve(await house.propose(candidate({ title: `${text} ${at}`, content: `${text} ${at}` }))),
          )
          pages.set(added.seqId, `${text} ${at}`)
        } else if (does === 'leave' || does === 'talk') {
          const id = await house.propose(correction(seqId, content, { title }))
          const comment = `${isText ? 'Needle Qzx' : 'Plain'} comment ${at}`
          if (does === 'talk') await commentCandidate(house.ctx(), house.curator, id, { comment })
          if (does === 'talk' && isSecret) await dismissCandidate(house.ctx(), house.curator, id, { reason: comment })
        } else if (does === 'test') {
          const question = `Is it ${isText ? 'Needle Qzx' : 'plain'} ${at}?`
          await addAnswerTest(house.ctx(), house.curator, 'handbook', {
            question,
            audience: 'curator',
            top: 5,
            refuses: true,
          })
        } else if (does === 'name' || does === 'move') {
          const { commit: base } = await openPage(house.ctx(), house.curator, { kb: 'handbook', seqId, at: undefined })
          const write =
            does === 'name'
              ? { changes: { aliases: [`${word} named ${at}`] } }
              : { changes: {}, path: `neurons/${word}/${at}.md` }
          const options = { kb: 'handbook', candidateId: candidateIdFor(house.kbId), publish: true }
          await writePage(house.ctx(), house.curator, { target: { seqId, base }, ...write }, options)
        } else if (does === 'undo') {
          const of = { by: 'key', writer: 'app', since: '2026-01-01T00:00:00Z', dryRun: false } as const
          await proposeUndo(house.ctx(), house.curator, 'handbook', of)
        } else if (does === 'remove' && seqId !== erased) {
          await house.approve(await house.propose(correction(seqId, 'gone', { title }), true))
          pages.delete(seqId)
        } else {
          const renamed = does === 'rename' ? `${word} renamed ${at}` : title
          pages.set(seqId, renamed)
          await house.approve(await house.propose(correction(seqId, content, { title: renamed })))
        }
      }
      const others = [...pages.keys()].filter((seqId) => seqId !== erased)
      const toldOf = () => Promise.all(others.map((seqId) => house.told(seqId)))
      const before = JSON.stringify(await toldOf())
      const { dir, said } = await house.cloned()
      expect(said).toContain('Needle Qzx')
      await house.prepare(isText ? { texts: ['Needle Qzx'] } : { neurons: [erased] })
      await house.finish()
      const lower = (text: string) => text.replaceAll('Needle Qzx', 'Erased')
      const after = JSON.stringify(await toldOf())
      if (isText) expect(after.replaceAll(/"path":"[^"]*"/g, '')).toBe(lower(before).replaceAll(/"path":"[^"]*"/g, ''))
      else expect(after).toBe(before)
      await house.sound()
      await house.reopen()
      expect(holders(house.dataDir, house.gitDir, ['Needle Qzx'])).toEqual([])
      expect(existsSync(dir)).toBe(false)
      expect((await house.cloned()).said).not.toContain('Needle Qzx')
    }),
    { numRuns: runs(6, 2) },
  )
})
