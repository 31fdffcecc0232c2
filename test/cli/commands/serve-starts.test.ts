import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { announcement } from '../../../src/cli/announcement.ts'
import { DataDirectory } from '../../../src/state/directory/data-directory.ts'
import { isLocked } from '../../../src/state/directory/directory-lock.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { bearer, ganglion, ganglionJson, ganglionProcess, main, serve, takenPort } from '../support.ts'

test('the three lines to begin with work as they are pasted', async () => {
  const { line } = await serve(join(tempDir(), 'data'))
  const { url = '', kb = '', curatorToken = '', appToken = '' } = line
  const text = announcement(url, { first: { kb, curatorToken, appToken }, setUpUrl: line.setUpUrl ?? '' })
  expect(text).toContain(`\n  ${line.setUpUrl}\n`)
  expect(text.split('\n')).toEqual(expect.arrayContaining([expect.stringMatching(/^ {2}curator {2}gng_/)]))
  const commands = text.split('\n').filter((row) => row.includes('curl'))
  expect(commands).toHaveLength(3)
  const { stdout } = await promisify(execFile)('sh', ['-c', `exec 2>/dev/null\n${commands.join('\n')}`])
  expect(JSON.parse(stdout)).toMatchObject({ title: 'VIP escalation policy', version: 1 })
})

test('without a command, the server starts with its data in the folder', async () => {
  const cwd = tempDir()
  const child = startNode([main], { cwd, env: { GANGLION_PORT: '0', GANGLION_LOG_LEVEL: 'error' } })
  const [said] = await once(Object(child.stdout), 'data')
  expect(String(said)).toMatch(/^Ganglion listens at http[\s\S]*knowledge base demo/)
  expect(readdirSync(cwd)).toEqual(['data'])
})

test('a killed server leaves no lock behind', async () => {
  const data = join(tempDir(), 'data')
  const { child } = await serve(data)
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  expect(isLocked(DataDirectory.open(data))).toBe(false)
  expect((await serve(data)).line).toMatchObject({ url: expect.any(String) })
})

test('options say where to listen before the environment does, and must make sense', async () => {
  const data = join(tempDir(), 'data')
  const taken = await takenPort()
  const options = ['--host', '127.0.0.1', '--port', taken.port]
  const { code, stderr } = await ganglionProcess(['serve', '--data', data, ...options], {
    GANGLION_PORT: '0',
    GANGLION_HOST: '::1',
  })
  taken.release()
  expect([code, stderr]).toEqual([1, expect.stringContaining(`127.0.0.1:${taken.port}`)])
  expect((await ganglion(['serve', '--data', data, '--port', '70000'])).code).toBe(2)
})

test('keys and knowledge bases that the command line makes count at once', async () => {
  const data = join(tempDir(), 'data')
  const { line } = await serve(data)
  await ganglionJson(['kb', 'create', 'second', '--data', data, '--tenant', 'other'])
  const made = await ganglionJson(['key', 'create', '--data', data, '--tenant', 'other', '--role', 'curator'])
  const { id, token } = made.json as { id: string; token: string }
  const queue = `${line.url}/api/v1/queue/candidates?kb=second`
  expect((await fetch(queue, bearer(token))).status).toBe(200)
  await ganglionJson(['key', 'revoke', id, '--data', data])
  expect((await fetch(queue, bearer(token))).status).toBe(401)
})
