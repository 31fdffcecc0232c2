import type { Command } from 'commander'
import { z } from 'zod'
import { testReportOf } from '../../answer-tests/read-test-report.ts'
import { changesOf } from '../../answer-tests/test-effects.ts'
import { AnswerTest, type TestReport } from '../../contract/answer-tests.ts'
import { parentsOfCommit } from '../../git/objects/object.ts'
import { readableText } from '../../rules/text/lines.ts'
import { escapeXml } from '../../sources/extract/xml.ts'
import { NegativeAnswer } from '../cli-errors.ts'
import { type CloneAt, withClone } from '../clone-context.ts'
import { parseOptions } from '../command.ts'
import { addOptions, argument, flag, option } from '../options.ts'
import { CandidateName } from './review.ts'

const candidateText = 'test the commit of refs/candidates/<id>/head, which was fetched, and compare'
const Options = z.object({
  dir: argument(z.string().default('.'), 'a clone of the knowledge base, or a folder in it'),
  at: option(z.string().min(1).optional(), '<commit>', 'the commit to test (default: HEAD)'),
  candidate: option(CandidateName.optional(), '<id>', candidateText, { conflicts: ['at'] }),
  json: flag('print one line of JSON'),
  junit: flag('print XML in the format of JUnit', 'json'),
  schema: flag('print the JSON Schema of tests/*.yaml, for editors'),
})
type Options = z.output<typeof Options>

type Changes = ReturnType<typeof changesOf>

export function addTestCommand(program: Command): void {
  addOptions(program.command('test'), Options)
    .description('run the answer tests in tests/*.yaml of a clone; the exit code is 1 if one fails')
    .addHelpText(
      'after',
      '\nNeeds no server: tables and indexes are kept in .git/ganglion-tests. Only committed files are tested.' +
        '\n\nExample:\n  git fetch origin refs/candidates/$ID/head:refs/candidates/$ID/head && ganglion test --candidate $ID',
    )
    .action(async (dir: string, given: object, command: Command) => {
      const options = parseOptions(Options, command, { ...given, dir })
      if (options.schema) {
        process.stdout.write(`${JSON.stringify(z.toJSONSchema(z.array(AnswerTest), { io: 'input' }), null, 2)}\n`)
        return
      }
      const { report, changes } = await withClone(options.dir, (clone) => runAt(clone, options))
      const print = options.json ? toJson : options.junit ? toJunit : toText
      process.stdout.write(`${print(report, changes)}\n`)
      if (report.failed > 0 || report.problems.length > 0) throw new NegativeAnswer()
    })
}

async function runAt(
  { ctx, commitOf, open }: CloneAt,
  { at, candidate }: Options,
): Promise<{ report: TestReport; changes?: Changes }> {
  const run = async (commit: string): Promise<TestReport> => {
    const report = await testReportOf(ctx, await open(commit))
    return { ...report, commit }
  }
  if (candidate === undefined) return { report: await run(await commitOf(at ?? 'HEAD')) }
  const commit = await commitOf(`refs/candidates/${candidate}/head`)
  const kb = await open(commit)
  const [parent] = parentsOfCommit((await kb.repository.read(commit)).data)
  if (parent === undefined) throw new Error(`The commit ${commit} changes nothing: it is the first.`)
  const before = await run(parent)
  const report = { ...(await run(commit)), candidateId: candidate }
  return { report, changes: changesOf(before.results, report.results) }
}

function toJson(report: TestReport, changes: Changes | undefined): string {
  return JSON.stringify({ ...report, ...changes })
}

function toText({ commit, passed, failed, results, problems }: TestReport, changes: Changes | undefined): string {
  const place = ({ file, line, question }: { file: string; line: number; question: string }) =>
    `${file}:${line}: ${question}`
  const failing = results
    .filter((result) => !result.passed)
    .flatMap((result) => [`FAILED ${place(result)}`, ...result.failures.map((failure) => `  ${failure}`)])
  const changed = Object.entries(changes ?? {}).flatMap(([kind, list]) => list.map((one) => `${kind} ${place(one)}`))
  const wrong = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`)
  const count = passed + failed
  const summary =
    count === 0 ? 'There are no answer tests.' : `${passed} of ${count} answer tests pass at ${commit.slice(0, 12)}.`
  return readableText([...wrong, ...failing, ...changed, summary].join('\n'))
}

function toJunit({ results, failed }: TestReport): string {
  const cases = results.map(({ file, line, question, failures }) => {
    const name = `classname="${escapeXml(file)}" name="${escapeXml(question)}" file="${escapeXml(file)}" line="${line}"`
    const failure = failures.length === 0 ? '' : `<failure>${escapeXml(failures.join('\n'))}</failure>`
    return `  <testcase ${name}>${failure}</testcase>`
  })
  const suite = `<testsuite name="answer tests" tests="${results.length}" failures="${failed}">`
  return ['<?xml version="1.0" encoding="UTF-8"?>', suite, ...cases, '</testsuite>'].join('\n')
}
