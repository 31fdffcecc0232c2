import { LRUCache } from 'lru-cache'
import { maxTestFiles, maxTests, type TestReport } from '../contract/answer-tests.ts'
import type { Repository } from '../git/repository.ts'
import { blobAtPath, filesInFolder } from '../kb/projection/file-queries.ts'
import type { MainTables } from '../kb/projection/projection.ts'
import { isTestPath, parseTestFile, type TestFile } from '../markdown/file/test-file.ts'
import type { FiledTest } from './run-tests.ts'

export type TestSet = { tests: FiledTest[]; problems: TestReport['problems'] }

/** Cache of parsed files by blob: console pages read them, and a hostile file takes a third of a second to parse. */
const known = new LRUCache<string, TestFile>({ max: 200 })

/** Reads the answer tests of main or of a preview, by path and position, and the problems that keep others from running. */
export async function readTestFiles(sql: MainTables, repository: Pick<Repository, 'readTextOnce'>): Promise<TestSet> {
  const tests: FiledTest[] = []
  const problems: TestSet['problems'] = []
  const files = [...filesInFolder(sql, 'tests/')].filter(isTestPath)
  for (const file of files.slice(0, maxTestFiles)) {
    const blob = blobAtPath(sql, file)
    if (blob === undefined) continue
    const parsed = known.get(blob) ?? parseTestFile(await repository.readTextOnce(blob))
    known.set(blob, parsed)
    tests.push(...parsed.tests.map((test) => ({ file, ...test })))
    problems.push(...parsed.findings.map(({ line, message }) => ({ file, line, message })))
  }
  const more = files[maxTestFiles]
  if (more !== undefined) {
    const message = `At most ${maxTestFiles} files of answer tests are read: those from here on are not run.`
    problems.push({ file: more, line: 1, message })
  }
  const over = tests[maxTests]
  if (over === undefined) return { tests, problems }
  const message = `A knowledge base has at most ${maxTests} answer tests: those from here on are not run.`
  return { tests: tests.slice(0, maxTests), problems: [...problems, { file: over.file, line: over.line, message }] }
}
