import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { someOf } from '../../../test/support/properties.ts'
import { tempDir } from '../../../test/support/temp.ts'
import { readCases, scenariosOf } from '../src/case-format.ts'
import { brokenRules, listsIn, mutations, uncaughtMutations, unnoticedDamages } from './support/broken-rules.ts'
import { contract, newContractKeys, startContractServer } from './support/contract-deployment.ts'

const minutes = 60_000
const { areas, cleanup } = await readCases('packages/contract-suite/src/cases')
const scenarios = areas.flatMap(scenariosOf)

test('a server passes each scenario, and each scenario fails when the server breaks its rule', {
  timeout: 20 * minutes,
}, async () => {
  const dataDir = join(tempDir(), 'data')
  const keys = await newContractKeys(dataDir)
  const url = await startContractServer(dataDir)
  const { code, stdout } = await contract(['--url', url, '--level', 'ganglion'], keys)
  expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('✓'))).toEqual([
    `${scenarios.length} passed, 0 failed, 0 expected to fail, 0 skipped`,
    expect.stringMatching(/^Left on the server: \d+ candidates\.$/),
  ])
  expect(code).toBe(0)

  const named = { key: keys.CONTRACT_KEY, curator: keys.CONTRACT_CURATOR_KEY, other: keys.CONTRACT_OTHER_KEY }
  const server = { url, kb: 'handbook', cleanup, keys: named }
  expect(await uncaughtMutations(areas, someOf(mutations, 40), server)).toEqual([])
})

test('no list of any route can lack an item, be in reverse or have other ids unnoticed', {
  timeout: 20 * minutes,
}, async () => {
  const dataDir = join(tempDir(), 'data')
  const keys = await newContractKeys(dataDir)
  const url = await startContractServer(dataDir)
  const named = { key: keys.CONTRACT_KEY, curator: keys.CONTRACT_CURATOR_KEY, other: keys.CONTRACT_OTHER_KEY }
  const server = { url, kb: 'handbook', cleanup, keys: named }
  const lists = await listsIn(areas, server)
  expect(lists.length).toBeGreaterThan(12)
  // Further warnings of a submission, such as similar pages, depend on what the knowledge base holds.
  const incidental = /^\^POST \/api\/v1\/queue\/candidates\S* warnings: (?!drop)/
  const unnoticed = await unnoticedDamages(lists, server)
  expect(unnoticed.filter((damage) => !incidental.test(damage))).toEqual([])
})

test('each scenario has a mutation', () => {
  expect(Object.keys(brokenRules).sort()).toEqual(scenarios.map(({ id }) => id).sort())
})

test('the document lists each scenario and its mutations', async () => {
  const path = 'packages/contract-suite/README.md'
  const rows = scenarios.map(
    ({ id, level, says }) =>
      `| \`${id}\` | ${level === 'reference' ? 'R' : 'G'} | ${says.replaceAll('|', '\\|')} | ${Object.keys(brokenRules[id] ?? {}).join('; ')} |`,
  )
  const table = [
    '| scenario | level | what the document says | caught: a server that … |',
    '|---|---|---|---|',
    ...rows,
    '',
  ]
  const [prose = ''] = readFileSync(path, 'utf8').split('\n| scenario |')
  await expect(`${prose}\n${table.join('\n')}`).toMatchFileSnapshot(join('../../..', path))
})

test('the package has the version of the server', () => {
  const Manifest = z.object({ version: z.string(), license: z.string() })
  const [own, server] = ['packages/contract-suite/package.json', 'package.json'].map((path) =>
    Manifest.parse(JSON.parse(readFileSync(path, 'utf8'))),
  )
  expect(own).toEqual(server)
})

test('the package depends on the packages that it imports, in the versions of the server', () => {
  const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) })
  const [own, server] = ['packages/contract-suite/package.json', 'package.json'].map(
    (path) => Manifest.parse(JSON.parse(readFileSync(path, 'utf8'))).dependencies,
  )
  const sources = globSync('packages/contract-suite/src/*').filter((path) => /\.[jt]s$/.test(path))
  const imported = sources.flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(/ from '(?!\.|node:)([^']+)'/g), ([, name = '']) => name),
  )
  expect(own).toEqual(Object.fromEntries([...new Set(imported)].map((name) => [name, server?.[name]])))
})
