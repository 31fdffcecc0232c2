import { expect, test } from 'vitest'
import { ValidationError } from '../../src/contract/errors.ts'
import { findNeuron } from '../../src/kb/projection/neuron-queries.ts'
import { commitToQueue } from '../../src/kb/writing/commits.ts'
import { parseNeuronFile } from '../../src/markdown/file/neuron-file.ts'
import { changeKbSettings, readKbSettings } from '../../src/operate/settings/change-kb-settings.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { writePage } from '../../src/pages/write/write-page.ts'
import { writtenPage } from '../../src/pages/write/written-page.ts'
import { opensUp } from '../../src/queue/approval.ts'
import { dismissCandidate, reopenCandidate } from '../../src/queue/decide-candidate.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Candidate } from '../../src/rules/candidates/candidate.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

function head(bed: TestBed): string {
  return nativeGit(bed.gitDir, ['for-each-ref', '--format=%(refname) %(objectname)'])
}

function pendingCandidate(bed: TestBed, number: number): Candidate {
  return {
    id: candidateIdFor(bed.kbId),
    kind: 'external-feed',
    title: `Waiting ${number}`,
    content: 'x',
    metadata: null,
    confidence: null,
    impactEstimate: null,
    connector: 'api',
    target: null,
    base: null,
    removes: false,
    frontMatter: null,
    verdict: { approve: false, zone: null, reason: 'no confidence given', warnings: [] },
    createdAt: '2026-05-01T12:00:00.000Z',
    createdBy: { id: 'key:app-key', name: 'The app' },
    decisions: [],
  }
}

test('a candidate is a file on the queue ref, with its content byte for byte and its record', async () => {
  const bed = await newTestBed()
  const content = '---js\nseqId: x\n---\r\n# Ünïcode \u2028 \n\n'
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate({ content, metadata: '{ "a" : 1 }' }))
  const path = `${candidateId.slice(-4, -2)}/${candidateId.slice(-2)}/${candidateId}.md`
  const text = nativeGit(bed.gitDir, ['show', `refs/ganglion/queue:${path}`])
  expect(text).toContain(content.trimEnd())
  expect(text).toContain(`id: ${candidateId}`)
  const subject = nativeGit(bed.gitDir, ['log', '-1', '--format=%s|%an', 'refs/ganglion/queue'])
  expect(subject).toBe('Propose "VIP escalation policy"|The app')
})

test('a full queue refuses, writes nothing, and still takes what the policy approves at once', async () => {
  const bed = await newTestBed()
  const kb = await bed.ctx.kb(bed.app.tenantId, 'handbook')
  const at = new Date('2026-05-01T12:00:00Z')
  const by = { id: 'user:ada', name: 'Ada' }
  const waiting = Array.from({ length: 10_000 }, (_, n) => pendingCandidate(bed, n))
  const fill = (candidates: typeof waiting) =>
    kb.write((staging) => commitToQueue(kb, staging, candidates, { by, at, message: 'Fill' }))
  const { candidateId: dismissed } = await submitCandidate(bed.ctx, bed.app, candidate())
  await dismissCandidate(bed.ctx, bed.curator, dismissed, {})
  await fill(waiting.slice(0, 5_000))
  const visitor = { ...bed.app, id: 'visitor:1' }
  await expect(submitCandidate(bed.ctx, visitor, candidate())).rejects.toMatchObject({ code: 'queue_full' })
  await fill(waiting.slice(5_000))
  const commented = await submitCandidate(bed.ctx, bed.curator, candidate({ content: 'One. %%ours%%', confidence: 1 }))
  const before = head(bed)
  const correcting = correction(String(commented.seqId), 'Two.', { confidence: 1 })
  await expect(submitCandidate(bed.ctx, bed.app, correcting)).rejects.toMatchObject({ code: 'queue_full' })
  await expect(submitCandidate(bed.ctx, bed.app, candidate())).rejects.toMatchObject({
    code: 'queue_full',
    status: 429,
  })
  const reopened = reopenCandidate(bed.ctx, bed.curator, dismissed)
  await expect(reopened).rejects.toMatchObject({ code: 'queue_full' })
  const page = { changes: { title: 'Tides', content: 'Two a day.' }, path: 'VIP-escalation-policy/tides' }
  const written = { kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: false }
  await expect(writePage(bed.ctx, bed.curator, page, written)).rejects.toMatchObject({ code: 'queue_full' })
  expect(head(bed)).toBe(before)
  expect(await writePage(bed.ctx, bed.curator, page, { ...written, publish: true })).toMatchObject({
    status: 'approved',
  })
  expect(await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1 }))).toMatchObject({
    status: 'approved',
  })
})

