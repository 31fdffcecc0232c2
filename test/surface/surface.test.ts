import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ganglion } from '../cli/support.ts'
import { type Console, startConsole } from '../console/support.ts'
import { tempDir } from '../support/temp.ts'

// What clients, scripts and dashboards depend on. `npm test -- test/surface -u` records a change that is meant.

let started: Console

beforeAll(async () => {
  started = await startConsole()
})

afterAll(() => started.close())

const get = async (url: string) => (await started.app.inject(url)).body

test('the description of the API is the one that is recorded', async () => {
  const { paths, components, ...rest } = JSON.parse(await get('/openapi.json'))
  const parts = [
    ['', rest],
    ...Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(Object(operations)).map(([method, operation]) => [`${method} ${path}`, operation]),
    ),
    ...Object.entries(components.schemas),
  ]
  const lines = parts.map(([name, part]) => `${name} ${JSON.stringify(part)}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('openapi.txt')
})

test('the routes that are not described are those that are recorded', async () => {
  const lines = started.app.printRoutes({ commonPrefix: false }).split('\n')
  // A described route also refuses every other method.
  await expect(lines.filter((line) => !line.includes('TRACE')).join('\n')).toMatchFileSnapshot('routes.txt')
})

test('the metrics have the names that are recorded', async () => {
  const names = Array.from((await get('/metrics')).matchAll(/^# TYPE (\S+ \S+)$/gm), ([, name = '']) => name)
  await expect(`${names.sort().join('\n')}\n`).toMatchFileSnapshot('metrics.txt')
  const known = new Set(names.map((name) => name.split(' ')[0]))
  const files = ['deploy/alerts.yaml', 'deploy/grafana-dashboard.json'].map((file) => readFileSync(file, 'utf8'))
  const named = files.join('').matchAll(/\b(?:ganglion|http|process|nodejs)_[a-z0-9_]+/g)
  const unknown = Array.from(named, ([name]) => name.replace(/_(?:count|bucket)$/, '')).filter(
    (name) => !known.has(name),
  )
  expect(unknown).toEqual([])
  // What a server knows of itself and nobody looks at is of no use.
  expect(
    names
      .filter((name) => /^(?:ganglion|http)_/.test(name))
      .filter((name) => !files[1]?.includes(name.split(' ')[0] ?? '')),
  ).toEqual([])
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

test.runIf(hasPromtool)('the metrics, rules and queries of the dashboard are what Prometheus takes', async () => {
  const own = (await get('/metrics')).split('\n').filter((line) => /^(?:# \w+ )?(?:ganglion|http)_/.test(line))
  promtool(['check', 'metrics'], `${own.join('\n')}\n`)
  promtool(['check', 'rules', 'deploy/alerts.yaml'])
  const dashboard = readFileSync('deploy/grafana-dashboard.json', 'utf8').replaceAll('$__rate_interval', '5m')
  const queries = [...dashboard.matchAll(/"expr": (".*"),$/gm)].map(
    ([, query = ''], n) => `{"record":"q${n}","expr":${query}}`,
  )
  expect(queries.length).toBeGreaterThan(30)
  const file = join(tempDir(), 'queries.yaml')
  writeFileSync(file, `{"groups":[{"name":"dashboard","rules":[${queries}]}]}`)
  promtool(['check', 'rules', file])
})

function promtool(args: string[], input = ''): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' })
}

test('the help is the one that is recorded, of every command', async () => {
  const helps: string[] = []
  const read = async (words: string[]): Promise<void> => {
    const { stdout } = await ganglion([...words, '--help'])
    helps.push(`$ ganglion ${[...words, '--help'].join(' ')}\n${stdout}`)
    const [, listed = ''] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(stdout) ?? []
    for (const [, name = ''] of listed.matchAll(/^ {2}([a-z-]+) /gm)) if (name !== 'help') await read([...words, name])
  }
  await read([])
  await expect(helps.join('\n')).toMatchFileSnapshot('help.txt')
})
