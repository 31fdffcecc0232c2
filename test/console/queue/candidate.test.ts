import { expect, test } from 'vitest'
import { sourceSection } from '../../../src/console/queue/facts.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { valueIn } from '../neurons/editor/forms.ts'
import { visit } from '../support.ts'
import { deskForFile, follow, formOf, hostile } from './desk.ts'

const desk = deskForFile()

test('a candidate shows what it changes, in four ways, and all that one decides by', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({
    title: 'Escalation',
    content: 'Page the lead.\n\nSee [[Old]].',
    metadata: '{"tags":["one"]}',
  })
  const id = await kb.correct(seqId, 'Page the deputy.\n\nSee [[Escalation]].', {
    title: 'Deputies',
    metadata: JSON.stringify({ targetNeuron: seqId, tags: ['two'] }),
    confidence: 0.5,
  })
  const page = await curator.get(`/queue/${id}`)
  expect(page.texts('h1')).toEqual(['Deputies'])
  expect(page.texts('header p')[0]).toContain('Changes Escalation')
  expect([page.texts('.page-diff del'), page.texts('.page-diff ins')]).toEqual([['lead'], ['deputy']])
  expect(page.texts('#decide')[0]).toContain('Why it waits: its confidence of 50 % is too low')
  expect(page.texts('.fields ins')).toContain('two')
  expect(page.texts('.links li')).toEqual(['Escalation', 'Old leads nowhere'])
  expect(page.texts('.steps li')[0]).toContain('The app proposed it')

  const lines = await curator.get(`/queue/${id}?show=lines`)
  expect(lines.texts('.diff del')).toContain('lead')
  expect(lines.texts('.diff ins')).toContain('deputy')
  expect((await curator.get(`/queue/${id}?show=split`)).texts('.diff tbody tr').length).toBeGreaterThan(1)
  expect((await curator.get(`/queue/${id}?show=sides`)).texts('.side h3')).toEqual(['Before', 'After'])
})

test('deciding opens the next candidate of the filter, says what was done, and a dismissal is undone', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const filter = `kb=${kb.slug}&text=tram&show=lines`
  const [one, two] = [await kb.submit({ title: 'Tram one' }), await kb.submit({ title: 'Tram two' })]
  await kb.submit({ title: 'Bus' })
  const first = await curator.get(`/queue/${one}?${filter}`)
  expect(first.texts('.around')[0]).toContain('2 in this filter')
  const { action, fields } = formOf(first, '/dismiss')
  const second = await follow(curator, await curator.post(action, { ...fields, reason: 'No.' }))
  expect(second.texts('h1')).toEqual(['Tram two'])
  expect(second.texts('.notice p')).toEqual(['Dismissed Tram one.'])
  expect(second.document.querySelector('.around a[rel="prev"]')).toBeNull()

  const undo = formOf(second, '/reopen')
  const back = await follow(curator, await curator.post(undo.action, undo.fields))
  expect(back.texts('h1')).toEqual(['Tram one'])
  expect(back.texts('.notice')).toEqual(['Tram one waits in the queue again.'])

  const approve = formOf(second, '/approve')
  const list = await follow(curator, await curator.post(approve.action, approve.fields))
  expect(list.texts('.notice p')).toEqual(['Approved Tram two. See the page'])
  expect(list.texts('[data-entry] h2')).toEqual(['Tram one'])
  expect((await curator.get(`/queue/${two}`)).texts('.steps li').at(-1)).toContain('Cora Curator approved it')
})

test('an approval is taken back by a proposal of its own, which says so', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit({ title: 'Hasty' })
  const approve = formOf(await curator.get(`/queue/${id}`), '/approve')
  await curator.post(approve.action, approve.fields)
  const done = await curator.get(`/queue/${id}`)
  expect(done.texts('#decide')[0]).toContain('An approval stays in the history.')
  const reverse = formOf(done, '/reverse')
  const proposal = await follow(curator, await curator.post(reverse.action, reverse.fields))
  expect(proposal.texts('header p')[0]).toContain('Removes Hasty')
  const accept = formOf(proposal, '/approve')
  const list = await follow(curator, await curator.post(accept.action, accept.fields))
  expect(list.texts('.notice p')[0]).toMatch(/^Approved Hasty/)
})

