import { expect, onTestFinished, test, vi } from 'vitest'
import { testReportOf } from '../../src/answer-tests/read-test-report.ts'
import { readTestFiles } from '../../src/answer-tests/test-files.ts'
import { openContext } from '../../src/app/open-context.ts'
import type { TestReport } from '../../src/contract/answer-tests.ts'
import { demoSlug, firstRun } from '../../src/operate/setup/first-run.ts'
import { correction } from '../kb/support/test-bed.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'
import { testedBed } from './tested-bed.ts'

const failuresOf = ({ results }: TestReport) => results.map(({ question, failures }) => [question, ...failures])

test('each expectation is held against what the audience is answered', async () => {
  const { vip, hidden, commit, report } = await testedBed()
  const head = await commit({
    'tests/answers.yaml': `- question: Who is paged for a VIP ticket?
  retrieves: [${vip}]
  cites: [${vip}]
  contains: [PAGE  the lead]
  notContains: [nobody]
  refuses: false
  search: { q: escalation policy, first: ${vip} }
- question: What is the salary of the lead?
  retrieves: [${hidden}]
- question: What is the salary of the lead?
  audience: curator
  retrieves: [${hidden}]
`,
    'tests/failing.yaml': `- question: Which submarine crosses Antarctica?
  cites: [${vip}]
  contains: [ice]
  refuses: false
- question: Who is paged for a VIP ticket?
  cites: [${hidden}]
  contains: [nobody]
  notContains: [the lead]
  refuses: true
  search: { q: secret salary, first: ${hidden} }
`,
  })
  const found = await report()
  expect(failuresOf(found)).toEqual([
    ['Who is paged for a VIP ticket?'],
    [
      'What is the salary of the lead?',
      expect.stringMatching(new RegExp(`^${hidden} is not among the first 5; found: ${vip}`)),
    ],
    ['What is the salary of the lead?'],
    [
      'Which submarine crosses Antarctica?',
      `The answer does not cite ${vip}; it refuses to answer.`,
      'The answer does not contain "ice"; it refuses to answer',
      'Nothing answers the question.',
    ],
    [
      'Who is paged for a VIP ticket?',
      `The answer does not cite ${hidden}; it cites ${vip}.`,
      expect.stringMatching(
        /^The answer does not contain "nobody"; it says: \*\*VIP escalation policy\*\* When a VIP customer/,
      ),
      'The answer contains "the lead".',
      `The question is answered; it cites ${vip}.`,
      expect.stringMatching(/^A search for "secret salary" does not list .* first; /),
    ],
  ])
  const [first] = found.results
  expect(first).toMatchObject({ file: 'tests/answers.yaml', line: 1, audience: 'tool', passed: true })
  expect(first?.top[0]).toEqual({
    seqId: vip,
    title: 'VIP escalation policy',
    passage: 'When a VIP customer raises a ticket, page the lead.',
  })
  expect(found).toMatchObject({ commit: head, passed: 2, failed: 3, problems: [], redSince: head })
  expect(await report()).toEqual(found)
})

test('a question that is added becomes a test of what it is answered today', async () => {
  const { ctx, vip, commit, report, add } = await testedBed()
  expect(await report()).toMatchObject({ results: [], history: [], redSince: null, coverage: { reached: 0 } })
  await commit({ 'tests/answers.yaml': '# Ours.\n- question: Who is paged for a VIP ticket?\n  contains: [the lead]' })
  const added = await add({ question: 'Who is paged for a VIP ticket?' })
  expect(added.test).toEqual({
    ...{ question: 'Who is paged for a VIP ticket?', audience: 'tool', top: 5 },
    ...{ cites: [vip], retrieves: [vip] },
  })
  expect(await add({ question: 'Who is paged for a VIP ticket?' })).toEqual(added)
  const refused = await add({ question: 'Which submarine crosses Antarctica?', audience: 'public' })
  expect(refused.test).toMatchObject({ refuses: true })
  const wished = await add({ question: 'Which submarine crosses Antarctica?', refuses: false })

  const { repository } = await ctx.kb((await ctx.tenants.find('acme'))?.id ?? '', 'handbook')
  const blob = (await repository.blobAt(wished.commit, 'tests/answers.yaml')) ?? ''
  expect(await repository.readText(blob)).toBe(`# Ours.
- question: Who is paged for a VIP ticket?
  contains: [the lead]
- question: Who is paged for a VIP ticket?
  retrieves:
    - ${vip}
  cites:
    - ${vip}
- question: Which submarine crosses Antarctica?
  audience: public
  refuses: true
- question: Which submarine crosses Antarctica?
  refuses: false
`)
  expect(await report()).toMatchObject({ commit: wished.commit, passed: 3, failed: 1 })

  await expect(add({ question: 'Who?', cites: ['handbook_00009999'] })).rejects.toMatchObject({
    fieldErrors: { cites: ['names no Neuron: handbook_00009999'] },
  })
  await commit({ 'tests/answers.yaml': '[{question: Who?, refuses: true}]\n' })
  await expect(add({ question: 'Why?' })).rejects.toMatchObject({
    formErrors: ['tests/answers.yaml cannot take another test as it is: mend it by a push first.'],
  })
})

