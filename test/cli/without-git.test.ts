import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { nativeGit } from '../git/support/native-git.ts'
import { put } from '../kb/support/import-support.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { ganglionProcess, serve } from './support.ts'

test('without a git all is served but clones and pushes, which say what is missing', async () => {
  const empty = join(tempDir(), 'bin')
  mkdirSync(empty)
  const data = join(tempDir(), 'data')
  const { line, child, log } = await serve(data, { PATH: empty, GANGLION_LOG_LEVEL: 'warn' })
  const { url = '', kb = '', curatorToken = '' } = line
  const headers = { authorization: `Bearer ${curatorToken}`, 'content-type': 'application/json' }
  const call = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/v1${path}`, { headers, ...init })
    return { status: answer.status, body: z.looseObject({}).parse(await answer.json()) }
  }
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready', git: null, notes: [] })
  await eventually(() => expect(log.join('')).toContain('No git is installed: all is served but clones and pushes.'))

  const proposal = {
    kb,
    kind: 'external-feed',
    title: 'Without git',
    content: 'A quokka smiles.',
    connector: 'test',
  }
  const submitted = await call('/queue/candidates', proposal)
  expect(submitted).toMatchObject({ status: 201, body: { status: 'pending' } })
  const approved = await call(`/queue/candidates/${submitted.body.candidateId}/approve`, {})
  expect(approved).toMatchObject({ status: 200, body: { status: 'approved' } })
  expect(await call(`/search?kb=${kb}&q=quokka`)).toMatchObject({ body: { hits: [{ title: 'Without git' }] } })

  const remote = `http://x:${curatorToken}@${new URL(url).host}/git/default/${kb}.git`
  const clone = () => nativeGit(tempDir(), ['clone', '--quiet', remote])
  expect(clone).toThrow('This server has no git, which clones and pushes need')

  const verified = await ganglionProcess(['verify', '--data', data, '--json'], { PATH: empty })
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, git: null })
  const copy = join(tempDir(), 'backup')
  expect(await ganglionProcess(['backup', copy, '--data', data], { PATH: empty })).toMatchObject({ code: 0 })
  child.kill('SIGTERM')
  const restored = join(tempDir(), 'restored')
  expect(await ganglionProcess(['restore', copy, '--data', restored], { PATH: empty })).toMatchObject({ code: 0 })
  expect(existsSync(join(restored, 'repos'))).toBe(true)
  expect((await ganglionProcess(['verify', '--data', restored])).stdout).not.toContain('No git')
})

test('a checkout is checked without a git as with one', async () => {
  const empty = tempDir()
  const dir = tempDir()
  const page = (number: number) => `---\nseqId: notes_0000000${number}\ntitle: Note ${number}\n---\n\nText.\n`
  put(dir, 'kb.yaml', 'id: 0199a5c2-0000-7000-8000-000000000000\nslug: notes\nprefix: notes\ntitle: Notes\n')
  put(dir, '.gitignore', 'ignored\n*.tmp\n')
  for (const name of ['run.sh', 'forced.tmp', 'kept']) put(dir, name, 'x')
  for (const number of [1, 2, 3]) put(dir, `neurons/${number}.md`, page(number))
  nativeGit(dir, ['init', '--quiet', '--initial-branch=main'])
  const check = async (...args: string[]) => {
    const [withGit, without] = await Promise.all(
      [{}, { PATH: empty }].map((env) => ganglionProcess(['check', ...args, '--json'], env)),
    )
    expect(without, args.join(' ')).toEqual(withGit)
    return withGit?.stdout
  }
  await check(dir)
  nativeGit(dir, ['add', '--all', '--force'])
  nativeGit(dir, ['update-index', '--chmod=+x', 'run.sh'])
  nativeGit(dir, ['commit', '--quiet', '--message', 'x'])
  nativeGit(dir, ['tag', '--annotate', '--message', 'x', 'v1'])
  chmodSync(join(dir, 'run.sh'), 0o755)
  put(dir, 'ignored', 'x')
  put(dir, 'deep/er/x.tmp', 'x')
  put(dir, 'new é.sh', 'x')
  symlinkSync('run.sh', join(dir, 'link'))
  mkdirSync(join(dir, 'nested'))
  nativeGit(join(dir, 'nested'), ['init', '--quiet'])
  put(dir, 'nested/file', 'x')
  put(dir, 'neurons/2.md', page(9))
  put(dir, 'neurons/copy.md', page(1))
  rmSync(join(dir, 'neurons/3.md'))
  const found = await check(dir)
  expect(found).toContain('run.sh')
  for (const base of ['HEAD', 'main', 'v1', 'nowhere']) await check(dir, '--base', base)

  const linked = join(tempDir(), 'linked')
  nativeGit(dir, ['worktree', 'add', '--quiet', linked])
  put(linked, 'neurons/1.md', page(8))
  expect(await check(linked)).toContain('changed-seq-id')
  await check(linked, '--base', 'main')

  nativeGit(dir, ['update-index', '--index-version', '4'])
  expect((await ganglionProcess(['check', dir], { PATH: empty })).stderr).toContain('cannot be read without a git')
})
