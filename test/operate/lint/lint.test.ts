import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { OpenContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { commitToQueue } from '../../../src/kb/writing/commits.ts'
import { lintKb } from '../../../src/operate/lint/lint-kb.ts'
import { runLintSchedules } from '../../../src/operate/lint/run-lint-schedule.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Candidate } from '../../../src/rules/candidates/candidate.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { happen, history } from '../../kb/support/random-history.ts'
import { candidate, newTestBed, type TestBed } from '../../kb/support/test-bed.ts'
import { neuronText, seq, writtenBed } from '../../kb/support/written-neurons.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { fc, runs } from '../../support/properties.ts'

/** Much is written to git, which takes a while on a busy machine. */

const linked = (number: number, body: string) => neuronText(number, { title: `N ${number}` }, body)

async function lint(bed: TestBed, { ctx = bed.ctx, isDryRun = false }: { ctx?: OpenContext; isDryRun?: boolean } = {}) {
  const { findings } = await lintKb(ctx, await ctx.kb(bed.curator.tenantId, 'handbook'), { isDryRun })
  return findings
}

/** Everything that waits in the queue, as curators see it. */
async function queue({ ctx, curator }: TestBed) {
  const { candidates } = await listCandidates(ctx, curator, { kb: 'handbook', limit: 100 })
  return Promise.all(candidates.map(({ candidateId }) => readCandidate(ctx, curator, candidateId)))
}

/** One finding of each rule. */
const troubled = {
  'a.md': neuronText(1, { title: 'A', edges: [['contradicts', 'B']] }, '[[On-call rotaton]] [[Twin]]\n'),
  'b.md': linked(2, '[[Budget]]\n').replace('N 2', 'B'),
  'c.md': linked(3, '[[budget]]\n'),
  'd.md': linked(4, '[[Budget]]\n'),
  'rota.md': neuronText(5, { title: 'On-call rotation' }, '[[A]]\n'),
  't1.md': neuronText(6, { title: 'Twin' }),
  't2.md': neuronText(7, { title: 'Twin' }),
  'lone.md': neuronText(8, { title: 'Paging the escalation lead', tags: ['ops'] }),
  'near.md': neuronText(9, { title: 'The escalation lead' }, '[[A]]\n'),
}

test('each finding waits in the queue for a curator, most impact first', async () => {
  const bed = await writtenBed(troubled)
  const findings = await lint(bed)
  const rules = findings.map(({ rule, title, impact, status }) => [rule, title, impact, status])
  expect(rules).toEqual([
    ['gap', 'Gap: Budget', 3, 'proposed'],
    ['ambiguous-target', 'Ambiguous link: Twin', 3, 'proposed'],
    ['contradiction', 'Contradiction: A / B', 2, 'proposed'],
    ['missing-target', 'Broken link: On-call rotaton', 1, 'proposed'],
    ['orphan', 'Orphan: Paging the escalation lead', 1, 'proposed'],
  ])
  const waiting = await queue(bed)
  expect(new Set(waiting.map(({ candidateId }) => candidateId))).toEqual(
    new Set(findings.map((found) => found.candidateId)),
  )
  for (const each of waiting) {
    expect(each).toMatchObject({
      status: 'pending',
      connector: 'lint',
      zone: 'yellow',
      createdBy: 'Lint',
      confidence: null,
    })
  }
  const contentOf = (rule: string) => waiting.find(({ metadata }) => metadata?.includes(`"rule":"${rule}"`))?.content
  expect(contentOf('missing-target')).toContain(`## Perhaps meant\n\n- [[${seq(5)}|On-call rotation]]\n`)
  expect(contentOf('orphan')).toContain(`## Perhaps related\n\n- [[${seq(9)}|The escalation lead]]\n`)
  expect(contentOf('gap')).toContain(`- [[${seq(2)}|B]], line 1\n- [[${seq(3)}|N 3]], line 1\n`)
  expect(contentOf('ambiguous-target')).toContain(`- [[${seq(6)}|Twin]]\n- [[${seq(7)}|Twin]]\n`)
  expect(contentOf('contradiction')).toContain(`[[${seq(1)}|A]] and [[${seq(2)}|B]]`)
})

test('a dry run finds the same and changes nothing', async () => {
  const bed = await writtenBed(troubled)
  const refs = nativeGit(bed.gitDir, ['for-each-ref'])
  const found = await lint(bed, { isDryRun: true })
  expect(found.map(({ status }) => status)).toEqual(Array(5).fill('open'))
  expect(nativeGit(bed.gitDir, ['for-each-ref'])).toBe(refs)
  const summaries = (await lint(bed)).map(({ status: _, candidateId: __, ...found }) => found)
  expect(summaries).toEqual(found.map(({ status: _, ...summary }) => summary))
})

test('a finding is proposed once, whatever became of it, and also after a rebuild', async () => {
  const bed = await writtenBed(troubled)
  const first = await lint(bed)
  const [dismissed = '', approved = ''] = first.map(({ candidateId }) => candidateId ?? '')
  await dismissCandidate(bed.ctx, bed.curator, dismissed, {})
  await approveCandidate(bed.ctx, bed.curator, approved, {})
  // The links move, and more come.
  bed.write({ 'e.md': linked(20, '\n\n[[BUDGET]] [[twin]] [[A]]\n') })
  const known = first.map(({ title, fingerprint, candidateId }) => ({ title, fingerprint, candidateId }))
  const expectKnown = async (ctx: OpenContext) => {
    const again = await lint(bed, { ctx })
    expect(again).toHaveLength(5)
    for (const found of known)
      expect(again).toContainEqual(expect.objectContaining({ ...found, status: 'proposed before' }))
  }
  await expectKnown(bed.ctx)
  await bed.ctx.close()
  rmSync(join(bed.dataDir, 'index'), { recursive: true })
  await expectKnown(await bed.reopen())
})

test('two runs at once propose a finding once', async () => {
  const bed = await writtenBed(troubled)
  await Promise.all([lint(bed), lint(bed), lint(bed)])
  expect(await queue(bed)).toHaveLength(5)
})

test('what no longer holds is found no more, and stays in the queue', async () => {
  const bed = await writtenBed({ 'a.md': linked(1, '[[Nowhere]]\n') })
  await lint(bed)
  bed.write({ 'nowhere.md': neuronText(2, { title: 'Nowhere' }) })
  expect(await lint(bed)).toEqual([])
  expect((await queue(bed)).map(({ title, status }) => [title, status])).toEqual([['Broken link: Nowhere', 'pending']])
})

test('a key that says it is lint, and names a fingerprint, keeps nothing from being proposed', async () => {
  const bed = await writtenBed({ 'a.md': linked(1, '[[Nowhere]]\n') })
  const [{ fingerprint } = { fingerprint: '' }] = await lint(bed, { isDryRun: true })
  await submitCandidate(bed.ctx, bed.app, candidate({ metadata: JSON.stringify({ connector: 'lint', fingerprint }) }))
  expect(await lint(bed)).toMatchObject([{ fingerprint, status: 'proposed' }])
})

test('a finding that is approved is no orphan, related to nothing, and seen by curators only', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'Lonely page' }) })
  const [found] = await lint(bed)
  const { seqId } = await approveCandidate(bed.ctx, bed.curator, found?.candidateId ?? '', {
    content: 'Nothing links to the lonely page.\n',
  })
  expect(await lint(bed)).toMatchObject([{ rule: 'orphan', status: 'proposed before' }])
  bed.write({ 'b.md': neuronText(20, { title: 'Another lonely page' }) })
  await lint(bed)
  const second = (await queue(bed)).find(({ title }) => title === 'Orphan: Another lonely page')
  expect(second?.content).toContain(`- [[${seq(1)}|Lonely page]]\n`)
  expect(second?.content).not.toContain(seqId)
  const read = (caller: TestBed['app']) => readNeuron(bed.ctx, caller, { kb: 'handbook', seqId })
  expect(await read(bed.curator)).toMatchObject({ title: 'Orphan: Lonely page' })
  await expect(read(bed.app)).rejects.toMatchObject({ code: 'not_found' })
})

