import { expect, onTestFinished, test } from 'vitest'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { startConsole } from '../support.ts'
import { deskForFile, hostile } from './desk.ts'

const desk = deskForFile()

test('a candidate is tried: asked, found and read with the change in place, below a banner that leads back', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Escalation', content: 'Page the lead.' })
  const id = await kb.correct(seqId, 'The on-call deputy is Ada. See [[Escalation]].', { title: 'Escalation' })
  const queued = await curator.get(`/queue/${id}`)
  expect(queued.document.querySelector('a[data-try]')?.getAttribute('href')).toBe(`/preview/${id}`)

  const begin = await curator.get(`/preview/${id}`)
  expect([begin.texts('h1'), begin.texts('.preview strong')]).toEqual([['Try it'], ['Preview.']])
  expect(begin.document.querySelector(`.preview a[href="/queue/${id}"]`)).not.toBeNull()
  const asked = await curator.get(`/preview/${id}?q=${encodeURIComponent('Who is the on-call deputy?')}`)
  expect(asked.texts('.answer')[0]).toContain('Ada')
  expect(asked.texts('.hits h3')).toEqual(['Escalation'])
  const below = `/preview/${id}/kb/${kb.slug}`
  expect(asked.document.querySelector('.hits a')?.getAttribute('href')).toBe(`${below}/neurons/${seqId}`)

  const read = await curator.get(`${below}/neurons/${seqId}`)
  expect(read.texts('main')[0]).toContain('The on-call deputy is Ada.')
  expect(read.texts('.preview a')[0]).toBe('Escalation')
  const markdown = read.document.querySelector('a[href*=".md"]')?.getAttribute('href')
  expect(markdown).toBe(`${below}/neurons/${seqId}.md`)
  expect((await curator.get(`${markdown}`)).body).toContain('The on-call deputy is Ada.')
  expect((await curator.get(`/kb/${kb.slug}/neurons/${seqId}.md`)).body).toContain('Page the lead.')
  const found = await curator.get(`${below}/search?q=deputy`)
  expect(found.texts('.hits h2')).toEqual(['Escalation'])
  expect(found.document.querySelector('#search')?.getAttribute('action')).toBe(`${below}/search`)
  expect((await curator.get(`${below}/graph`)).status).toBe(200)
  expect((await curator.get(`${below}/tree`)).texts('.preview')).toHaveLength(1)

  const today = await curator.get(`/kb/${kb.slug}/neurons/${seqId}`)
  expect(today.texts('main')[0]).toContain('Page the lead.')
  expect(today.texts('.preview')).toEqual([])
})

test('what would conflict is named in the banner; a title is text; what is unknown has no preview', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Escalation', content: 'Page the lead.' })
  const one = await kb.correct(seqId, 'Page the deputy.', { title: hostile })
  const two = await kb.correct(seqId, 'Page nobody.', { title: 'Nobody' })
  const both = await curator.get(`/preview/${one},${two}`)
  expect(both.texts('.preview .warning')[0]).toContain('Left out, since it cannot be approved: Nobody.')
  expect(both.texts('.preview a')[0]).toContain('<img src=x onerror=alert(2)>')
  expect((await curator.get('/preview/nothing')).status).toBe(404)
  expect((await curator.get(`/preview/${one.replace(/^./, 'f')}`)).status).toBe(404)
})

test('a page of a preview offers nothing that is done to the page on main, and has no history of its own', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Escalation', content: 'Page the lead.' })
  const id = await kb.correct(seqId, 'Page the deputy.', { title: 'Escalation' })
  const read = await curator.get(`/preview/${id}/kb/${kb.slug}/neurons/${seqId}`)
  expect([read.texts('h1'), read.texts('.actions'), read.texts('.page-facts a')]).toEqual([['Escalation'], [], []])
  for (const path of ['history', 'blame'])
    expect((await curator.get(`/preview/${id}/kb/${kb.slug}/neurons/${seqId}/${path}`)).status).toBe(404)
  const today = await curator.get(`/kb/${kb.slug}/neurons/${seqId}`)
  expect(today.texts('.actions a')).toEqual(['Edit', 'Rename', 'Remove'])
})

test('where somebody has decided meanwhile, a preview leads to the page that says so', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit({ title: 'Lunch' })
  await kb.approve(id)
  for (const path of ['', `/kb/${kb.slug}/tree`]) {
    const { status, headers } = await curator.get(`/preview/${id}${path}`)
    expect([status, headers.location]).toEqual([303, `/queue/${id}`])
  }
})

test('below a path of its host, too, links lead on within the preview', async () => {
  const console = await startConsole({ publicUrl: 'http://localhost/wiki' })
  onTestFinished(() => console.close())
  const { ctx, tenantId } = console
  const app = { id: 'key:app', name: 'The app', tenantId, role: 'app', connectors: [] } as const
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Rota', content: 'Ada is on call.' }))
  const curator = await console.browser('curator')
  const page = await curator.get(`/preview/${candidateId}/kb/handbook/search?q=call`)
  const links = [page.document.querySelector('.hits a'), page.document.querySelector('.preview a')]
  expect(links.map((link) => link?.getAttribute('href'))).toEqual([
    `/wiki/preview/${candidateId}/kb/handbook/neurons/handbook_00000001?for=call`,
    `/wiki/queue/${candidateId}`,
  ])
})

test('a reader has no preview', async () => {
  const { browser, newKb } = desk()
  const [reader, kb] = [await browser('reader'), await newKb()]
  const id = await kb.submit({ title: 'Secret plan' })
  for (const path of ['', `/kb/${kb.slug}/tree`, `/kb/${kb.slug}/search?q=plan`]) {
    const page = await reader.get(`/preview/${id}${path}`)
    expect([page.status, page.texts('body')[0]?.includes('Secret plan')]).toEqual([404, false])
  }
})
