import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { uploadFile } from '../../../src/cli/commands/upload.ts'
import { defaultFileTypes } from '../../../src/contract/documents.ts'
import { ingestSteps } from '../../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../../src/sources/ingest/job-runner.ts'
import { startProduct } from '../../e2e/support.ts'
import { eventually } from '../../support/eventually.ts'
import { flakyProxy } from '../../support/flaky-proxy.ts'
import { listening } from '../../support/listening.ts'
import { finished, startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, main } from '../support.ts'

type Server = { url: string; kb: string; app: string; curator: string }
type Report = { file: string; result: string; documentId?: string; status?: string; error?: string; neurons?: number }

async function startServer(): Promise<Server> {
  const { url, ctx, tokens } = await startProduct()
  const onError = (error: unknown) => process.stderr.write(`${error}\n`)
  onTestFinished(await startIngest(ctx, ingestSteps(ctx, undefined), { onError }))
  return { url, kb: 'handbook', app: tokens.app, curator: tokens.curator }
}

/** Files of a folder of their own; gives their paths. */
function files(contents: Record<string, string>): string[] {
  const folder = tempDir()
  return Object.entries(contents).map(([name, content]) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  })
}

async function upload(
  { url, kb, app }: Server,
  args: string[],
  key = app,
): Promise<{ code: number | null; files: Report[] }> {
  const { code, stdout } = await ganglion(['upload', ...args, '--kb', kb, '--json'], {
    GANGLION_URL: url,
    GANGLION_KEY: key,
  })
  return { code, files: (JSON.parse(stdout) as { files?: Report[] }).files ?? [] }
}