test('a knowledge base whose settings say so takes findings as Neurons at once', async () => {
  const bed = await writtenBed({ 'a.md': linked(1, '[[Nowhere]]\n') })
  const settings = bed.native.read('main', 'kb.yaml').replace('cross-ref-suggestion: yellow', '')
  bed.native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  await lint(bed)
  expect((await queue(bed)).map(({ status }) => status)).toEqual(['approved'])
  expect((await lint(bed)).map(({ status }) => status)).toEqual(['proposed before'])
})

test('hidden Neurons are linted as well, and links into other knowledge bases are not', async () => {
  const body = '[[Secret]] [[kb:atlas/Nowhere]] [[kb:handbook/Here]]\n'
  const bed = await writtenBed({
    'a.md': linked(1, body),
    'secret.md': neuronText(2, { title: 'Secret', tags: ['internal'] }, '[[Gone]]\n'),
  })
  expect((await lint(bed)).map(({ title }) => title)).toEqual(['Broken link: Here', 'Broken link: Gone'])
})

test('of a thousand missing targets a run proposes the hundred that concern most, and the next ones the others', async () => {
  const names = Array.from({ length: 1000 }, (_, n) => `Topic ${(n + 1) ** 3}`)
  const body = (wanted: readonly string[]) => `${wanted.map((name) => `[[${name}]]`).join(' ')}\n`
  const bed = await writtenBed({
    'a.md': linked(1, body(names)),
    'b.md': linked(2, body(names.slice(800))),
    'c.md': linked(3, body(names.slice(950))),
  })
  const first = await lint(bed)
  expect(first).toHaveLength(1000)
  const proposed = first.filter(({ status }) => status === 'proposed')
  expect(proposed.map(({ impact }) => impact)).toEqual([...Array(50).fill(3), ...Array(50).fill(2)])
  const second = await lint(bed)
  expect(second.filter(({ status }) => status === 'proposed before')).toHaveLength(100)
  expect(second.filter(({ status }) => status === 'proposed')).toHaveLength(100)
})