test('what is asked again, and was done, is counted once', async () => {
  const { ctx, app, curator } = await newTestBed()
  const acts: string[] = []
  ctx.acts.on('candidate', (act, status) => acts.push(`${act} ${status}`))
  const actor = { id: 'lint', name: 'Lint' }
  const service = { actor, fingerprint: 'one' }
  const metadata = JSON.stringify({ connector: 'lint', fingerprint: 'one' })
  const [sent, found] = [candidate(), candidate({ metadata })]
  const ids = []
  for (const _ of [1, 2]) {
    ids.push((await submitCandidate(ctx, app, sent, { idempotencyKey: 'once' })).candidateId)
    await submitCandidate(ctx, app, found, { service })
  }
  const [id = ''] = ids
  expect(acts.splice(0)).toEqual(['submit pending', 'submit pending'])
  for (const _ of [1, 2]) await dismissCandidate(ctx, curator, id, {})
  await reopenCandidate(ctx, curator, id)
  for (const _ of [1, 2]) await approveCandidate(ctx, curator, id, {})
  expect(acts).toEqual(['dismiss dismissed', 'reopen pending', 'approve approved'])
})

test('what the policy approves is on both refs when the answer is given, and names the policy', async () => {
  const bed = await newTestBed()
  const answer = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 0.9 }))
  expect(answer).toMatchObject({ status: 'approved', seqId: 'handbook_00000001' })
  expect(nativeGit(bed.gitDir, ['rev-parse', 'main'])).toBe(answer.commit)
  const by = nativeGit(bed.gitDir, ['log', '-1', '--format=%(trailers:key=Approved-By,valueonly)', 'main'])
  expect(by.trim()).toBe("The knowledge base's policy <policy>")
})

test('a crash between the two refs of an automatic approval is finished at the next start, once', async () => {
  const bed = await newTestBed()
  const kb = await bed.ctx.kb(bed.app.tenantId, 'handbook')
  const updateRef = kb.repository.updateRef.bind(kb.repository)
  kb.repository.updateRef = async (ref, from, to) => {
    if (ref === 'refs/heads/main') throw new Error('the power went')
    return updateRef(ref, from, to)
  }
  expect((await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 0.9 }))).status).toBe('pending')
  expect(nativeGit(bed.gitDir, ['rev-list', '--count', 'refs/ganglion/queue'])).toBe('1')
  expect(nativeGit(bed.gitDir, ['rev-list', '--count', 'main'])).toBe('1')
  for (let start = 0; start < 2; start++) {
    await (await bed.reopen()).kb(bed.app.tenantId, 'handbook')
    expect(nativeGit(bed.gitDir, ['rev-list', '--count', 'main'])).toBe('2')
  }
})

test('a candidate for a Neuron that is not there warns the curator, and a target only counts for kinds that change one', async () => {
  const bed = await newTestBed()
  const missing = await submitCandidate(bed.ctx, bed.app, correction('handbook_00000042', 'x', { confidence: 1 }))
  expect(missing.status).toBe('pending')
  const metadata = JSON.stringify({ targetNeuron: 'handbook_00000042' })
  const other = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1, metadata }))
  expect(other.status).toBe('pending')
  const made = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1 }))
  const beside = JSON.stringify({ targetNeuron: made.seqId })
  const second = await submitCandidate(
    bed.ctx,
    bed.app,
    candidate({ content: 'Another.', confidence: 1, metadata: beside }),
  )
  expect(second).toMatchObject({ status: 'approved', seqId: 'handbook_00000002' })
})

