import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ValidationError } from '../../src/contract/errors.ts'
import { RetrieveInput } from '../../src/contract/search.ts'
import { hashObject } from '../../src/git/objects/object.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { dismissCandidate, reopenCandidate } from '../../src/queue/decide-candidate.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { tempDir } from '../support/temp.ts'

async function approved(bed: TestBed, input = candidate()) {
  const { candidateId } = await submitCandidate(bed.ctx, bed.curator, input)
  return approveCandidate(bed.ctx, bed.curator, candidateId, {})
}

function read(bed: TestBed, seqId: string, at?: string) {
  return readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId, ...(at === undefined ? {} : { at }) })
}

/** Changes a Neuron's file as a curator does in a clone, and pushes it to main. */
function editInClone(gitDir: string, edit: (clone: string) => void): string {
  const clone = join(tempDir(), 'clone')
  nativeGit(gitDir, ['clone', '--quiet', gitDir, clone])
  edit(clone)
  nativeGit(clone, ['add', '--all'])
  nativeGit(clone, ['commit', '--quiet', '-m', 'An edit in a clone'])
  nativeGit(clone, ['push', '--quiet', 'origin', 'HEAD:main'])
  return nativeGit(clone, ['rev-parse', 'HEAD'])
}

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(from)
  writeFileSync(file, text.replace(from, to))
}

test('an approval is one commit on main with the Neuron, its back-pointer and its trailers', async () => {
  const bed = await newTestBed()
  const input = candidate({
    metadata: JSON.stringify({ connector: 'crm', sourceUrl: 'https://example.com/1', tags: ['vip'], x: 1 }),
  })
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, input)
  const before = nativeGit(bed.gitDir, ['rev-list', '--count', 'main'])
  const { seqId, documentId, commit } = await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  expect(Number(nativeGit(bed.gitDir, ['rev-list', '--count', 'main']))).toBe(Number(before) + 1)
  expect(seqId).toBe('handbook_00000001')
  const { path } = await read(bed, seqId)
  expect(nativeGit(bed.gitDir, ['show', `main:${path}`])).toBe(
    `---
seqId: handbook_00000001
id: ${documentId}
title: VIP escalation policy
tags: [vip]
connector: crm
sourceUrl: https://example.com/1
candidate: ${candidateId}
metadata: "{\\"x\\":1}"
---

When a VIP customer raises a ticket, page the lead.`,
  )
  const trailers = nativeGit(bed.gitDir, ['log', '-1', '--format=%(trailers:only,unfold)', commit])
  expect(trailers.split('\n')).toEqual([
    `Candidate: ${candidateId}`,
    'Neuron: handbook_00000001',
    'Kind: external-feed',
    'Connector: crm',
    'Approved-By: The curator <key:curator-key>',
  ])
  expect(nativeGit(bed.gitDir, ['fsck', '--strict'])).toBe('')
})

test('approving twice, and many times at once, is one commit and one answer', async () => {
  const bed = await newTestBed()
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate())
  const approve = () => approveCandidate(bed.ctx, bed.curator, candidateId, {})
  const answers = await Promise.all(Array.from({ length: 20 }, approve))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(await approve()).toEqual(answers[0])
  expect(nativeGit(bed.gitDir, ['log', '--format=%s', 'main']).split('\n')).toHaveLength(2)
})

test('seqIds are given in order, also to many at once, and never again after a Neuron is gone', async () => {
  const bed = await newTestBed()
  const many = await Promise.all(Array.from({ length: 12 }, (_, n) => approved(bed, candidate({ title: `Page ${n}` }))))
  const last =
    many
      .map(({ seqId }) => seqId)
      .sort()
      .at(-1) ?? ''
  expect(last).toBe('handbook_00000012')
  const { path } = await read(bed, last)
  editInClone(bed.gitDir, (clone) => nativeGit(clone, ['rm', '--quiet', path]))
  await expect(read(bed, last)).rejects.toMatchObject({ code: 'not_found' })
  expect((await approved(bed, candidate({ title: 'After' }))).seqId).toBe('handbook_00000013')
  const reopened = await bed.reopen()
  const again = await submitCandidate(reopened, bed.app, candidate())
  expect((await approveCandidate(reopened, bed.curator, again.candidateId, {})).seqId).toBe('handbook_00000014')
})