test('a candidate is edited before it is approved; what was not touched stays as it was', async () => {
  const { curator, newKb, ctx, tenantId } = desk()
  const kb = await newKb()
  const content = 'line one\n\nline two\n'
  const id = await kb.submit({ title: 'Draft', content, metadata: '{"tags":["a","b"]}' })
  const page = await curator.get(`/queue/${id}?edit=1`)
  expect(page.texts('#decide button')).toEqual(['Dismiss']) // approving would throw the edit away
  const edit = page.document.querySelector('form.edit')
  expect(edit?.querySelector('textarea')?.textContent).toBe(`\n${content}`)
  const { fields } = formOf(page, '/approve')
  const seen = { seen: fields.seen ?? '' }
  const answer = await curator.post(`/queue/${id}/approve`, {
    ...{ ...seen, base: '', title: 'Final', tags: 'a, #c', content: 'line one\r\n\r\nline three\r\n' },
  })
  expect(answer.status).toBe(303)
  const kbOpen = await ctx.kb(tenantId, kb.slug)
  const [row] = kbOpen.projection.read.all`SELECT blob, title FROM neurons`
  const text = await kbOpen.repository.readText(String(row?.blob))
  expect(row?.title).toBe('Final')
  expect(text).toMatch(/\nline one\n\nline three\n+$/)
  expect(text).toContain('tags: [a, c]')
})

test('where others have to approve it, “Still true” and an edit say what is missing', async () => {
  const { curator, newKb, ctx, tenantId } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Old' })
  const { identity } = await ctx.kb(tenantId, kb.slug)
  const native = new NativeWriter(ctx.directory.repository(identity.id))
  const settings = `${native.git('show', 'main:kb.yaml')}\nauthorMayApprove: false\n`
  native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  const proposed = await follow(curator, await curator.post(`/kb/${kb.slug}/neurons/${seqId}/still-true`, {}))
  expect(proposed.texts('.notice')).toEqual([
    'Proposed. The page changes once this is approved. It needs 1 more approval.',
  ])
  expect(proposed.texts('#decide .soft')).toEqual(['Why it waits: says that the page is still true.'])
  expect(proposed.texts('.fields tbody tr')).toContainEqual(
    expect.stringMatching(/^verified still true on \d{4}-\d\d-\d\d, says Cora Curator$/),
  )

  const id = await kb.submit({ title: 'Draft' })
  const { fields } = formOf(await curator.get(`/queue/${id}?edit=1`), '/approve')
  const edit = { seen: fields.seen ?? '', base: '', title: 'Draft', tags: '', content: 'Other.' }
  const edited = await follow(curator, await curator.post(`/queue/${id}/approve`, edit))
  expect(edited.texts('.notice')).toEqual(['Your version of Draft is saved. Others have to approve it.'])
})

test('who has approved what others have to approve, too, sees so beside the decision, and others do not', async () => {
  const { browser, curator, newKb, ctx, tenantId } = desk()
  const kb = await newKb()
  const { identity } = await ctx.kb(tenantId, kb.slug)
  const native = new NativeWriter(ctx.directory.repository(identity.id))
  const settings = `${native.git('show', 'main:kb.yaml')}\nowners:\n  - { paths: [neurons], people: [legal@example.com] }\n`
  native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  const id = await kb.submit()
  const needed = 'It needs the approval of legal@example.com.'
  const sure = await curator.get(`/queue/${await kb.submit({ confidence: 0.95 })}`)
  expect(sure.texts('#decide .soft')).toEqual([
    'Why it waits: others have to approve this: owners and approvals in kb.yaml say who.',
  ])
  // This server sends no mails.
  expect(sure.texts('#comment .hint').slice(0, 1)).toEqual(['Markdown. Other curators see it.'])
  const shown = async (by: typeof curator) => (await by.get(`/queue/${id}`)).texts('#decide p:not(.soft)')
  expect(await shown(curator)).toEqual([needed])
  await curator.post(`/queue/${id}/approve`, formOf(await curator.get(`/queue/${id}`), '/approve').fields)
  expect(await shown(curator)).toEqual([`You have approved it. ${needed}`])
  expect((await curator.get(`/queue/${id}`)).document.querySelector('form[action*="/approve"]')).toBe(null)
  const owner = await browser('curator', { email: 'legal@example.com' })
  expect(await shown(owner)).toEqual(['It needs your approval.'])
  const list = await owner.get(`/queue?kb=${kb.slug}&for=me`)
  expect(list.texts('.chip.active')).toContain('For me 2')
  expect(list.texts('.entry > .soft')).toContain('It needs your approval.')
  expect((await owner.get('/')).texts('[data-live] > p')).toEqual(['2 candidates for me'])
  expect((await curator.get(`/queue?kb=${kb.slug}&for=me`)).texts('.empty')).toHaveLength(1)
  expect(await shown(await browser('curator', { email: 'another@example.com' }))).toEqual([needed])
})

