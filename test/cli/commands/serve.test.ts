import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { isToken } from '../../../src/state/accounts/secret.ts'
import { tempDir } from '../../support/temp.ts'
import { bearer, ganglionJson, ganglionProcess, main, serve, takenPort } from '../support.ts'

const setUpUrl = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/set-up\?link=[\w-]{43}$/)

test('the first start tells its address, keys and a link, later starts the address, and a link until it is used', async () => {
  const data = join(tempDir(), 'data')
  const first = await serve(data)
  expect(first.line).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    kb: expect.any(String),
    curatorToken: expect.toSatisfy(isToken),
    appToken: expect.toSatisfy(isToken),
    setUpUrl,
  })
  const exit = once(first.child, 'exit')
  first.child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])

  const second = await serve(data)
  expect(second.line).toEqual({ url: expect.any(String), setUpUrl })
  expect((await fetch(`${second.line.url}${pathOf(first.line)}`)).status).toBe(410)
  expect((await fetch(`${second.line.url}${pathOf(second.line)}`)).status).toBe(200)
  const queue = `${second.line.url}/api/v1/queue/candidates?kb=${first.line.kb}`
  expect((await fetch(queue, bearer(first.line.curatorToken))).status).toBe(200)
  expect((await fetch(queue, bearer(first.line.appToken))).status).toBe(403)
  expect((await fetch(queue)).status).toBe(401)
})

function pathOf({ setUpUrl = '' }: Record<string, string>): string {
  const { pathname, search } = new URL(setUpUrl)
  return pathname + search
}

test('a second server on one data directory is refused, and the first serves on', async () => {
  const data = join(tempDir(), 'data')
  const { line } = await serve(data)
  const second = await ganglionProcess(['serve', '--data', data], { GANGLION_PORT: '0' })
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toBe(
    `error: The data directory ${data} is in use by another Ganglion process. Stop it, or choose another directory.\n`,
  )
  const { url, kb, curatorToken } = line
  expect((await fetch(`${url}/api/v1/queue/candidates?kb=${kb}`, bearer(curatorToken))).status).toBe(200)
})

test('a port that is taken ends the start, before any key is made', async () => {
  const data = join(tempDir(), 'data')
  const taken = await takenPort()
  const { code, stderr } = await ganglionProcess(['serve', '--data', data], { GANGLION_PORT: taken.port })
  taken.release()
  expect(code).toBe(1)
  expect(stderr).toContain('EADDRINUSE')
  expect((await ganglionJson(['key', 'list', '--data', data])).json).toEqual({ keys: [] })
  expect((await serve(data)).line).toMatchObject({ curatorToken: expect.toSatisfy(isToken) })
})

test.runIf(existsSync('/dev/full'))('a log on a full disk ends no server', async () => {
  const settings = { GANGLION_PORT: '0', GANGLION_LOG_LEVEL: 'info' }
  const args = ['-c', 'exec "$@" 2>/dev/full', 'sh', process.execPath, main, 'serve', '--json', '--data', tempDir()]
  const child = spawn('sh', args, { env: { ...process.env, ...settings } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), exit])
  for (let n = 0; n < 3; n++) expect((await fetch(`${JSON.parse(line).url}/healthz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
})

test('what was asked before SIGTERM is answered before the end, SIGHUP is ignored, and the last line says why it ended', async () => {
  const data = join(tempDir(), 'data')
  const { child, line, log } = await serve(data, { GANGLION_LOG_LEVEL: 'info' })
  const exit = once(child, 'exit')
  const submit = (index: number) =>
    fetch(`${line.url}/api/v1/queue/candidates`, {
      method: 'POST',
      headers: { ...bearer(line.appToken).headers, 'content-type': 'application/json' },
      body: JSON.stringify({ knowledgeBaseId: line.kb, kind: 'external-feed', title: `Note ${index}`, content: 'x' }),
    }).then(
      async (response) => (response.status === 201 ? ((await response.json()) as { candidateId: string }) : undefined),
      () => undefined,
    )
  await submit(0)
  const submissions = Array.from({ length: 30 }, (_, index) => submit(index + 1))
  await Promise.race(submissions)
  child.kill('SIGHUP')
  child.kill('SIGTERM')
  const acknowledged = (await Promise.all(submissions)).filter((receipt) => receipt !== undefined)
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(await exit).toEqual([0, null])
  expect(JSON.parse(log.join('').trim().split('\n').at(-1) ?? '')).toMatchObject({
    msg: 'The server has ended: SIGTERM.',
  })

  const restarted = await serve(data)
  for (const { candidateId } of acknowledged) {
    const url = `${restarted.line.url}/api/v1/queue/candidates/${candidateId}`
    expect((await fetch(url, bearer(line.curatorToken))).status).toBe(200)
  }
})