test('a correction replaces the body, keeps seqId, document id, path and what the curator wrote around it', async () => {
  const bed = await newTestBed()
  const first = await approved(bed)
  const { path } = await read(bed, first.seqId)
  editInClone(bed.gitDir, (clone) => replaceIn(join(clone, path), 'title: VIP', '# mine\nowner:   "ops"\ntitle: VIP'))
  const fix = await approved(bed, correction(first.seqId, 'Page the lead within 5 minutes.', { title: 'VIP paging' }))
  expect(fix).toMatchObject({ seqId: first.seqId, documentId: first.documentId })
  const neuron = await read(bed, first.seqId)
  expect(neuron).toMatchObject({
    path,
    title: 'VIP paging',
    content: 'Page the lead within 5 minutes.',
    version: 3,
  })
  expect(nativeGit(bed.gitDir, ['show', `main:${path}`])).toContain('# mine\nowner:   "ops"\ntitle: VIP paging\n')
  expect(await read(bed, first.seqId, first.commit)).toMatchObject({
    version: 1,
    content: 'When a VIP customer raises a ticket, page the lead.',
    commit: first.commit,
  })
})

test('a target that has moved since is merged; a conflict is refused with both sides, and loses nothing', async () => {
  const bed = await newTestBed()
  const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
  const first = await approved(bed, candidate({ content: lines.join('\n') }))
  const { path } = await read(bed, first.seqId)
  const propose = (content: string) => submitCandidate(bed.ctx, bed.app, correction(first.seqId, content))
  const merging = await propose(lines.join('\n').replace('seven', 'SEVEN'))
  const conflicting = await propose(lines.join('\n').replace('one', 'eins'))
  const edit = editInClone(bed.gitDir, (clone) => replaceIn(join(clone, path), 'one', 'uno'))

  await approveCandidate(bed.ctx, bed.curator, merging.candidateId, {})
  expect((await read(bed, first.seqId)).content).toBe('uno\ntwo\nthree\nfour\nfive\nsix\nSEVEN')

  const head = nativeGit(bed.gitDir, ['rev-parse', 'main'])
  const refusal = approveCandidate(bed.ctx, bed.curator, conflicting.candidateId, {})
  await expect(refusal).rejects.toMatchObject({
    code: 'merge_conflict',
    details: { commit: head, conflicts: [{ line: 1, base: 'one\n', current: 'uno\n', proposed: 'eins\n' }] },
  })
  expect(nativeGit(bed.gitDir, ['rev-parse', 'main'])).toBe(head)
  expect(nativeGit(bed.gitDir, ['merge-base', '--is-ancestor', edit, head])).toBe('')

  const resolved = { content: 'uno/eins\ntwo\nthree\nfour\nfive\nsix\nSEVEN', base: head }
  await approveCandidate(bed.ctx, bed.curator, conflicting.candidateId, resolved)
  expect((await read(bed, first.seqId)).content).toBe(resolved.content)
})

test("a curator's edit on the way is what is approved, beside the original", async () => {
  const bed = await newTestBed()
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate())
  const edit = { title: 'VIP policy', content: 'Better.', tags: ['a', 'b'] }
  const { seqId } = await approveCandidate(bed.ctx, bed.curator, candidateId, edit)
  expect(await read(bed, seqId)).toMatchObject(edit)
  const queued = nativeGit(bed.gitDir, ['grep', '-h', 'page the lead', 'refs/ganglion/queue'])
  expect(queued).toContain('When a VIP customer raises a ticket, page the lead.')
})

