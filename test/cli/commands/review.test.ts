import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { startProduct } from '../../e2e/support.ts'
import { listening } from '../../support/listening.ts'
import { finished, startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, main, type Ran, serve } from '../support.ts'

const id = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'
const key = 'gng_verysecretverysecretverysecret'

type Api = {
  url: string
  keys: { curator: string; app: string }
  submit: () => Promise<string>
  read: (candidateId: string) => Promise<Record<string, unknown>>
}

/** A real server; `review` on this side of the socket has no data directory. */
async function startApi(): Promise<Api> {
  const { url, tokens } = await startProduct()
  const ask = async (path: string, token: string, body?: unknown): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    return Object((await fetch(`${url}/api/v1/queue/candidates${path}`, request)).json())
  }
  const candidate = { knowledgeBaseId: 'handbook', kind: 'external-feed', title: 'Note', content: 'Text.' }
  return {
    url,
    keys: tokens,
    submit: async () => String((await ask('', tokens.app, candidate)).candidateId),
    read: (candidateId) => ask(`/${candidateId}`, tokens.curator),
  }
}

function review(args: string[], { url, key }: { url: string; key: string }): Promise<Ran> {
  return ganglion(['review', ...args], { GANGLION_URL: url, GANGLION_KEY: key })
}

/** A server that is not Ganglion; answers its URL. */
function otherServer(listener: RequestListener): Promise<string> {
  return listening(createServer(listener))
}

test('approves, dismisses with a reason, and comments', async () => {
  const { url, keys, submit, read } = await startApi()
  const curator = { url, key: keys.curator }
  const [first, second] = [await submit(), await submit()]

  const approved = await review([`refs/candidates/${first}/head`, '--approve', '--comment', 'Checked.'], curator)
  const { commit, seqId } = await read(first)
  expect(approved).toEqual({
    code: 0,
    stdout: `Commented on ${first}, which is pending.\nApproved ${first}: ${seqId}, commit ${commit}.\n`,
    stderr: '',
  })
  expect(await review([first, '--approve', '--json'], curator)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\{"candidateId":"[^"]+","status":"approved","seqId":"[^\n]+\n$/),
  })

  const dismissed = await review([second, '--dismiss', '--reason', 'Known.', '--json', '--url', `${url}/`], {
    url: 'http://elsewhere.invalid',
    key: `${keys.curator}\n`,
  })
  expect(dismissed).toMatchObject({ code: 0, stdout: `{"candidateId":"${second}","status":"dismissed"}\n` })
  expect(await read(second)).toMatchObject({ decisions: [{ action: 'dismiss', reason: 'Known.' }] })
})

test('takes a comment from standard input, as a summary of CI', async () => {
  const { url, keys, submit, read } = await startApi()
  const candidate = await submit()
  const say = async (input: string) => {
    const env = { GANGLION_URL: url, GANGLION_KEY: keys.curator }
    const child = startNode([main, 'review', candidate, '--comment', '-'], { env })
    child.stdin?.on('error', () => {}) // it ends before it has read all of an endless comment
    child.stdin?.end(input)
    return finished(child)
  }
  expect(await say('## Checks\n\n0 errors, “2” warnings\n')).toMatchObject({ code: 0, stderr: '' })
  expect(await read(candidate)).toMatchObject({
    status: 'pending',
    decisions: [{ action: 'comment', reason: '## Checks\n\n0 errors, “2” warnings' }],
  })
  expect(await say('x'.repeat(200_000))).toMatchObject({ code: 2 })
  const stdin = vi.spyOn(process, 'stdin', 'get')
  for (const bad of ['', ' \n', 'x'.repeat(10_001)]) {
    stdin.mockReturnValue(Readable.from([bad]) as typeof process.stdin)
    expect(await review([candidate, '--comment', '-'], { url, key: keys.curator })).toMatchObject({ code: 2 })
  }
  stdin.mockRestore()
})

test('a refusal is exit code 1 and one clear sentence', async () => {
  const { url, keys, submit, read } = await startApi()
  const candidate = await submit()
  const curator = { url, key: keys.curator }
  const refused = async (args: string[], as = curator) => {
    const { code, stdout, stderr } = await review(args, as)
    expect([code, stdout]).toEqual([1, ''])
    return stderr
  }
  const asApp = { url, key: keys.app }
  expect(await refused([candidate, '--approve'], asApp)).toBe(
    'error: The key in GANGLION_KEY is not that of a curator.\n',
  )
  expect(await refused([candidate, '--approve'], { url, key })).toBe(
    'error: The server does not know the key in GANGLION_KEY.\n',
  )
  expect(await refused([candidate, '--assign', 'nobody@example.com'])).toBe('error: The assignee is no curator here.\n')
  expect(await refused([id, '--dismiss'])).toBe('error: There is no such candidate for this key.\n')
  expect(await read(candidate)).toMatchObject({ status: 'pending', decisions: [] })

  await review([candidate, '--dismiss'], curator)
  expect(await refused([candidate, '--approve', '--comment', 'Late.'])).toBe(
    'error: The comment is recorded, the verdict is not. The candidate is not pending.\n',
  )
  const json = await review([candidate, '--approve', '--json'], curator)
  expect(json).toMatchObject({ code: 1, stdout: '{"error":"The candidate is not pending."}\n', stderr: '' })
})

