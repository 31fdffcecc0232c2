import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readCases, scenariosOf } from './case-format.ts'
import { type ContractReport, htmlOf, isBad, junitOf, resultLine, summaryOf, verdictOf } from './contract-report.ts'
import { valueAt } from './match-value.ts'
import { runScenarios } from './run-scenarios.ts'
import { sendRequest, type Target } from './send-request.ts'

const usage = `Usage: ganglion-contract --url URL --key KEY [options] [area | area/scenario …]

Checks that a server keeps the contract of /api/v1. Use a knowledge base for tests: candidates are kept permanently.

  --url URL                  address of the server, with its path prefix if it has one
  --key KEY                  bearer token; better in the environment, as CONTRACT_KEY
  --curator-key KEY          token that may approve (CONTRACT_CURATOR_KEY)
  --other-key KEY            token of another tenant (CONTRACT_OTHER_KEY)
  --kb KB                    slug of the knowledge base; without it the first one of the tenant
  --level LEVEL              reference (default): what the document says; ganglion: also what Ganglion adds
  --cases FOLDER             further scenarios: a YAML file for each area
  --expected-failures FILE   scenarios that may fail, one on a line; # begins a comment
  --json                     print one JSON object in place of lines
  --junit FILE, --html FILE  write a report
  --timeout SECONDS          of a request; default 60
  --list                     print the scenarios and end

Exit code: 0 if all is as expected, 1 if not, 2 if the suite could not run.
`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  ...{ url: text, key: text, 'curator-key': text, 'other-key': text, kb: text, cases: text, 'expected-failures': text },
  ...{ level: { ...text, default: 'reference' }, timeout: { ...text, default: '60' }, junit: text, html: text },
  ...{ json: flag, list: flag, help: { ...flag, short: 'h' } },
} as const

/** Runs the command line and returns its exit code. */
export async function runContract(
  args: string[],
  env = process.env,
  print = (text: string) => void process.stdout.write(text),
): Promise<number> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  if (values.help) {
    print(usage)
    return 0
  }
  const { level, json } = values
  if (level !== 'reference' && level !== 'ganglion') throw new Error('--level must be reference or ganglion.')
  const folders = [fileURLToPath(new URL('cases', import.meta.url)), values.cases ?? []].flat()
  const read = await Promise.all(folders.map(readCases))
  const areas = read.flatMap((each) => each.areas)
  const known = areas.flatMap((area) => [area.area, ...scenariosOf(area).map(({ id }) => id)])
  const expected = new Set(await expectedFailures(values['expected-failures']))
  const stranger = [...positionals, ...expected].find((name) => !known.includes(name))
  if (stranger !== undefined) throw new Error(`There is no scenario ${stranger}. --list prints all.`)
  const isWanted = ({ id, level: needed }: { id: string; level: string }) =>
    (level === 'ganglion' || needed === 'reference') &&
    (positionals.length === 0 || positionals.some((name) => name === id || id.startsWith(`${name}/`)))
  if (values.list) {
    for (const { id, says } of areas.flatMap(scenariosOf).filter(isWanted)) print(`${id}  ${says}\n`)
    return 0
  }
  const keys = {
    key: values.key ?? env.CONTRACT_KEY,
    curator: values['curator-key'] ?? env.CONTRACT_CURATOR_KEY,
    other: values['other-key'] ?? env.CONTRACT_OTHER_KEY,
  }
  if (values.url === undefined || keys.key === undefined)
    throw new Error('--url and --key must be given. --help explains.')
  const timeout = Number(values.timeout) * 1000
  if (!(timeout > 0)) throw new Error('--timeout must be a number of seconds.')
  const target: Target = { url: new URL(values.url).href.replace(/\/+$/, ''), keys, timeout }
  const kb = await knowledgeBase(target, values.kb)
  const startedAt = new Date().toISOString()
  const { results, left } = await runScenarios(areas, {
    ...target,
    ...{ kb, cleanup: read.flatMap(({ cleanup }) => cleanup), isWanted },
    onResult: (result) => json || print(resultLine(result, verdictOf(result, expected))),
  })
  const scenarios = results.map((result) => ({ ...result, verdict: verdictOf(result, expected) }))
  const count = (isOne: (scenario: (typeof scenarios)[number]) => boolean) => scenarios.filter(isOne).length
  const report: ContractReport = {
    ...{ url: target.url, kb, level, startedAt, passed: count(({ verdict }) => verdict === 'passed') },
    ...{
      failed: count(({ verdict }) => isBad(verdict)),
      expected: count(({ verdict }) => verdict === 'expected failure'),
    },
    ...{ skipped: count(({ verdict }) => verdict === 'skipped'), scenarios, left },
  }
  print(json ? `${JSON.stringify(report)}\n` : summaryOf(report))
  if (values.junit !== undefined) await writeFile(values.junit, junitOf(report))
  if (values.html !== undefined) await writeFile(values.html, htmlOf(report))
  return report.failed > 0 || scenarios.length === 0 ? 1 : 0
}

async function expectedFailures(file: string | undefined): Promise<string[]> {
  if (file === undefined) return []
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '')
}

/** Returns the slug of the knowledge base to test. @throws if the server cannot be asked */
async function knowledgeBase(target: Target, named: string | undefined): Promise<string> {
  const path =
    named === undefined
      ? '/api/v1/knowledge-bases'
      : `/api/v1/knowledge-bases/${encodeURIComponent(named)}/search?q=contract`
  const { status, value } = await sendRequest(target, {
    send: `GET ${path}`,
    as: 'key',
    headers: {},
    json: undefined,
  }).catch((error) => {
    throw new Error(`${target.url} cannot be reached: ${error.cause ?? error}`)
  })
  if (status !== 200)
    throw new Error(
      `${target.url}${path} answers ${status} to this key.${named === undefined ? ' Name one with --kb.' : ''}`,
    )
  const slug = named ?? valueAt(value, 'knowledgeBases.0.slug')
  if (typeof slug !== 'string') throw new Error('The tenant has no knowledge base.')
  return slug
}