test('a picture that stands in the text becomes a file beside the page, once for the same bytes', async () => {
  const bed = await newTestBed()
  const base64 = 'iVBORw0KGgo'.padEnd(64, 'A')
  const content = `One ![A plan](data:image/png;base64,${base64} "T") ![](data:image/svg+xml;base64,${base64})\n`
  const { seqId } = await approved(bed, candidate({ content }))
  const { path, ...page } = await read(bed, seqId)
  const [, name = ''] = /!\[A plan\]\((attachments\/a-plan-[0-9a-f]{12}\.png) "T"\)/.exec(page.content) ?? []
  expect(page.content).toContain('data:image/svg+xml')
  const file = `${dirname(path)}/${name}`
  expect(nativeGit(bed.gitDir, ['rev-parse', `main:${file}`])).toBe(hashObject('blob', Buffer.from(base64, 'base64')))
  const link = `data:image/png;base64,${base64}`
  const shown = `![][i] <img src="${link}">\n\n[i]: <${link}>\n`
  const code = `\`![](${link})\` [no picture](${link})\n\n\`\`\`md\n![](${link})\n\`\`\`\n`
  await approved(bed, correction(seqId, `${code}\n${shown}`))
  const { content: corrected } = await read(bed, seqId)
  expect(corrected).toBe(`${code}\n${shown.replaceAll(link, name.replace('a-plan', 'picture'))}`)
  // Beginnings of pictures that never end take no time, nor what looks like a mark for one.
  const many = `${'!['.repeat(100_000)} picture${'-'.repeat(200_000)}`
  await approved(bed, correction(seqId, `${many}\n\nTwo ![A plan](data:image/png;base64,${base64})\n`))
  expect((await read(bed, seqId)).content).toBe(`${many}\n\nTwo ![A plan](${name})\n`)
})

test('a new title keeps the old one as an alias, so that links to it go on resolving', async () => {
  const bed = await newTestBed()
  const target = await approved(bed)
  const linking = await approved(bed, candidate({ title: 'Other', content: 'See [[VIP escalation policy]].' }))
  const fix = await submitCandidate(bed.ctx, bed.app, correction(target.seqId, 'New text.'))
  await approveCandidate(bed.ctx, bed.curator, fix.candidateId, { title: 'Very important people' })
  expect(await read(bed, target.seqId)).toMatchObject({ title: 'Very important people' })
  expect((await read(bed, linking.seqId)).links).toEqual([{ type: 'cites', target: target.seqId }])
})

test('dismissed candidates are not approved until they are reopened; approved ones are neither dismissed nor reopened', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const { candidateId } = await submitCandidate(ctx, bed.app, candidate())
  await expect(reopenCandidate(ctx, curator, candidateId)).rejects.toMatchObject({ code: 'not_dismissed' })
  expect(await dismissCandidate(ctx, curator, candidateId, { reason: 'No.' })).toEqual({
    candidateId,
    status: 'dismissed',
  })
  expect(await dismissCandidate(ctx, curator, candidateId, {})).toEqual({ candidateId, status: 'dismissed' })
  await expect(approveCandidate(ctx, curator, candidateId, {})).rejects.toMatchObject({ code: 'not_pending' })
  expect(await reopenCandidate(ctx, curator, candidateId)).toEqual({ candidateId, status: 'pending' })
  await approveCandidate(ctx, curator, candidateId, {})
  await expect(dismissCandidate(ctx, curator, candidateId, {})).rejects.toMatchObject({ code: 'not_pending' })
  await expect(reopenCandidate(ctx, curator, candidateId)).rejects.toMatchObject({ code: 'not_dismissed' })
  expect(nativeGit(bed.gitDir, ['log', '--format=%s', 'refs/ganglion/queue']).split('\n')).toEqual([
    'Reopen "VIP escalation policy"',
    'Dismiss "VIP escalation policy"',
    'Propose "VIP escalation policy"',
  ])
})

test('a target that is not there is never overwritten by guess: pending, then refused', async () => {
  const bed = await newTestBed()
  const input = correction('handbook_00000999', 'x', { confidence: 1 })
  const { candidateId, status } = await submitCandidate(bed.ctx, bed.app, input)
  expect(status).toBe('pending')
  await expect(approveCandidate(bed.ctx, bed.curator, candidateId, {})).rejects.toMatchObject({
    code: 'target_not_found',
  })
})