test('an edit that is refused keeps what was typed, with the problem beside its field', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit({ title: 'Draft' })
  const { fields } = formOf(await curator.get(`/queue/${id}?edit=1`), '/approve')
  const page = await curator.post(`/queue/${id}/approve`, {
    ...{ seen: fields.seen ?? '', base: '', title: 'x'.repeat(501), tags: hostile, content: 'My words' },
  })
  expect(page.status).toBe(400)
  expect(page.texts('#field-title-error')).toEqual(['must be at most 500 characters'])
  expect(page.document.querySelector('#field-tags')?.innerHTML).not.toContain('<')
  expect(page.texts('#field-content')).toEqual(['My words'])
  expect(
    (await curator.post(`/queue/${id}/approve`, { ...fields, content: '' })).texts('#field-content-error'),
  ).toHaveLength(1)
})

test('files that an import names, and that are no Sources here, take no room beside the change', () => {
  const place = { page: undefined, slide: undefined, sheet: undefined, time: undefined }
  const imported = { id: undefined, filename: 'old.pdf', place, text: undefined, isCut: false }
  expect(sourceSection([imported], 'handbook')).toBeUndefined()
  expect(String(sourceSection([imported, { ...imported, id: 'a', filename: 'new.pdf' }], 'handbook'))).not.toContain(
    'old',
  )
})

test('a conflict shows three texts and is solved by an edit', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const picture = `\n![p](data:image/png;base64,${'A'.repeat(4096)})\n`
  const seqId = await kb.add({ title: 'Base', content: 'one\ntwo\nthree\n' })
  const tagged = JSON.stringify({ targetNeuron: seqId, tags: ['clash'] })
  const clash = await kb.correct(seqId, `eins\n${picture}two\nthree\n`, { title: 'Clash', metadata: tagged })
  await kb.approve(await kb.correct(seqId, 'ONE\ntwo\nTHREE\n'))
  const page = await curator.get(`/queue/${clash}`)
  expect(page.texts('.fields del')).toEqual(['VIP escalation policy']) // the title, which is corrected, too
  expect(page.texts('#field-tags')).toEqual(['clash'])
  expect(page.texts('.three h3').slice(0, 3)).toEqual(['Before both changes', 'The page now', 'This candidate'])
  expect(page.texts('.three pre').slice(0, 3)).toEqual(['one', 'ONE', 'eins ![p](data:image/png;base64,… 3 KB)'])
  const tabs = [...page.document.querySelectorAll('#change .tabs a')].map((link) => link.getAttribute('href'))
  expect(tabs.every((href) => href?.includes('edit=1'))).toBe(true)
  expect(page.texts('#decide button')).toEqual(['Dismiss'])
  const { action, fields } = formOf(page, '/approve')
  // What conflicts is marked, and nothing of what others changed is put back by sending the form as it is.
  expect(valueIn(page, 'content')).toMatch(/^<{7} .+\neins\n.+>{7} [^\n]+\ntwo\nTHREE\n$/s)
  const unsolved = await curator.post(action, { ...fields, content: valueIn(page, 'content') ?? '' })
  expect([unsolved.status, unsolved.texts('.problems').join()]).toEqual([400, expect.stringContaining('conflict')])
  const answer = await curator.post(action, { ...fields, content: 'Eins\r\ntwo\r\nTHREE\r\n' })
  expect(answer.status).toBe(303)
  const done = await curator.get(`/queue/${clash}?show=lines`)
  expect(done.texts('.diff tr.added .text')).toEqual(['Eins'])
})