test('front matter that opens a content counts as metadata, and only narrows who sees the page', async () => {
  const bed = await newTestBed()
  let count = 0
  const submitted = async (content: string, more: Partial<Parameters<typeof candidate>[0]> = {}) => {
    const own = { title: `Page ${count++}`, content, confidence: 0.95 }
    const receipt = await submitCandidate(bed.ctx, bed.app, candidate({ ...own, ...more }))
    const path = nativeGit(bed.gitDir, ['diff', '--name-only', 'HEAD~1', 'HEAD']).trim()
    const page =
      receipt.status === 'approved' ? parseNeuronFile(nativeGit(bed.gitDir, ['show', `HEAD:${path}`])) : undefined
    // All pages have the same short text, of which the sender is told.
    const codes = receipt.warnings?.map(({ code }) => code).filter((code) => code !== 'similar')
    return {
      status: receipt.status,
      codes: codes?.length === 0 ? undefined : codes,
      tags: page?.fields.tags,
      audience: page?.fields.audience,
      content: page?.content,
    }
  }
  const block = (yaml: string) => `---\n${yaml}\n---\nText.`
  expect(await submitted(block('seqId: x_00000001\nsources: []\ntags: [internal]\nowner: me'))).toEqual({
    ...{ status: 'approved', codes: ['reserved_keys'], tags: ['internal'], audience: undefined, content: 'Text.' },
  })
  expect(await submitted(block('tags: [a, internal]'), { metadata: '{"tags":["b"]}' })).toMatchObject({
    tags: ['b', 'internal'],
  })
  expect(await submitted(block('title: A: b\ntags: [a]'))).toMatchObject({
    status: 'approved',
    tags: ['a'],
    content: 'Text.',
  })
  expect(await submitted(block('audience: [student, admin]'))).toMatchObject({
    codes: ['audience_narrowed'],
    audience: ['student'],
  })
  expect(await submitted('Text.', { metadata: '{"audience":["tool"]}' })).toMatchObject({
    codes: undefined,
    audience: ['tool'],
  })
  const both = { metadata: '{"audience":["public"],"tags":["a"]}' }
  expect(await submitted(block('audience: [tool]\ntags: [internal/x]'), both)).toMatchObject({
    ...{ codes: ['audience_narrowed'], audience: ['tool'], tags: ['a', 'internal/x'] },
  })
  expect(await submitted(block('audience: []'), both)).toMatchObject({ audience: [] })
  expect(await submitted(block('Audience: [student]\naudience: [student, tool]'))).toMatchObject({
    audience: ['student'],
  })
  expect(await submitted(block('\u00a0tags: [internal]'))).toMatchObject({ tags: ['internal'], content: 'Text.' })
  /** Approved as it was sent, only curators see the page. */
  const isHidden = async (content: string) => {
    const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate({ content, confidence: 0.95 }))
    const { seqId } = await approveCandidate(bed.ctx, bed.curator, candidateId, {})
    const read = readNeuron(bed.ctx, bed.app, { kb: 'handbook', seqId })
    await expect(read, content).rejects.toMatchObject({ code: 'not_found' })
  }
  const unreadable = ['tags: [internal', 'audience: @x', 'tags: { a: internal }', 'tags: [!!binary aW50ZXJuYWw=]']
  for (const yaml of [...unreadable, 'tags:[internal]', 'a: &a { tags: [internal] }\n<<: *a']) {
    expect(await submitted(block(yaml)), yaml).toMatchObject({ status: 'pending', codes: ['front_matter_unreadable'] })
    await isHidden(block(yaml))
  }
  const readToo = [
    '---json\n{"tags":["internal"]}\n---\n',
    ';;;\n{"tags":["internal"]}\n;;;\n',
    'tags:: [[internal]]\n\n',
  ]
  readToo.push('%YAML 1.2\n---\ntags: [internal]\n---\n', '--- # by a tool\r\ntags: [internal]\r\n--- # end\r\n')
  readToo.push('+++\ntags = ["internal"]\n+++\n', '+++\n[taxonomies]\ntags = ["internal"]\n+++\n')
  readToo.push('---\n%YAML 1.2\n# by a tool\ntags: [internal]\n---\n')
  for (const head of readToo) {
    const read = { status: 'approved', codes: undefined, tags: ['internal'], content: 'Text.' }
    expect(await submitted(`${head}Text.`), head).toMatchObject(read)
  }
  const waiting = [
    '---\na: b\n\ntags: [internal]\n...\n',
    '# A comment\n---\ntags: [internal]\n---\n',
    '**Tags:** internal\n',
  ]
  waiting.push(
    '{"tags":["internal"]}\n',
    '```yaml\ntags: [internal]\n```\n',
    '---\n- tags: [internal]\n---\n',
    'audience: []\n',
  )
  waiting.push('---\n---\ntags: [internal]\n---\n', '# T\n\n---\ntags: [internal]\n---\n', '<!-- tags: internal -->\n')
  waiting.push(
    '---\nowner: me\n---\n---\ntags: [internal]\n---\n',
    '---\ntags: [a]\n---\n\n+++\naudience = ["curator"]\n+++\n',
  )
  waiting.push(`${'---\na: b\n---\n'.repeat(2)}---\ntags: [internal]\n---\n`, '---\na: b\n---\n'.repeat(200))
  waiting.push('---\na: b\n---\n---\ntags: [internal\n---\n')
  for (const head of waiting) {
    expect(await submitted(`${head}Text.`), head).toMatchObject({
      status: 'pending',
      codes: ['front_matter_unreadable'],
    })
    await isHidden(`${head}Text.`)
  }
  for (const yaml of ['tags: [internal\ntitle: x', 'owner: [a\ntags: [b]']) {
    const receipt = await submitCandidate(bed.ctx, bed.app, candidate({ content: block(yaml), confidence: 0.95 }))
    expect(receipt, yaml).toMatchObject({ status: 'pending' })
    const kept = await readCandidate(bed.ctx, bed.curator, receipt.candidateId)
    expect(kept.content, 'as sent, for the curator').toBe(block(yaml))
  }
  const rule = '---\ntags: [b]\n---\nText.'
  expect(await submitted(block('tags: [a]').replace('Text.', rule))).toMatchObject({ tags: ['a'], content: rule })
  const hidden = block('tags: [internal]').replace('Text.', '---\naudience: [student]\n---\nText.')
  expect(await submitted(hidden)).toMatchObject({ status: 'approved', tags: ['internal'] })
  const request = 'baseVersion: 3\nbaseCommit: x\nreplaceTags: yes\nactionZone: high\ntags: [a]'
  expect(await submitted(block(request))).toMatchObject({ codes: ['reserved_keys'], tags: ['a'], content: 'Text.' })
  for (const text of [
    '---js\ntags: [x]\n---\nText.',
    '---\nA paragraph.\n---\n\nText.',
    '---\n\n---\nText.',
    '# Internal\n\nTags: a, b',
  ]) {
    expect(await submitted(text), text).toMatchObject({ status: 'approved', codes: undefined, tags: [], content: text })
  }
})

