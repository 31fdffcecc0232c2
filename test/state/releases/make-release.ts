/**
 * Writes a small data directory with the code of an earlier revision, for `releases.test.ts`:
 * `node test/state/releases/make-release.ts REVISION NAME` leaves `NAME.tar.gz` beside this file.
 * The revision runs in a worktree of its own with its own packages.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/free-port.ts'

const [revision = '', name = ''] = process.argv.slice(2)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'release-'))
const [code, data] = [join(dir, 'code'), join(dir, 'data')]
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
const env = { ...process.env, GANGLION_LOG_LEVEL: 'error' }
const ganglion = (...args: string[]) =>
  execFileSync(process.execPath, [join(code, 'src/main.js'), ...args, '--data', data], {
    cwd: dir,
    encoding: 'utf8',
    env,
  })
const tokenOf = (output: string) => /gng_\w+/.exec(output)?.[0] ?? ''

git('worktree', 'add', '--detach', '--force', code, revision)
try {
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: code, stdio: 'inherit' })
  ganglion('kb', 'create', 'handbook', '--tenant', 'acme')
  const keyOf = (role: string) =>
    tokenOf(ganglion('key', 'create', '--tenant', 'acme', '--role', role, '--name', `The ${role}`))
  const token = { reader: keyOf('reader'), app: keyOf('app'), curator: keyOf('curator') }
  const port = await freePort()
  const server = spawn(process.execPath, [join(code, 'src/main.js'), 'serve', '--data', data, '--port', String(port)], {
    ...{ cwd: dir, env, stdio: 'inherit' },
  })
  const base = `http://127.0.0.1:${port}`
  while (!(await fetch(`${base}/readyz`).catch(() => undefined))?.ok) await delay(100)
  const ask = async (role: keyof typeof token, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token[role]}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(base + path, init)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const propose = async (title: string, content: string) => {
    const candidate = { knowledgeBaseId: 'handbook', kind: 'external-feed', title, content, confidence: 0.4 }
    return String(Object(await ask('app', '/api/v1/queue/candidates', candidate)).candidateId)
  }
  for (const { title, content } of [
    { title: 'Rotation', content: 'The on-call rotation changes on Monday. See [[Escalation]].' },
    { title: 'Escalation', content: 'Call the lead of the team.' },
  ]) {
    await ask('curator', `/api/v1/queue/candidates/${await propose(title, content)}/approve`, {})
  }
  await propose('Waiting', 'This page waits for a decision.')
  await ask('reader', '/api/v1/chat', { knowledgeBaseId: 'handbook', message: 'When does the rotation change?' })
  server.kill('SIGTERM')
  await new Promise((resolve) => server.once('exit', resolve))
  for (const derived of ['index', 'tmp', 'clones', 'texts'])
    rmSync(join(data, derived), { recursive: true, force: true })
  writeFileSync(join(dir, 'keys.json'), JSON.stringify(token))
  const archive = fileURLToPath(new URL(`${name}.tar.gz`, import.meta.url))
  execFileSync('tar', ['-czf', archive, '--exclude=hooks', 'data', 'keys.json'], { cwd: dir })
  console.log(execFileSync('find', ['data', '-type', 'f'], { cwd: dir, encoding: 'utf8' }))
} finally {
  git('worktree', 'remove', '--force', code)
  rmSync(dir, { recursive: true, force: true })
}