test('it is known since which tested commit main is red, and what no test reaches', async () => {
  const { vip, hidden, take, commit, report, add } = await testedBed()
  await add({ question: 'Who is paged for a VIP ticket?', contains: ['the lead'] })
  const green = await report()
  expect(green.redSince).toBeNull()
  expect(green.coverage.unreached.map(({ seqId }) => seqId)).toContain(hidden)
  expect(green.coverage.unreached.map(({ seqId }) => seqId)).not.toContain(vip)
  expect(green.coverage.neurons - green.coverage.reached).toBe(green.coverage.unreached.length)

  await take(correction(vip, 'When a VIP customer raises a ticket, page nobody.'))
  const red = await report()
  await commit({ 'assets/a.txt': 'more' })
  const still = await report()
  expect(still.redSince).toBe(red.commit)
  expect(still.history.map(({ commit, failed }) => [commit, failed])).toEqual([
    [green.commit, 0],
    [red.commit, 1],
    [still.commit, 1],
  ])
})

test('what is wrong in a file is told with its line, and the other tests are run', async () => {
  const { commit, report } = await testedBed()
  await commit({
    'tests/a.yaml':
      '- question: Who?\n  must: hold\n- question: Which submarine crosses Antarctica?\n  refuses: true\n',
    'tests/ci.yaml': 'on: push\n',
  })
  const { passed, failed, problems } = await report()
  expect([passed, failed, problems]).toEqual([
    1,
    0,
    [
      {
        ...{ file: 'tests/a.yaml', line: 1 },
        message: 'An answer test needs at least one of retrieves, cites, contains, notContains, refuses, search.',
      },
      { file: 'tests/a.yaml', line: 2, message: 'must is no field of an answer test.' },
      {
        ...{ file: 'tests/ci.yaml', line: 1 },
        message: 'The file holds no answer tests: it is no list of questions with what must hold.',
      },
    ],
  ])
})

test('more files of tests than a knowledge base may have are not read', async () => {
  const { commit, report } = await testedBed()
  const file = (at: number) => `tests/${String(at).padStart(2, '0')}.yaml`
  await commit(
    Object.fromEntries(Array.from({ length: 52 }, (_, at) => [file(at), '- question: Who?\n  refuses: true\n'])),
  )
  const { results, problems } = await report()
  expect(results).toHaveLength(50)
  expect(problems).toMatchObject([{ file: file(50), message: expect.stringMatching(/^At most 50 files/) }])
})

test('a file that is as it was is not parsed again', async () => {
  const { commit, kb } = await testedBed()
  await commit({ 'tests/a.yaml': '- question: Who is asked only here?\n  refuses: true\n' })
  const read = vi.fn((oid: string) => kb.repository.readTextOnce(oid))
  const files = () => readTestFiles(kb.projection.read, { readTextOnce: read })
  const first = await files()
  expect(await files()).toEqual(first)
  expect([first.tests.length, read.mock.calls.length]).toEqual([1, 1])
})

test('the answer tests of the demonstration pass', async () => {
  const ctx = await openContext({ dataDir: tempDir(), threads })
  onTestFinished(() => ctx.close())
  await firstRun(ctx)
  const { id: tenantId } = await ctx.tenants.ensure('default', ctx.now())
  const report = await testReportOf(ctx, await ctx.kb(tenantId, demoSlug))
  expect(failuresOf(report).filter(([, ...failures]) => failures.length > 0)).toEqual([])
  expect(report).toMatchObject({ passed: 5, problems: [] })
})
