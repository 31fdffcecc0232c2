import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chat } from '../../../src/chat/answer-question.ts'
import { ExtractPool } from '../../../src/chat/extract/extract-pool.ts'
import { createKnowledgeBase, operator, templateDir } from '../../../src/kb/create-kb.ts'
import { importDirectory } from '../../../src/operate/import/import-directory.ts'
import { submitExamples } from '../../../src/operate/setup/first-run.ts'
import { createApiKey } from '../../../src/people/manage-api-keys.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

let started: Console
let admin: Browser
beforeAll(async () => {
  started = await startConsole()
  const { ctx, tenantId } = started
  admin = await started.browser('admin', { name: 'Ada' })
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'demo' })
  const demo = await ctx.kb(tenantId, 'demo')
  const { now } = ctx
  await importDirectory(demo, join(templateDir, 'neurons'), { actor: operator, now, source: 'ganglion' })
  await submitExamples(ctx, demo)
  await submitExamples(ctx, demo)
})
afterAll(() => started.close())

type Page = Awaited<ReturnType<Browser['get']>>
const ticks = (page: Page) =>
  [...page.document.querySelectorAll('.tour li')].map((step) => step.classList.contains('done'))
const links = (page: Page) =>
  [...page.document.querySelectorAll('.tour li a')].map((link) => link.getAttribute('href') ?? '')

test('three examples wait: a new page, a correction, and a question of the red zone', async () => {
  const queue = await admin.get('/queue?kb=demo')
  expect(queue.texts('[data-entry] h2')).toEqual([
    'A reader asks: how long does a candidate wait?',
    'How a curator reviews',
    'Start here: say where to begin as a curator',
  ])
})

test('an administrator is led through five steps, each ticked by what has been done', async () => {
  const begin = await admin.get('/')
  expect(begin.texts('.tour h2, .tour > p')).toEqual(['The first five minutes', '0 of 5 done.'])
  expect(ticks(begin)).toEqual([false, false, false, false, false])
  const [candidate = '', chatPath, keys] = links(begin)
  expect([chatPath, keys]).toEqual(['/kb/demo/chat', '/settings/keys'])
  expect((await admin.get(candidate)).texts('h1').join()).toContain('A reader asks')

  // In the order in which a person who likes the second one better would decide.
  const { ctx, tenantId } = started
  const ada = { id: `user:${admin.userId}`, name: 'Ada', tenantId, role: 'curator' as const, connectors: [] }
  const queue = await admin.get('/queue?kb=demo')
  const page = [...queue.document.querySelectorAll('[data-entry] h2 a')].find(({ textContent }) =>
    textContent.includes('How a curator reviews'),
  )
  const id = new URL(page?.getAttribute('href') ?? '', 'http://x').pathname.split('/').at(-1) ?? ''
  const { seqId } = await approveCandidate(ctx, ada, id, {})
  expect(ticks(await admin.get('/kb/demo'))).toEqual([true, false, false, false, false])
  expect((await admin.post('/tour', { step: 'read' })).headers.location).toBe(`/kb/demo/neurons/${seqId}`)
  expect((await admin.post('/tour', { step: 'search' })).headers.location).toBe('/kb/demo/search?q=curator')
  expect(ticks(await admin.get('/'))).toEqual([true, true, true, false, false])

  const question = {
    message: 'Who decides?',
    knowledgeBaseId: 'demo',
    history: [],
    sessionId: undefined,
    audience: undefined,
  }
  const answer = chat(ctx, ctx.threads.of(ExtractPool), ada, question, AbortSignal.timeout(60_000))
  while (!(await answer.next()).done);
  await createApiKey(ctx, { ...ada, isAdmin: true }, { name: 'mine', role: 'app', connectors: [], expiresAt: null })
  const end = await admin.get('/')
  expect(end.texts('.tour > p')).toEqual(['You have seen it all.'])
})

test('the tour is put away for good, and is for administrators of the demonstration only', async () => {
  const other = await started.browser('admin', { email: 'bo@example.com', name: 'Bo' })
  expect((await other.get('/')).texts('.tour h2')).toHaveLength(1)
  expect((await other.get('/kb/handbook')).texts('.tour h2')).toHaveLength(0)
  expect((await other.post('/tour', { step: 'dismissed' })).headers.location).toBe('/')
  expect((await other.get('/')).texts('.tour h2')).toHaveLength(0)
  expect((await admin.get('/')).texts('.tour h2')).toHaveLength(1)
  const curator = await started.browser('curator')
  expect((await curator.get('/')).texts('.tour h2')).toHaveLength(0)
  expect((await curator.post('/tour', { step: 'read' })).status).toBe(403)
  expect((await admin.post('/tour', { step: 'fly' })).status).toBe(400)
})