test('a candidate for a Neuron that was not there never changes the one that gets its number later', async () => {
  const { ctx, app, curator } = await newTestBed()
  const early = await submitCandidate(ctx, app, correction('handbook_00000001', 'Lunch is at noon.'))
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Holidays', content: 'Thirty days.' }))
  expect(await approveCandidate(ctx, curator, candidateId, {})).toMatchObject({ seqId: 'handbook_00000001' })

  await expect(approveCandidate(ctx, curator, early.candidateId, {})).rejects.toMatchObject({
    code: 'target_not_found',
  })
  expect(await readCandidate(ctx, curator, early.candidateId)).toMatchObject({ before: null, after: null })
})

test('hostile titles become safe paths and one-line subjects, and forge no trailer', async () => {
  const bed = await newTestBed()
  const titles = [
    '../../x',
    '.git',
    'git~1',
    'CON',
    '🧠'.repeat(100),
    '\u202efdp.exe',
    'x\n\nApproved-By: root',
    'Con',
    '%2e%2e%2f',
  ]
  const results = await Promise.all(titles.map((title) => approved(bed, candidate({ title }))))
  const paths = nativeGit(bed.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons/']).split('\n')
  expect(paths).toHaveLength(titles.length)
  for (const path of paths) expect(path).toMatch(/^neurons\/\d{4}\/\d{2}\/[a-z0-9-]{1,80}\.md$/)
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(titles.length)
  for (const { commit } of results) {
    const by = nativeGit(bed.gitDir, ['log', '-1', '--format=%(trailers:key=Approved-By,valueonly)', commit])
    expect(by.trim()).toBe('The curator <key:curator-key>')
    expect(nativeGit(bed.gitDir, ['log', '-1', '--format=%s', commit])).not.toContain('\n')
  }
})

test('content that only looks like front matter stays content', async () => {
  const bed = await newTestBed()
  for (const content of ['---js\nprocess.exit()\n---\nx', '---', '\n\n---\n\n', '\nx\n']) {
    const { seqId } = await approved(bed, candidate({ content: content.replaceAll('\n', '\r\n') }))
    expect(await read(bed, seqId)).toMatchObject({ content, seqId })
    expect(await pageIn(bed, seqId)).not.toContain('\r')
  }
})

test('a changed page keeps its line endings, and what is answered has LF', async () => {
  const bed = await newTestBed()
  const lines = ['# Paging', '', 'One.', 'Two.', 'Three.', '', '| a | b |', '| - | - |', 'Last.']
  const { seqId } = await approved(bed, candidate({ content: lines.join('\n') }))
  const { path } = await read(bed, seqId)
  // Two lines have other endings than the rest.
  const crlf = (text: string) => text.replaceAll('\n', '\r\n').replace('Two.\r\n', 'Two.\n').replace('b |\r\n', 'b |\r')
  editInClone(bed.gitDir, (clone) => writeFileSync(join(clone, path), crlf(readFileSync(join(clone, path), 'utf8'))))
  const { content: shown, commit } = await read(bed, seqId)
  expect(shown).toBe(lines.join('\n'))
  const bodyOf = async () => (await pageIn(bed, seqId)).split(/^---\r\n\r\n/m)[1]
  const submitted = async (content: string, from?: string) => {
    const metadata = JSON.stringify({ targetNeuron: seqId, ...(from && { baseCommit: from }) })
    return (await submitCandidate(bed.ctx, bed.curator, correction(seqId, content, { metadata }))).candidateId
  }

  const fix = await submitted(shown.replace('Three.', '3.'))
  const { before, after, diff } = await readCandidate(bed.ctx, bed.curator, fix)
  expect({ before, after }).toEqual({ before: shown, after: shown.replace('Three.', '3.') })
  expect(diff.match(/^[-+][^-+].*/gm)).toEqual(['-Three.', '+3.'])
  await approveCandidate(bed.ctx, bed.curator, fix, {})
  const fixed = crlf(shown).replace('Three.', '3.')
  expect(await bodyOf()).toBe(fixed)
  expect(await pageIn(bed, seqId)).toMatch(/^---\r\n(?:[^\n]+\r\n)+---\r\n/)

  const edited = await submitted('not this')
  await approveCandidate(bed.ctx, bed.curator, edited, { content: shown.replace('Three.', '3.') })
  expect(await bodyOf()).toBe(fixed)

  const merged = await submitted(shown.replace('Last.', 'New.\nLast.'), commit)
  await approveCandidate(bed.ctx, bed.curator, merged, {})
  expect(await bodyOf()).toBe(fixed.replace('Last.', 'New.\r\nLast.'))

  const found = await retrieve(bed.ctx, bed.app, 'handbook', RetrieveInput.parse({ query: 'paging one two' }))
  expect(found.chunks[0]?.content).toContain('One.\nTwo.\n3.')

  const conflicting = await submitted(shown.replace('Three.', 'III.'), commit)
  const { conflicts, ...sides } = await readCandidate(bed.ctx, bed.curator, conflicting)
  expect(conflicts).toEqual([{ line: 5, base: 'Three.\n', current: '3.\n', proposed: 'III.\n' }])
  expect(JSON.stringify(sides)).not.toContain('\\r')
})

async function pageIn(bed: TestBed, seqId: string): Promise<string> {
  return nativeGit(bed.gitDir, ['show', `main:${(await read(bed, seqId)).path}`])
}

test('a Neuron gets the path that is wished for, with an ending of its own', async () => {
  const bed = await newTestBed()
  const wish = (title: string, path: string) => approved(bed, candidate({ title, metadata: JSON.stringify({ path }) }))
  const paths = []
  for (const path of ['guides/Paging.md', 'guides/paging', 'neurons/guides/PAGING.md', '../../etc/passwd']) {
    paths.push((await read(bed, (await wish(path, path)).seqId)).path)
  }
  expect(new Set(paths).size).toBe(4)
  expect(paths.map((path) => path.replace(/-[0-9a-f]{6}\.md$/, ''))).toEqual([
    'neurons/guides/Paging',
    'neurons/guides/paging',
    'neurons/guides/PAGING',
    'neurons/etc/passwd',
  ])
})

test('what native git commits meanwhile is read at once, with version and times from history', async () => {
  const bed = await newTestBed()
  const first = await approved(bed)
  const { path, createdAt } = await read(bed, first.seqId)
  const commit = editInClone(bed.gitDir, (clone) => {
    mkdirSync(join(clone, 'neurons/moved'), { recursive: true })
    nativeGit(clone, ['mv', path, 'neurons/moved/vip.md'])
    replaceIn(join(clone, 'neurons/moved/vip.md'), 'page the lead', 'call the lead')
  })
  expect(await read(bed, first.seqId)).toMatchObject({ path: 'neurons/moved/vip.md', version: 2, commit, createdAt })
  expect(dirname(path)).not.toBe('neurons/moved')
  expect(await read(bed, first.documentId ?? '')).toMatchObject({ seqId: first.seqId })
})

test('metadata that would not fit into front matter stays with the candidate', async () => {
  const bed = await newTestBed()
  const tags = Array.from({ length: 60 }, (_, n) => `${n}${'t'.repeat(90)}`)
  const metadata = JSON.stringify({ tags, note: '"'.repeat(4_000) })
  const { seqId } = await approved(bed, candidate({ metadata }))
  expect(await read(bed, seqId)).toMatchObject({ seqId, tags })
  const fix = JSON.stringify({ targetNeuron: seqId, tags: tags.map((tag) => `${tag}-more`), note: '"'.repeat(4_000) })
  const { content } = await read(bed, (await approved(bed, correction(seqId, 'Fixed.', { metadata: fix }))).seqId)
  expect(content).toBe('Fixed.')
  const wide = JSON.stringify({
    targetNeuron: seqId,
    tags: Array.from({ length: 60 }, (_, n) => `${n}${'ü'.repeat(95)}`),
  })
  const head = nativeGit(bed.gitDir, ['rev-parse', 'main'])
  await expect(approved(bed, correction(seqId, 'x', { metadata: wide }))).rejects.toThrow(ValidationError)
  expect(nativeGit(bed.gitDir, ['rev-parse', 'main'])).toBe(head)
})

test('not even when main is wound back by force: what was cited goes on meaning what it meant', async () => {
  const bed = await newTestBed()
  const first = await approved(bed, candidate({ title: 'Stays' }))
  const lost = await approved(bed, candidate({ title: 'Goes' }))
  nativeGit(bed.gitDir, ['update-ref', 'refs/heads/main', first.commit])
  await expect(read(bed, lost.seqId)).rejects.toMatchObject({ code: 'not_found' })
  expect((await approved(bed, candidate({ title: 'Next' }))).seqId).toBe('handbook_00000003')
})

test('a target whose front matter somebody broke is refused until it is mended, and nothing of it is lost', async () => {
  const bed = await newTestBed()
  const first = await approved(bed)
  const { path } = await read(bed, first.seqId)
  editInClone(bed.gitDir, (clone) => replaceIn(join(clone, path), 'title: VIP', 'owner: a\nowner: b\ntitle: VIP'))
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, correction(first.seqId, 'New.', { confidence: 1 }))
  const head = nativeGit(bed.gitDir, ['rev-parse', 'main'])
  const refused = approveCandidate(bed.ctx, bed.curator, candidateId, {})
  await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^target_/), status: 409 })
  expect(nativeGit(bed.gitDir, ['rev-parse', 'main'])).toBe(head)
  editInClone(bed.gitDir, (clone) => replaceIn(join(clone, path), 'owner: b\n', ''))
  await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  expect((await read(bed, first.seqId)).content).toBe('New.')
})