test('an edit that was begun before the page changed is offered again with what others changed', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: 'Base', content: 'one\n\ntwo\n\nthree\n' })
  const id = await kb.correct(seqId, 'eins\n\ntwo\n\nthree\n', { title: 'Base' })
  const { action, fields } = formOf(await curator.get(`/queue/${id}?edit=1`), '/approve')
  await kb.approve(await kb.correct(seqId, 'ONE\n\ntwo\n\nTHREE\n'))
  const refused = await curator.post(action, { ...fields, content: 'Eins\n\ntwo\n\nthree\n' })
  expect(refused.status).toBe(409)
  expect(valueIn(refused, 'content')).toMatch(/^<{7} .+\nONE\n.+\nEins\n>{7} [^\n]+\n\ntwo\n\nTHREE\n$/s)
  expect(refused.texts('.warning')[0]).toContain('between markers')
  const again = formOf(refused, '/approve')
  const solved = 'Eins\n\ntwo\n\nTHREE\n'
  await kb.approve(await kb.correct(seqId, 'ONE\n\ntwo\n\nTHREE\n\nfour\n'))
  const once = await curator.post(again.action, { ...again.fields, content: solved })
  expect(once.status).toBe(409)
  expect(valueIn(once, 'content')).toBe('Eins\n\ntwo\n\nTHREE\n\nfour\n')
  expect(once.texts('.warning')[0]).toContain('is what you wrote')
  const last = formOf(once, '/approve')
  expect((await curator.post(last.action, { ...last.fields, content: valueIn(once, 'content') ?? '' })).status).toBe(
    303,
  )
  const done = await curator.get(`/queue/${id}?show=lines`)
  expect(done.texts('.diff tr.added .text')).toEqual(['Eins'])
})

test('what somebody else decided meanwhile is told, and nothing that was typed is lost', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit({ title: 'Contested' })
  const page = await curator.get(`/queue/${id}?edit=1`)
  const [approve, dismiss] = [formOf(page, '/approve'), formOf(page, '/dismiss')]
  await kb.approve(id)
  const late = await curator.post(dismiss.action, { ...dismiss.fields, reason: 'A good reason' })
  expect(late.status).toBe(409)
  expect(late.texts('.problems')[0]).toMatch(/^Olga Other approved it .* before you\./)
  expect(late.texts('#field-comment')).toEqual(['A good reason'])
  const edited = { seen: approve.fields.seen ?? '', base: '', title: 'Mine', tags: '', content: 'My edit' }
  const lost = await curator.post(approve.action, edited)
  expect(lost.status).toBe(409)
  expect(lost.texts('#lost-title')).toEqual(['Your edit, which was not used'])
  expect(lost.body).toContain('My edit')
})

test('a decision on what has changed since it was opened is not made, and can be made after another look', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ content: 'one\ntwo\nthree\nfour\n' })
  const id = await kb.correct(seqId, 'one\ntwo\nthree\nFOUR\n')
  const { action, fields } = formOf(await curator.get(`/queue/${id}`), '/dismiss')
  await kb.approve(await kb.correct(seqId, 'ONE\ntwo\nthree\nfour\n'))
  const refused = await curator.post(action, { ...fields, reason: 'Typed' })
  expect(refused.status).toBe(409)
  expect(refused.texts('.problems')[0]).toContain('It has changed since you opened it')
  const again = formOf(refused, '/dismiss')
  expect(again.fields.reason).toBe('Typed')
  expect((await curator.post(again.action, again.fields)).status).toBe(303)
  expect((await curator.post(again.action, again.fields)).status).toBe(303) // sent twice
})

test('what was typed while the session ended is shown again after signing in, without scripts', async () => {
  const { curator, newKb, app } = desk()
  const kb = await newKb()
  const id = await kb.submit({ title: 'Long work' })
  const { fields } = formOf(await curator.get(`/queue/${id}?edit=1`), '/approve')
  const typed = { seen: fields.seen ?? '', base: '', title: 'My title', tags: 'mine', content: 'My work' }
  const ended = { ...curator.headers, cookie: 'ganglion=ended' }
  const late = await visit(app, {
    method: 'POST',
    url: `/queue/${id}/approve`,
    headers: { ...ended, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(typed).toString(),
  })
  expect(late.status).toBe(401)
  const kept = formOf(late, '/preview')
  const page = await curator.post(kept.action, kept.fields)
  expect(page.status).toBe(200)
  expect(page.texts('#field-content')).toEqual(['My work'])
  expect((await curator.get(`/queue/${id}`)).texts('#decide-title')).toEqual(['Decide'])
  const again = formOf(page, '/approve')
  expect((await curator.post(again.action, again.fields)).status).toBe(303)
})

test('a comment is kept beside the candidate; a blank one is refused beside its field', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit()
  const { action } = formOf(await curator.get(`/queue/${id}`), '/comment')
  const page = await follow(curator, await curator.post(action, { comment: `**Wait** ${hostile}` }))
  expect(page.texts('.steps strong')).toEqual(['Wait'])
  expect(page.document.querySelectorAll('main script, main img')).toHaveLength(0)
  const refused = await curator.post(action, { comment: '  ' })
  expect(refused.status).toBe(400)
  expect(refused.texts('#field-comment-error')).toEqual(['must not be blank'])
})

