import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { listening } from '../../../test/support/listening.ts'
import { runNode } from '../../../test/support/process.ts'
import { tempDir } from '../../../test/support/temp.ts'
import { contract } from './support/contract-deployment.ts'

const key = { CONTRACT_KEY: 'secret' }

/** A server that knows its knowledge base, and counts how often it is asked for what. */
async function fakeServer() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url} ${request.headers.authorization?.replace('Bearer ', '')}`
    const times = asked.push(line) - asked.indexOf(line)
    const answer = (status: number, body: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (request.url === '/base/api/v1/knowledge-bases') answer(200, { knowledgeBases: [{ slug: 'handbook' }] })
    else if (request.url === '/base/busy') answer(times === 1 ? 429 : 200, { times }, { 'retry-after': '0' })
    else if (request.url === '/base/refused') answer(403, {})
    else if (request.url === '/base/late') answer(200, { times })
    else if (request.url === '/base/things' && request.method === 'POST') answer(201, { id: `<${asked.length}>` })
    else if (request.url === '/base/events') {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(': hello\n\nid: 1\nevent: a\ndata: {"n":1}\n\n')
      setTimeout(() => response.write('id: 2\r\nevent: b\r\ndata: {"n":2}\r\n\r\n'), 50)
    } else answer(404, { error: 'not_found' })
  })
  return { url: `${await listening(server)}/base/`, asked }
}

function casesOf(text: string, cleanup = '[]'): string {
  const folder = tempDir()
  writeFileSync(join(folder, 'own.yaml'), `area: own\nscenarios:\n${text}`)
  writeFileSync(join(folder, 'cleanup.yaml'), cleanup)
  return folder
}

const passes = '  passes:\n    says: A & B\n    steps: [{send: GET /late, status: 200}]\n'
const fails = '  fails:\n    says: C < D\n    steps: [{send: GET /nowhere, status: 200}]\n'

test('the command prints a line for each scenario, with the faults of those that fail, and exits with 1', async () => {
  const { url } = await fakeServer()
  const cases = casesOf(passes + fails)
  expect(await contract(['--url', url, '--cases', cases, 'own'], key)).toEqual({
    code: 1,
    stdout:
      '✓ own/passes  A & B\n✗ own/fails  C < D\n    step 1, GET /nowhere: expected status 200, got 404 {"error":"not_found"}\n' +
      '\n1 passed, 1 failed, 0 expected to fail, 0 skipped\nLeft on the server: nothing.\n',
  })
  expect((await contract(['--url', url, '--cases', cases, 'own/passes'], key)).code).toBe(0)
  expect((await contract(['--list', '--cases', cases, 'own'])).stdout).toBe('own/passes  A & B\nown/fails  C < D\n')
})

test('an expected failure is none, and one that passes is a failure', async () => {
  const { url } = await fakeServer()
  const cases = casesOf(passes + fails)
  const file = join(tempDir(), 'expected')
  const run = () => contract(['--url', url, '--cases', cases, '--expected-failures', file, 'own'], key)
  writeFileSync(file, '# known\nown/fails # since ever\n\n')
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('~ own/fails') })
  writeFileSync(file, 'own/fails\nown/passes\n')
  expect(await run()).toMatchObject({ code: 1, stdout: expect.stringContaining('! own/passes') })
  writeFileSync(file, 'own/gone\n')
  await expect(run()).rejects.toThrow('There is no scenario own/gone.')
})

test('reports are JSON, JUnit and HTML, whatever an answer holds', async () => {
  const { url } = await fakeServer()
  const folder = tempDir()
  const [junit, html] = [join(folder, 'junit.xml'), join(folder, 'report.html')]
  const args = ['--url', url, '--cases', casesOf(passes + fails), '--json', '--junit', junit, '--html', html, 'own']
  const { stdout } = await contract(args, key)
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ url: url.slice(0, -1), kb: 'handbook', level: 'reference', passed: 1, failed: 1, expected: 0, skipped: 0 },
    scenarios: [
      { id: 'own/passes', verdict: 'passed', reasons: [] },
      { id: 'own/fails', verdict: 'failed', reasons: [expect.stringContaining('got 404')] },
    ],
    left: [],
  })
  expect(readFileSync(junit, 'utf8')).toContain('tests="2" failures="1" skipped="0"')
  expect(readFileSync(junit, 'utf8')).toContain('name="fails: C &lt; D"')
  expect(readFileSync(html, 'utf8')).toContain('got 404 {&quot;error&quot;:&quot;not_found&quot;}')
  expect(stdout + readFileSync(junit, 'utf8') + readFileSync(html, 'utf8')).not.toContain('secret')
})

test('a scenario is skipped when the server lacks a capability, or a key is missing', async () => {
  const { url } = await fakeServer()
  const cases = casesOf(
    '  lacks:\n    says: A\n    steps: [{send: POST /approve, optional: approvals, status: 200}]\n' +
      '  keyless:\n    says: B\n    steps: [{send: GET /late, as: curator}]\n',
  )
  const { code, stdout } = await contract(['--url', url, '--cases', cases, 'own'], key)
  expect(stdout).toContain(
    '- own/lacks  A\n    the server has no approvals\n- own/keyless  B\n    needs --curator-key\n',
  )
  expect(code).toBe(0)
})

test('a step waits for a limit, repeats until it holds, and reads streams of events', async () => {
  const { url, asked } = await fakeServer()
  const cases = casesOf(`  all:
    says: A
    steps:
      - {send: GET /busy, status: 200, answer: {times: 2}}
      - {send: GET /late, until: 10, answer: {times: {$min: 3}}}
      - {send: GET /events, opens: stream, status: 200}
      - {next: stream, answer: {event: b, data: {n: 2}}, save: {last: id}}
      - {each: {one: [a, b], two: ['\${last}']}, send: 'GET /late?\${one}\${two}', status: 404}