test('no new page is published to more readers than the default audience', async () => {
  const bed = await newTestBed()
  const { base, values } = await readKbSettings(bed.ctx, bed.curator, 'handbook')
  const settings = { base, values: { ...values, defaultAudience: 'tool' } }
  await changeKbSettings(bed.ctx, bed.curator, 'handbook', settings)
  const metadata = '{"audience":["public","student"]}'
  const { seqId = '' } = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 0.95, metadata }))
  const kb = await bed.ctx.kb(bed.app.tenantId, 'handbook')
  const shown = await kb.repository.readText(findNeuron(kb.projection.read, seqId)?.blob ?? '')
  expect(parseNeuronFile(shown).fields.audience).toEqual(['tool'])
  // As by a candidate that was written when the default was wider.
  const opens = (audience: string) =>
    kb.write((staging) =>
      opensUp(kb, staging, 'handbook_00000009', { text: `---\naudience: ${audience}\n---\nText.`, target: undefined }),
    )
  expect(await Promise.all(['[tool, public]', '[student]', '[tool]', '[]'].map(opens))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('front matter in the content of an approval or of a new page in the console counts', async () => {
  const bed = await newTestBed()
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate({ metadata: '{"tags":["a"]}' }))
  const approve = (content: string) => approveCandidate(bed.ctx, bed.curator, candidateId, { content })
  await expect(approve('---\ntags: [internal\n---\nText.')).rejects.toThrow(ValidationError)
  await approve('---\ntags: [internal]\n---\nText.')
  const path = nativeGit(bed.gitDir, ['diff', '--name-only', 'HEAD~1', 'HEAD']).trim()
  const page = parseNeuronFile(nativeGit(bed.gitDir, ['show', `HEAD:${path}`]))
  expect(page).toMatchObject({ fields: { tags: ['a', 'internal'] }, content: 'Text.' })
  const changes = { title: 'New', content: '---\r\ntags: [internal]\r\n---\r\nText.' }
  const view = { sql: (await bed.ctx.kb(bed.app.tenantId, 'handbook')).projection.read, readText: async () => '' }
  const { neuron } = await writtenPage(view, { changes }, new Date())
  expect(parseNeuronFile(neuron.text)).toMatchObject({ fields: { tags: ['internal'] }, content: 'Text.' })
})
