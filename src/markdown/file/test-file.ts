import { isMap, isNode, isScalar, isSeq, type Node } from 'yaml'
import { AnswerTest, maxTestFileBytes, maxTests } from '../../contract/answer-tests.ts'
import { faultOf } from '../../contract/faults.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { lineFinder, oneLine } from '../../rules/text/lines.ts'
import { parseFullYaml, parseYamlDocument, type YamlValue } from '../yaml/yaml.ts'

/** Answer test with the 1-based line of its start. */
export type PlacedTest = { line: number; test: AnswerTest }
export type TestFile = { tests: PlacedTest[]; findings: Omit<Finding, 'path'>[] }

/** Maximum number of unknown keys of an entry that are reported. */
const maxUnknown = 20

export function isTestPath(path: string): boolean {
  return /^tests\/[^/]+\.yaml$/.test(path)
}

/**
 * Parses a file of answer tests. Never throws. A file in which no entry has a question is a warning only: the repository may have had other
 * files in `tests/` before.
 */
export function parseTestFile(text: string): TestFile {
  if (Buffer.byteLength(text) > maxTestFileBytes)
    return { tests: [], findings: [notRun(`it has more than ${maxTestFileBytes / 1024} KB`)] }
  const { data, problems } = parseFullYaml(text)
  if (data === '' && problems.length === 0) return { tests: [], findings: [] }
  if (!looksMeant(data)) return { tests: [], findings: [notRun('it is no list of questions with what must hold')] }
  const [problem] = problems
  if (problem !== undefined) return { tests: [], findings: [finding(problem.line, oneLine(problem.message, 500))] }
  return readEntries(text, data)
}

function readEntries(text: string, entries: readonly YamlValue[]): TestFile {
  const { contents } = parseYamlDocument(text)
  const lineAt = lineFinder(text)
  const lineOf = (path: readonly PropertyKey[]) => lineAt(offsetOf(contents, path))
  const tests: PlacedTest[] = []
  const findings: TestFile['findings'] = []
  for (const [index, entry] of entries.slice(0, maxTests).entries()) {
    const parsed = AnswerTest.safeParse(typed(entry), { error: faultOf })
    if (parsed.success) tests.push({ line: lineOf([index]), test: parsed.data })
    for (const issue of parsed.error?.issues ?? []) {
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
      const path = [index, ...issue.path]
      if (unknown.length === 0) findings.push(finding(lineOf(path), sentence(issue.path, issue.message)))
      for (const key of unknown.slice(0, maxUnknown))
        findings.push(finding(lineOf([...path, key]), sentence([...issue.path, key], 'is no field of an answer test')))
    }
  }
  if (entries.length > maxTests)
    findings.push(finding(lineOf([maxTests]), `A knowledge base has at most ${maxTests} answer tests.`))
  return { tests, findings: findings.toSorted((one, other) => one.line - other.line) }
}

function looksMeant(data: YamlValue): data is YamlValue[] {
  const isEntry = (entry: YamlValue) => typeof entry === 'object' && !Array.isArray(entry) && 'question' in entry
  return Array.isArray(data) && data.some(isEntry)
}

/** Converts scalars of YAML's failsafe schema to the types of the fields. */
function typed(entry: YamlValue): unknown {
  if (typeof entry !== 'object' || Array.isArray(entry)) return entry
  const { top, refuses } = entry
  return { ...entry, ...(top && { top: toNumber(top) }), ...(refuses && { refuses: toFlag(refuses) }) }
}

const toNumber = (value: YamlValue) => (typeof value === 'string' && /^[0-9]{1,4}$/.test(value) ? Number(value) : value)
const toFlag = (value: YamlValue) => (value === 'true' || value === 'false' ? value === 'true' : value)

function sentence(path: readonly PropertyKey[], message: string): string {
  return oneLine(path.length === 0 ? `An answer test ${message}.` : `${path.join('.')} ${message}.`, 500)
}

function finding(line: number, message: string): Omit<Finding, 'path'> {
  return { rule: 'answer-test', severity: 'error', line, message }
}

function notRun(why: string): Omit<Finding, 'path'> {
  return { rule: 'answer-test', severity: 'warning', line: 1, message: `The file holds no answer tests: ${why}.` }
}

/** Returns the offset of the deepest existing part of a path in the document. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let offset = 0
  let node = isNode(contents) ? contents : undefined
  for (const part of path) {
    let found: Node | null | undefined
    if (isSeq<Node>(node)) found = node.items[Number(part)]
    if (isMap<Node, Node | null>(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.source === part)
      offset = pair?.key.range?.[0] ?? offset
      found = pair?.value
    } else offset = found?.range?.[0] ?? offset
    node = found ?? undefined
  }
  return offset
}