test('a queue without room takes what it can; the rest stays open and is proposed when there is room', async () => {
  const bed = await writtenBed(troubled)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const at = new Date('2026-05-01T12:00:00Z')
  const waiting = Array.from(
    { length: 9_998 },
    (): Candidate => ({
      ...{ id: candidateIdFor(bed.kbId), kind: 'external-feed', title: 'Waiting', content: 'x', metadata: null },
      ...{ confidence: null, impactEstimate: null, connector: 'api', target: null, base: null },
      ...{ removes: false, frontMatter: null },
      verdict: { approve: false, zone: null, reason: 'no confidence given', warnings: [] },
      ...{ createdAt: at.toISOString(), createdBy: { id: 'key:app-key', name: 'The app' }, decisions: [] },
    }),
  )
  const by = { id: 'user:ada', name: 'Ada' }
  await kb.write((staging) => commitToQueue(kb, staging, waiting, { by, at, message: 'Fill' }))
  const statuses = async () => (await lint(bed)).map(({ status }) => status)
  expect(await statuses()).toEqual(['proposed', 'proposed', 'open', 'open', 'open'])
  await dismissCandidate(bed.ctx, bed.curator, waiting[0]?.id ?? '', {})
  expect(await statuses()).toEqual(['proposed before', 'proposed before', 'proposed', 'open', 'open'])
})

test('whatever happens to a knowledge base, it can be linted, and nothing is proposed twice', async () => {
  let proposed = 0
  await fc.assert(
    fc.asyncProperty(history, async (story) => {
      const bed = await newTestBed()
      const ctx = await happen(bed, story)
      const first = await lint(bed, { ctx })
      proposed += first.filter(({ status }) => status === 'proposed').length
      // What was proposed may have been approved at once, and change what is found.
      await lint(bed, { ctx })
      expect((await lint(bed, { ctx })).filter(({ status }) => status !== 'proposed before')).toEqual([])
      await ctx.close()
    }),
    { numRuns: runs(8, 3) },
  )
  expect(proposed).toBeGreaterThan(0)
})

test('the server lints each knowledge base at its time, as kb.yaml on main has it by then', async () => {
  const bed = await writtenBed({ 'a.md': linked(1, '[[Nowhere]]\n') })
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const at = (time: string) => new Date(`2026-05-01T${time}Z`)
  const proposedIn = async (after: string, until: string) => {
    await runLintSchedules(bed.ctx, { after: at(after), until: at(until), onError })
    return (await queue(bed)).map(({ title }) => title)
  }
  const setSchedule = (schedule: string) => {
    const settings = bed.native.read('main', 'kb.yaml').replace(/schedule: .*/, `schedule: ${schedule}`)
    bed.native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  }
  expect(await proposedIn('03:58:00', '03:59:00')).toEqual([])
  setSchedule('never')
  expect(await proposedIn('03:59:30', '04:00:30')).toEqual([])
  setSchedule('"30 5 * * *"')
  expect(await proposedIn('04:59:00', '05:29:30')).toEqual([])
  expect(await proposedIn('05:29:30', '05:30:00')).toEqual(['Broken link: Nowhere'])
  expect(errors).toEqual([])
})

test('a knowledge base that cannot be linted is told of, and holds up none', async () => {
  const bed = await writtenBed({ 'a.md': linked(1, '[[Nowhere]]\n') })
  const { gitDir } = await createKnowledgeBase(bed.ctx, { tenant: 'acme', slug: 'atlas' })
  writeFileSync(join(gitDir, 'refs/heads/main'), 'damaged\n')
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const day = { after: new Date('2026-05-01T00:00:00Z'), until: new Date('2026-05-02T00:00:00Z') }
  await runLintSchedules(bed.ctx, { ...day, onError })
  expect(errors).toHaveLength(1)
  expect(await queue(bed)).toHaveLength(1)
})