test('a comment marks whom it mentions, with a link for who may list people', async () => {
  const { curator, newKb, browser } = desk()
  const kb = await newKb()
  const id = await kb.submit()
  await browser('curator', { email: 'zoe@example.com', name: 'Zoë Lang' })
  await browser('reader', { email: 'rita@example.com', name: 'Rita' })
  const { action } = formOf(await curator.get(`/queue/${id}`), '/comment')
  const comment =
    '@zoe @ZoeLang @rita @nobody `@zoe` [@zoe](https://example.org) x@zoe [x](https://example.org "> @zoe")'
  const page = await follow(curator, await curator.post(action, { comment }))
  expect(page.texts('.steps .content b')).toEqual(['@zoe', '@ZoeLang'])
  expect(page.document.querySelectorAll('.steps a[href="/settings/people"]')).toHaveLength(0)
  const admin = await browser('admin', { email: 'chief@example.com' })
  const links = (await admin.get(`/queue/${id}`)).texts('.steps a[href="/settings/people"]')
  expect(links).toEqual(['@zoe', '@ZoeLang'])
})

test('a script gets what is said of a decision, and where the next candidate is', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const [one, two] = [await kb.submit({ title: 'One' }), await kb.submit({ title: 'Two' })]
  const { action, fields } = formOf(await curator.get(`/queue/${one}?kb=${kb.slug}`), '/approve')
  const answer = await curator.post(action, fields, { 'hx-request': 'true' })
  expect(answer.status).toBe(200)
  expect(answer.headers['hx-location']).toBe(`/queue/${two}?kb=${kb.slug}&done=${one}`)
  expect(answer.body).toContain('Approved')
  expect((await curator.get(`/queue/${one}`)).texts('#decide')[0]).toContain('Why it waited: ')
  expect(answer.body).not.toContain('<main')
})

test('similar pages are found by a link, and by scripts when the rest is there', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const text = 'When a very important customer raises a ticket at night, page the lead and the duty manager.'
  await kb.add({ title: `Night shift ${hostile}`, content: text })
  const id = await kb.submit({ title: 'Shift', content: text })
  const page = await curator.get(`/queue/${id}`)
  const link = page.document.querySelector('[data-fill] a')?.getAttribute('href') ?? ''
  const why = /Night shift .* title shares shift · 100 % of the text is the same/
  expect((await curator.get(link.replace(/#.*/, ''))).texts('.context li a + .soft')).toContainEqual(
    expect.stringContaining('100 % of the text'),
  )
  const address = page.document.querySelector('[data-fill]')?.getAttribute('data-fill') ?? ''
  const fragment = await curator.get(address, { 'hx-request': 'true' })
  expect(fragment.texts('li')).toEqual([expect.stringMatching(why)])
  expect(fragment.document.querySelectorAll('script, img')).toHaveLength(0)
})

test('what cannot be approved has no button for it, and says what to do', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const page = await curator.get(`/queue/${await kb.correct('nowhere_00000009', 'Text.')}`)
  expect(page.texts('#decide button')).toEqual(['Dismiss'])
  expect(page.texts('.warning')[0]).toContain('is not there any more')
})

test('hostile text stays text in every part of the page', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const seqId = await kb.add({ title: hostile, content: `# ${hostile}\n\n[[${hostile}]] <script>alert(4)</script>` })
  const id = await kb.correct(seqId, `${hostile}\n\n[[cites:"><script>]]\n<iframe src="//x">`, {
    title: hostile,
    metadata: JSON.stringify({ targetNeuron: seqId, tags: ['"><script>'], connector: '<b>', note: '</pre><script>' }),
  })
  const forms = formOf(await curator.get(`/queue/${id}`), '/dismiss')
  await curator.post(forms.action, { ...forms.fields, reason: hostile })
  const paths = ['?show=rendered', '?show=lines', '?show=split', '?show=sides', '?edit=1', `?done=${id}`]
  for (const path of paths) {
    const page = await curator.get(`/queue/${id}${path}`)
    expect(page.status).toBe(200)
    const scripts = 'main script:not([type="application/json"])'
    expect([...page.document.querySelectorAll(`${scripts}, main iframe, main img, [onerror], [style]`)]).toEqual([])
    expect([...page.document.querySelectorAll('[href^="javascript:" i]')]).toEqual([])
    expect(page.texts('h1')[0]).toContain('<script>alert(1)</script>')
  }
})

