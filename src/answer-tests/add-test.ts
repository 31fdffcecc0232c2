import { isDeepStrictEqual } from 'node:util'
import { ExtractPool } from '../chat/extract/extract-pool.ts'
import {
  type AddedTest,
  AnswerTest,
  type AnswerTestInput,
  maxTestFileBytes,
  maxTestFiles,
  maxTests,
} from '../contract/answer-tests.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { blobAtPath } from '../kb/projection/file-queries.ts'
import { accessOf } from '../kb/projection/neuron-queries.ts'
import { commitToMain } from '../kb/writing/commits.ts'
import { parseTestFile } from '../markdown/file/test-file.ts'
import { stringifyYaml } from '../markdown/yaml/yaml.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { oneLine } from '../rules/text/lines.ts'
import { kbAsker } from './kb-asker.ts'
import { dismissProposedTest } from './proposed-tests.ts'
import { readTestFiles } from './test-files.ts'

/**
 * Adds an answer test by a commit on main, which names the caller. Without an expectation, today's answer becomes one: its first
 * Neuron, or that there is none. An existing test is not added again. Dismisses what proposed the test in the queue.
 * @throws {GanglionError} `not_found`, `unavailable`
 * @throws {ValidationError} for unknown Neurons, or if there is no room
 */
export async function addAnswerTest(
  ctx: Context,
  caller: Caller,
  kbName: string,
  input: AnswerTestInput,
): Promise<AddedTest> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const given = AnswerTest.safeParse(input)
  const test = given.success ? given.data : await frozen(ctx, kb, input)
  requireNeurons(kb, test)
  const by = actorOf(caller)
  const added = await kb.write(async (staging) => {
    const { write: sql } = kb.projection
    const { main } = kb.projection.heads(sql)
    if (main === undefined) throw new GanglionError('unavailable')
    const { tests } = await readTestFiles(sql, { readTextOnce: (oid) => staging.readText(oid) })
    const known = tests.find((one) => isDeepStrictEqual(one.test, test))
    if (known !== undefined) return { commit: main, file: known.file, test }
    if (tests.length >= maxTests) refuse(`A knowledge base has at most ${maxTests} answer tests.`)
    const { file, text } = await placeFor(test, async (path) => {
      const blob = blobAtPath(sql, path)
      return blob === undefined ? '' : staging.readText(blob)
    })
    const commit = await commitToMain(kb, staging, {
      files: new Map([[file, text]]),
      subject: `Test the answer to "${oneLine(test.question, 60)}"`,
      trailers: [['Connector', 'console']],
      decided: { by, of: [] },
      at: ctx.now(),
    })
    return { commit, file, test }
  })
  const reason = `It became an answer test in ${added.file}.`
  // The test is on main. A proposal that stays is dismissed when the test is added again.
  await dismissProposedTest(ctx, caller, kbName, { question: test.question, reason }).catch(ctx.onError)
  return added
}

async function frozen(ctx: Context, kb: KnowledgeBase, input: AnswerTestInput): Promise<AnswerTest> {
  const asker = kbAsker(ctx, kb, ctx.threads.of(ExtractPool))
  const { cited } = await asker.answer(input.question, input.audience)
  const [first] = await asker.retrieve(input.question, input.audience, 1)
  const [main] = cited
  if (main === undefined) return AnswerTest.parse({ ...input, refuses: true })
  return AnswerTest.parse({ ...input, cites: [main], ...(first && { retrieves: [first.seqId] }) })
}

function requireNeurons({ projection }: KnowledgeBase, { retrieves = [], cites = [], search }: AnswerTest): void {
  const named = Object.entries({ retrieves, cites, search: search === undefined ? [] : [search.first] })
  const faults = named.flatMap(([field, seqIds]) => {
    const unknown = seqIds.filter((seqId) => accessOf(projection.read, seqId) === undefined)
    return unknown.length === 0 ? [] : [[field, unknown.map((seqId) => `names no Neuron: ${seqId}`)] as const]
  })
  if (faults.length > 0) throw new ValidationError(Object.fromEntries(faults))
}

const folder = 'tests/'

/** Returns the first file with room, with the test appended. @throws {ValidationError} if no file can be written */
async function placeFor(
  test: AnswerTest,
  read: (path: string) => Promise<string>,
): Promise<{ file: string; text: string }> {
  const { question, audience, top, ...expected } = test
  const shown = { question, ...(audience !== 'tool' && { audience }), ...(top !== 5 && { top }), ...expected }
  const entry = stringifyYaml([shown])
  for (let number = 1; number <= maxTestFiles; number++) {
    const file = `${folder}answers${number === 1 ? '' : `-${number}`}.yaml`
    const before = await read(file)
    const text = before + (before === '' || before.endsWith('\n') ? '' : '\n') + entry
    if (Buffer.byteLength(text) > maxTestFileBytes) continue
    const [held, now] = [parseTestFile(before), parseTestFile(text)]
    const isAdded = now.findings.length === 0 && now.tests.length === held.tests.length + 1
    if (isAdded && isDeepStrictEqual(now.tests.at(-1)?.test, test)) return { file, text }
    refuse(`${file} cannot take another test as it is: mend it by a push first.`)
  }
  return refuse('The files of the tests are full.')
}

function refuse(why: string): never {
  throw new ValidationError({}, [why])
}
