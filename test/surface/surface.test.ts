import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ganglion } from '../cli/support.ts'
import { type Console, startConsole } from '../console/support.ts'

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
  const rules = readFileSync('deploy/alerts.yaml', 'utf8').matchAll(/\b(?:ganglion|http|process|nodejs)_[a-z0-9_]+/g)
  expect(Array.from(rules, ([name]) => name.replace(/_count$/, '')).filter((name) => !known.has(name))).toEqual([])
})

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