test('a new title is rejected where the old one, as an alias, would make the front matter unreadable', async () => {
  const bed = await newTestBed()
  const metadata = JSON.stringify({ x: 'y'.repeat(15_700) })
  const made = await submitCandidate(bed.ctx, bed.app, candidate({ title: 'A'.repeat(300), metadata }))
  const { seqId } = await approveCandidate(bed.ctx, bed.curator, made.candidateId, {})
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, correction(seqId, 'New text.'))
  const approve = (title: string) => approveCandidate(bed.ctx, bed.curator, candidateId, { title })
  await expect(approve('B'.repeat(300))).rejects.toThrow(ValidationError)
  expect(await readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })).toMatchObject({ version: 1 })
})

test('an edit of what another curator has approved is refused, and one that is sent again gets its answer', async () => {
  const { ctx, app, curator } = await newTestBed()
  const other = { ...curator, id: 'key:other', name: 'Other' }
  const { candidateId } = await submitCandidate(ctx, app, candidate())
  const edit = { content: 'Page the lead, and the deputy.' }
  const approval = await approveCandidate(ctx, curator, candidateId, edit)
  expect(await approveCandidate(ctx, curator, candidateId, edit)).toEqual(approval)
  expect(await approveCandidate(ctx, other, candidateId, {})).toEqual(approval)
  const late = approveCandidate(ctx, other, candidateId, { content: 'Page nobody.' })
  await expect(late).rejects.toMatchObject({ code: 'not_pending' })
})

test('a removal is approved as it is: an edit of it is refused and changes nothing', async () => {
  const { ctx, app, curator, gitDir } = await newTestBed()
  const page = await submitCandidate(ctx, app, candidate())
  const { seqId } = Object(await approveCandidate(ctx, curator, page.candidateId, {}))
  const removal = correction(seqId, 'gone')
  const { candidateId } = await submitCandidate(ctx, app, removal, { removes: true })
  const refs = () => nativeGit(gitDir, ['for-each-ref'])
  const before = refs()
  for (const edit of [{ content: 'Other.' }, { tags: ['a'] }]) {
    await expect(approveCandidate(ctx, curator, candidateId, edit)).rejects.toThrow('not valid')
  }
  expect(refs()).toBe(before)
  expect(await approveCandidate(ctx, curator, candidateId, {})).toMatchObject({ status: 'approved', seqId })
})