test('a candidate of half a megabyte, or with thousands of changed lines, has a page', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const lines = (name: string) => Array.from({ length: 10_000 }, (_, n) => `${name} ${n}`).join('\n')
  const seqId = await kb.add({ title: 'Long', content: lines('old') })
  const id = await kb.correct(seqId, lines('new'))
  for (const show of ['rendered', 'lines', 'split']) {
    const page = await curator.get(`/queue/${id}?show=${show}`)
    expect(page.status).toBe(200)
  }
  expect((await curator.get(`/queue/${id}?show=lines`)).texts('#change .warning')).toEqual([
    'There is more: the rest is left out.',
  ])
  const huge = await curator.get(`/queue/${await kb.submit({ title: 'Huge', content: 'ü'.repeat(256 * 1024) })}`)
  expect(huge.texts('#change .tabs [aria-current]')).toEqual(['As text'])
})

test('the metrics count what is decided here as what is decided through the API', async () => {
  const { app, curator, newKb } = desk()
  const kb = await newKb()
  const counted = async (labels: string) => {
    const { body } = await app.inject('/metrics')
    return Number(new RegExp(`^ganglion_candidates_total\\{${labels}\\} (\\d+)$`, 'm').exec(body)?.[1] ?? 0)
  }
  const dismissed = 'action="dismiss",status="dismissed"'
  const before = await counted(dismissed)
  const id = await kb.submit()
  const form = (await curator.get(`/queue/${id}`)).document.querySelector('form[data-decide="dismiss"]')
  const seen = form?.querySelector('[name=seen]')?.getAttribute('value') ?? ''
  expect((await curator.post(`/queue/${id}/dismiss`, { seen, reason: '' })).status).toBe(303)
  expect(await counted(dismissed)).toBe(before + 1)
})

test('a candidate is assigned, and changes are asked for, without scripts', async () => {
  const { browser, curator, newKb } = desk()
  const kb = await newKb()
  const name = '</datalist>"\'&amp;<b>'
  await browser('admin', { email: 'principal@example.com', name })
  await browser('reader', { email: 'reader@example.com' })
  const id = await kb.submit({ title: 'Fees' })
  const before = await curator.get(`/queue/${id}`)
  const { action } = formOf(before, '/comment')
  const asked = await follow(
    curator,
    await curator.post(action.replace('/comment', '/request-changes'), { comment: 'Which fees?', lines: ' 1 ' }),
  )
  expect(asked.texts('#decide .warning')[0]).toContain('Cora Curator asked for changes')
  for (const wrong of [{ comment: ' ' }, { comment: 'Which?', lines: '99' }, { comment: 'Which?', lines: 'all' }])
    expect((await curator.post(action.replace('/comment', '/request-changes'), wrong)).status).toBe(400)
  const assign = formOf(before, '/assign').action
  const list = before.document.querySelector('[name=assignee]')?.getAttribute('list')
  const offered = [...before.document.querySelectorAll(`form datalist#${list} option`)]
  const told = offered.map((option) => [option.getAttribute('value'), option.textContent])
  expect(told).toContainEqual(['principal@example.com', name])
  expect(told.map(([email]) => email)).not.toContain('reader@example.com')
  expect((await curator.post(assign, { assignee: 'nobody@example.com' })).texts('#field-assignee-error')).toEqual([
    'is no curator here',
  ])
  const mine = await follow(curator, await curator.post(assign, { assignee: '', me: '1' }))
  expect(mine.texts('.steps li').at(-1)).toContain('assigned it to curator@example.com')
  const assigned = await curator.get(`/queue?kb=${kb.slug}&assignee=curator%40example.com`)
  expect(assigned.texts('.entry .soft').join()).toContain('Which fees?')
  expect((await curator.get(`/queue?kb=${kb.slug}&assignee=ann%40example.com`)).texts('.entry')).toEqual([])
})