test('a verdict on a head that the candidate no longer has is refused', async () => {
  const { url, keys, submit, read } = await startApi()
  const candidate = await submit()
  const head = '3f786850e387550fdab836ed7e6dc881de23001b'
  for (const verdict of ['--approve', '--dismiss']) {
    const { code, stderr } = await review([candidate, verdict, '--head', head], { url, key: keys.curator })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: The candidate no longer proposes what 3f78\w+ does: its head is [0-9a-f]{40}\.\n$/)
  }
  expect(await read(candidate)).toMatchObject({ status: 'pending' })
})

test.each<[string, string[], string, Record<string, string>?]>([
  ['nothing to do', [id], 'one of --approve, --dismiss, --request-changes, --assign and --comment is needed'],
  ['two verdicts', [id, '--approve', '--dismiss'], 'cannot be used with'],
  ['a reason to approve', [id, '--approve', '--reason', 'x'], '--reason goes with --dismiss'],
  ['no candidate', ['--approve'], "missing required argument 'candidate'"],
  ['what is no id', ['main', '--approve'], '<candidate>: must be the id of a candidate'],
  ['a path for an id', [`refs/candidates/${id}/../head`, '--approve'], '<candidate>: must be the id'],
  ['a short head', [id, '--approve', '--head', 'abc123'], 'head: must be the full id'],
  ['an empty comment', [id, '--comment', ''], '--comment: must not be blank'],
  ['a comment that is too long', [id, '--comment', 'x'.repeat(10_001)], '--comment: '],
  ['no server', [id, '--approve'], '--url or GANGLION_URL must say', { GANGLION_URL: '' }],
  ['a server of another kind', [id, '--approve', '--url', 'file:///x'], '--url: must be an http or https URL'],
  ['no URL at all', [id, '--approve', '--url', 'kb.example.org'], '--url: must be an http or https URL'],
  ['a password in the URL', [id, '--approve', '--url', `http://u:${key}@h`], '--url: must be without user'],
  ['no key', [id, '--approve'], "GANGLION_KEY must hold a curator's API key", { GANGLION_KEY: '' }],
  ['a key of two lines', [id, '--approve'], 'GANGLION_KEY: must be visible ASCII', { GANGLION_KEY: `${key}\n${key}` }],
  ['a key on the command line', [id, '--approve', '--key', 'x'], "unknown option '--key'"],
])('%s is wrong usage: exit code 2', async (_, args, message, env = {}) => {
  const url = 'http://127.0.0.1:9'
  const { code, stdout, stderr } = await ganglion(['review', ...args], { GANGLION_URL: url, GANGLION_KEY: key, ...env })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(message)
  expect(stderr).not.toContain(key)
})

test('whoever else answers is told apart, and the key is in no message and goes to nobody else', async () => {
  const asked: unknown[] = []
  const thief = await otherServer((request, response) => {
    asked.push(request.headers.authorization)
    response.end()
  })
  const echo = (type: string, status: number, text: (authorization: string) => string) =>
    otherServer(({ headers }, response) => {
      response.writeHead(status, { 'content-type': type }).end(text(headers.authorization ?? ''))
    })
  const closed = await otherServer(() => {})
  const answers: [url: string, message: RegExp][] = [
    [
      await otherServer((_, response) => response.writeHead(307, { location: `${thief}/?${key}` }).end()),
      new RegExp(`redirects to ${thief}\\. The key is not sent on`),
    ],
    [
      await echo('text/html', 200, (text) => `<h1>Sign in</h1>${text}`),
      /answered 200 without JSON: this is no address of an API/,
    ],
    [await echo('text/html', 502, (text) => `<h1>Bad gateway</h1>${text}`), /answered 502, not as Ganglion does/],
    [
      await echo('application/json', 200, (text) => JSON.stringify({ candidateId: text })),
      /answered, not as Ganglion does/,
    ],
    [
      await echo('application/json', 400, (text) => JSON.stringify({ error: text, message: text })),
      /could not be understood/,
    ],
    [
      await echo('application/json', 400, (text) =>
        JSON.stringify({ error: 'malformed_request', message: `No: ${text.slice(0, 18)}…` }),
      ),
      /could not be understood/,
    ],
    [
      await echo('application/json', 400, (text) => {
        return JSON.stringify({ error: { formErrors: [text], fieldErrors: { [text]: [text] } } })
      }),
      /could not be understood/,
    ],
    [await otherServer(({ socket }) => socket.destroy()), /cannot be reached: UND_ERR_SOCKET/],
    ['http://127.0.0.1:9', /cannot be reached\./],
    [`${closed.replace('http:', 'https:')}`, /cannot be reached: /],
  ]
  for (const [url, message] of answers) {
    const { code, stdout, stderr } = await review([id, '--approve'], { url, key })
    expect([url, code, stdout, stderr]).toEqual([url, 1, '', expect.stringMatching(message)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).not.toContain(key)
  }
  expect(asked).toEqual([])
})

test('a server starts where the variables of the client are set', async () => {
  const { line } = await serve(join(tempDir(), 'data'), { GANGLION_URL: 'http://elsewhere.invalid', GANGLION_KEY: key })
  expect((await fetch(`${line.url}/api/v1/queue/candidates`)).status).toBe(401)
})