async function sources({ url, kb, curator }: Server): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${curator}` }
  const response = await fetch(`${url}/api/v1/knowledge-bases/${kb}/documents`, { headers })
  return ((await response.json()) as { documents: Record<string, unknown>[] }).documents
}

test('files are uploaded and become Neurons; those that are known are told, not failed', async () => {
  const server = await startServer()
  const [a = '', b = ''] = files({ 'a.md': '# Alpha\n\nThe first note.\n', 'b.txt': 'The second note.\n' })
  const first = await upload(server, [a, b, '--wait', '--path', '/notes', '--tag', 'x', '--tag', 'y'])
  expect(first).toEqual({
    code: 0,
    files: [a, b].map((file) => {
      const counts = { neurons: expect.any(Number), pending: expect.any(Number) }
      return { file, result: 'uploaded', documentId: expect.any(String), status: 'success', ...counts }
    }),
  })
  expect(first.files[0]?.neurons).toBeGreaterThan(0)
  expect(await sources(server)).toMatchObject([
    { filename: 'b.txt', path: '/notes', status: 'success' },
    { filename: 'a.md', path: '/notes', status: 'success', tags: 'x,y' },
  ])
  const again = await upload(server, [a, b, '--wait'])
  expect(again).toEqual({
    code: 0,
    files: first.files.map(({ file, documentId }) => ({ file, result: 'duplicate', documentId })),
  })
  const forced = await upload(server, [a, '--force'])
  expect(forced.files).toMatchObject([{ result: 'uploaded' }])
  expect(forced.files[0]?.documentId).not.toBe(first.files[0]?.documentId)
})

test('a file of a name that is there is another Source, or with --replace its next edition', async () => {
  const server = await startServer()
  const write = (content: string) => files({ 'hours.md': content })[0] ?? ''
  const [first] = (await upload(server, [write('# Hours\n\nUntil five.\n'), '--wait'])).files
  const [second] = (await upload(server, [write('# Hours\n\nUntil six.\n'), '--wait'])).files
  const [third] = (await upload(server, [write('# Hours\n\nUntil seven.\n'), '--replace', '--wait'])).files
  expect([first, second, third].map((report) => report?.status)).toEqual(Array(3).fill('success'))
  expect((await sources(server)).map(({ id }) => id)).toEqual([third?.documentId, first?.documentId])
})

test('two files that would look the same are refused before anything is sent', async () => {
  const [one = ''] = files({ 'README.md': '# One\n' })
  const [two = ''] = files({ 'README.md': '# Two\n' })
  const env = { GANGLION_URL: 'http://127.0.0.1:9', GANGLION_KEY: 'gng_x' }
  const { code, stderr } = await ganglion(['upload', one, two, '--kb', 'x', '--path', '/notes'], env)
  expect(code).toBe(2)
  expect(stderr).toContain(`${one} and ${two} would both be README.md in /notes`)
})

test('a file that cannot be taken, or fails, is exit code 1, and the others are taken', async () => {
  const server = await startServer()
  const [note = '', legacy = '', exe = ''] = files({ 'n.md': '# Note\n\nText.\n', 'o.doc': 'old', 'x.exe': 'MZ' })
  const { code, files: reports } = await upload(server, [note, legacy, exe, '/nowhere.md', '--wait'])
  expect(code).toBe(1)
  expect(reports).toMatchObject([
    { result: 'uploaded', status: 'success' },
    { result: 'uploaded', status: 'failed', error: expect.stringContaining('docx') },
    { result: 'skipped', error: expect.stringContaining('does not take files of this type') },
    { result: 'failed', error: 'There is no such file.' },
  ])
  const folder = tempDir()
  expect((await upload(server, [folder])).files).toEqual([
    { file: folder, result: 'failed', error: 'This is a folder: ganglion watch takes folders.' },
  ])
  const asReader = await upload(server, [note], 'gng_unknown')
  expect(asReader).toMatchObject({ code: 1, files: [{ error: 'The server does not know the key in GANGLION_KEY.' }] })
  const elsewhere = await upload({ ...server, kb: 'nothing' }, [note])
  expect(elsewhere.files).toMatchObject([{ error: expect.stringContaining('There is no such knowledge base') }])
})

test('for a person each file is a line', async () => {
  const { url, kb, app } = await startServer()
  const [note = '', copy = ''] = files({ 'n.md': '# Note\n\nText.\n', 'copy.md': '# Note\n\nText.\n' })
  const { stdout } = await ganglion(['upload', note, copy, '--kb', kb], { GANGLION_URL: url, GANGLION_KEY: app })
  expect(stdout).toMatch(/^uploaded {3}n\.md, \S{36}: \w+\nknown {6}copy\.md: its bytes are there as \S{36}\n$/)
})

test('a file in chunks goes on where the connection broke', async () => {
  const server = await startServer()
  const [file = ''] = files({ 'large.txt': 'A line of a long text.\n'.repeat(900_000) })
  let patches = 0
  const url = await flakyProxy(server.url, ({ method }) => {
    return method === 'PATCH' && patches++ % 2 === 0 ? { request: 2_000_000 } : undefined
  })
  const shown: number[] = []
  const options = {
    ...{ kb: server.kb, folder: '/', tags: [], force: false, replace: false },
    onProgress: (bytes: number) => shown.push(bytes),
  }
  const uploaded = await uploadFile({ url, key: server.app }, file, options)
  expect(uploaded).toMatchObject({ result: 'uploaded', source: { filename: 'large.txt', fileSize: 20_700_000 } })
  // One for each chunk at least; more where what was cut off had not arrived.
  expect(patches).toBeGreaterThanOrEqual(3)
  expect(shown).toEqual(shown.toSorted((a, b) => a - b))
  expect(shown.at(-1)).toBe(20_700_000)
  expect(await uploadFile({ url: server.url, key: server.app }, file, options)).toMatchObject({ result: 'duplicate' })
})

test('a file of a type that the knowledge base does not take is skipped, with the types that it takes', async () => {
  const server = await startServer()
  const given = files({ 'a.md': '# A\n\nText.\n', 'b.odt': 'PK', 'c.exe': 'MZ' })
  const { code, files: reports } = await upload(server, given)
  const taken = `It takes: ${[...defaultFileTypes].toSorted().join(', ')}.`
  expect([code, reports.map(({ result, error }) => [result, error])]).toEqual([
    1,
    [
      ['uploaded', undefined],
      [
        'skipped',
        `The knowledge base does not take files of this type. ${taken} sources.types in its kb.yaml may allow more.`,
      ],
      ['skipped', `The knowledge base does not take files of this type. ${taken}`],
    ],
  ])
})

test('of the types that are taken, words of who else answers are not told', async () => {
  const body = { error: 'No.', code: 'file_type_not_allowed', allowedTypes: ['txt', 'gng_secret', 'md', 'md'] }
  const url = await listening(
    createServer((incoming, response) => {
      incoming.resume().on('end', () => response.writeHead(400).end(JSON.stringify(body)))
    }),
  )
  const { files: reports } = await upload({ url, kb: 'x', app: 'gng_x', curator: '' }, files({ 'c.exe': 'MZ' }))
  expect(reports[0]?.error).toBe('The knowledge base does not take files of this type. It takes: md, txt.')
})

test('an upload that broke off for good is resumed by its id', async () => {
  const server = await startServer()
  const [file = ''] = files({ 'large.txt': 'Another line of a long text.\n'.repeat(600_000) })
  let patches = 0
  const url = await flakyProxy(server.url, ({ method }) =>
    method === 'PATCH' && ++patches > 1 ? { request: 0 } : undefined,
  )
  const options = { kb: server.kb, folder: '/', tags: [], force: false, replace: false }
  const broken = await uploadFile({ url, key: server.app }, file, options).catch(String)
  const [, resume = ''] = /--resume (\S+)$/.exec(String(broken)) ?? []
  const { code, files: reports } = await upload(server, [file, '--resume', resume])
  expect([code, reports[0]?.documentId]).toEqual([0, resume])
})

test('a folder is watched: what is in it, what is added and what is changed', async () => {
  const server = await startServer()
  const folder = tempDir()
  const write = (name: string, content: string) => {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  write('first.md', '# First\n\nText.\n')
  write('.hidden.md', 'Secret.')
  write('.git/config.txt', 'Secret.')
  write('program.exe', 'MZ')
  const child = startNode([main, 'watch', folder, '--kb', server.kb, '--json'], {
    env: { GANGLION_URL: server.url, GANGLION_KEY: server.app },
  })
  const end = finished(child)
  const filesOf = async () => (await sources(server)).map(({ path, filename }) => `${path} ${filename}`).toReversed()
  const become = (expected: string[]) => eventually(async () => expect(await filesOf()).toEqual(expected))
  await become(['/ first.md'])
  write('minutes/2026/board.md', '# Board\n\nDecided.\n')
  await become(['/ first.md', '/minutes/2026 board.md'])
  write('first.md', '# First\n\nChanged.\n')
  await become(['/minutes/2026 board.md', '/ first.md'])
  write('copy.md', '# Board\n\nDecided.\n')
  await delay(4_000)
  child.kill('SIGINT')
  const { stdout } = await end
  const reports = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Report)
  expect(reports.map(({ result }) => result)).toEqual(['uploaded', 'uploaded', 'uploaded', 'duplicate'])
})

test.each<[string, string[], string, Record<string, string>?]>([
  ['no file', ['--kb', 'x'], "missing required argument 'files'"],
  ['no knowledge base', ['a.md'], "required option '--kb <slug>'"],
  ['no server', ['a.md', '--kb', 'x'], '--url or GANGLION_URL must say', { GANGLION_URL: '' }],
  ['no key', ['a.md', '--kb', 'x'], 'GANGLION_KEY must hold an API key', { GANGLION_KEY: '' }],
  [
    'two files to resume',
    ['a.md', 'b.md', '--kb', 'x', '--resume', '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'],
    'one file',
  ],
])('%s is wrong usage: exit code 2', async (_, args, message, env = {}) => {
  const given = { GANGLION_URL: 'http://127.0.0.1:9', GANGLION_KEY: 'gng_x', ...env }
  const { code, stdout, stderr } = await ganglion(['upload', ...args], given)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(message)
})

test('to watch a folder that is not there, or a file, is wrong usage', async () => {
  const env = { GANGLION_URL: 'http://127.0.0.1:9', GANGLION_KEY: 'gng_x' }
  const [note = ''] = files({ 'n.md': '# Note\n' })
  expect(await ganglion(['watch', note, '--kb', 'x'], env)).toMatchObject({
    code: 2,
    stderr: `error: ${note} is a file: ganglion watch takes a folder, ganglion upload takes files.\n`,
  })
  expect(await ganglion(['watch', '/nowhere', '--kb', 'x'], env)).toMatchObject({
    ...{ code: 2, stderr: 'error: There is no folder /nowhere.\n' },
  })
})