`)
  expect((await contract(['--url', url, '--cases', cases, 'own'], key)).code).toBe(0)
  expect(asked.filter((line) => line.includes('late?'))).toEqual([
    'GET /base/late?a2 secret',
    'GET /base/late?b2 secret',
  ])
})

test('what requests leave behind is removed, and listed where it cannot be', async () => {
  const { url, asked } = await fakeServer()
  const step = '    steps: [{send: POST /things, status: 201}]\n'
  const rule = (undo: string) =>
    `- {after: POST /*, status: 201, save: {id: id}, leaves: 'thing \${id}', undo: {send: '${undo}', as: curator}}`
  const run = (undo: string, env: object) =>
    contract(['--url', url, '--cases', casesOf(`  makes:\n    says: A\n${step}`, rule(undo)), 'own'], {
      ...key,
      ...env,
    })
  const curator = { CONTRACT_CURATOR_KEY: 'boss' }
  expect((await run('GET /late', curator)).stdout).toContain('Left on the server: nothing.')
  expect(asked.at(-1)).toBe('GET /base/late boss')
  expect((await run('GET /nowhere', curator)).stdout).toContain('Left on the server: nothing.')
  expect((await run('GET /refused', curator)).stdout).toContain('Left on the server: 1 thing.')
  expect((await run('GET /late', {})).stdout).toContain('Left on the server: 1 thing.')
})

test('a fault of the cases is named, and nothing is asked', async () => {
  const { url, asked } = await fakeServer()
  const run = (text: string) => contract(['--url', url, '--cases', casesOf(text), 'own'], key)
  await expect(run('  a:\n    says: A\n    steps: [{send: GET /late, stauts: 200}]\n')).rejects.toThrow(
    /own\.yaml is not valid:[\s\S]*stauts/,
  )
  expect(asked).toEqual([])
  const unknown = await run(`  a:\n    says: A\n    steps: [{send: 'GET /\${gone}'}]\n`)
  expect(unknown).toMatchObject({ code: 1, stdout: expect.stringContaining('There is no variable gone.') })
})

test('the program exits with 2 when the suite cannot run', async () => {
  const program = join(import.meta.dirname, '../src/bin.js')
  const run = (args: string[], env = {}) => runNode([program, ...args], { env })
  expect(await run([])).toMatchObject({ code: 2, stderr: 'error: --url and --key must be given. --help explains.\n' })
  expect(await run(['--colour'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Unknown option '--colour'"),
  })
  const stderr = expect.stringMatching(/^error: http:\S+ cannot be reached: .*ECONNREFUSED/)
  expect(await run(['--url', `http://127.0.0.1:${await freePort()}`], key)).toMatchObject({ code: 2, stderr })
  expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: ganglion-contract') })
})
