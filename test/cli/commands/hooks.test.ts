import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installHooks } from '../../../src/cli/commands/installed-hooks.ts'
import { setSubmitDefault, unsetSubmitDefault } from '../../../src/git/checkout/user-git.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { put } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson, main } from '../support.ts'

const settings = 'id: 0199a5c2-0000-7000-8000-000000000000\nslug: notes\nprefix: notes\ntitle: Notes\n'
const neuron = (number: number, content = 'Text.') =>
  `---\nseqId: notes_${String(number).padStart(8, '0')}\ntitle: Note ${number}\n---\n\n${content}\n`

/** A repository in a folder whose name a shell would take apart, with a commit of a knowledge base. */
function repository(): string {
  const dir = join(tempDir(), "a curator's $HOME; folder")
  put(dir, 'kb.yaml', settings)
  put(dir, 'neurons/a.md', neuron(1))
  nativeGit(dir, ['init', '--quiet', '--initial-branch=main'])
  nativeGit(dir, ['config', 'user.name', 'Cleo'])
  nativeGit(dir, ['config', 'user.email', 'cleo@example.com'])
  nativeGit(dir, ['add', '--all'])
  nativeGit(dir, ['commit', '--quiet', '--message', 'Begin'])
  return dir
}

async function installed(): Promise<string> {
  const dir = repository()
  expect(await ganglion(['hooks', 'install', dir])).toMatchObject({ code: 0, stderr: '' })
  return dir
}

/** The same with a Ganglion that finds nothing wrong: what is left is the check of messages. */
async function installedForMessages(): Promise<string> {
  const dir = repository()
  await installHooks(hooksOf(dir), { installation: { node: '/bin/true', program: main }, force: false })
  return dir
}

/** Runs git as a curator does, hooks and all. */
function git(dir: string, args: string[], options: { env?: Record<string, string>; input?: string } = {}) {
  const { status, stderr } = spawnSync('git', args, {
    cwd: dir,
    encoding: 'utf8',
    env: { ...process.env, ...options.env },
    ...(options.input === undefined ? {} : { input: options.input }),
  })
  return { status, stderr }
}

function commit(dir: string, ...args: string[]) {
  return git(dir, ['commit', '--quiet', ...args])
}

const hooksOf = (dir: string) => join(dir, '.git', 'hooks')

test('the hooks check what is staged, and let a sound commit through', async () => {
  const dir = await installed()
  put(dir, 'neurons/copy.md', neuron(1))
  nativeGit(dir, ['add', '--all'])
  const refused = commit(dir, '--message', 'Copy')
  expect(refused.status).toBe(1)
  expect(nativeGit(dir, ['log', '--format=%s'])).toBe('Begin')
  put(dir, 'neurons/copy.md', neuron(2))
  nativeGit(dir, ['add', '--all'])
  expect(commit(dir, '--message', 'Add')).toEqual({ status: 0, stderr: '' })
})

test('a commit of some files only is checked as it will be', async () => {
  const dir = await installed()
  put(dir, 'neurons/b.md', neuron(2))
  put(dir, 'neurons/copy.md', neuron(1))
  nativeGit(dir, ['add', '--all'])
  expect(commit(dir, '--message', 'Add', '--', 'neurons/b.md').status).toBe(0)
  expect(commit(dir, '--message', 'Copy').status).toBe(1)
  put(dir, 'neurons/b.md', neuron(9))
  nativeGit(dir, ['rm', '--quiet', '--force', 'neurons/copy.md'])
  expect(commit(dir, '--all', '--message', 'Renumber').status).toBe(1)
})

test('the first commit, a detached HEAD and a linked work tree are checked too', async () => {
  const young = tempDir()
  nativeGit(young, ['init', '--quiet'])
  await ganglion(['hooks', 'install', young])
  nativeGit(young, ['config', 'user.name', 'Cleo'])
  nativeGit(young, ['config', 'user.email', 'cleo@example.com'])
  put(young, 'kb.yaml', settings)
  put(young, 'neurons/CON.md', neuron(1))
  nativeGit(young, ['add', '--all'])
  expect(commit(young, '--message', 'Begin').status).toBe(1)

  const dir = await installed()
  nativeGit(dir, ['checkout', '--quiet', '--detach'])
  put(dir, 'neurons/b.md', neuron(1))
  nativeGit(dir, ['add', '--all'])
  expect(commit(dir, '--message', 'Copy').status).toBe(1)
  nativeGit(dir, ['reset', '--quiet', '--hard', 'main'])

  const linked = join(tempDir(), 'linked tree')
  nativeGit(dir, ['worktree', 'add', '--quiet', '-b', 'side', linked])
  put(linked, 'neurons/b.md', neuron(1))
  nativeGit(linked, ['add', '--all'])
  expect(commit(linked, '--message', 'Copy').status).toBe(1)
})

test('a merge is checked, and a rebase goes through', async () => {
  const dir = await installed()
  nativeGit(dir, ['checkout', '--quiet', '-b', 'side'])
  put(dir, 'neurons/a.md', neuron(1, 'Theirs.'))
  put(dir, 'neurons/b.md', neuron(2))
  nativeGit(dir, ['add', '--all'])
  expect(commit(dir, '--message', 'Theirs').status).toBe(0)
  nativeGit(dir, ['checkout', '--quiet', 'main'])
  put(dir, 'neurons/a.md', neuron(1, 'Ours.'))
  nativeGit(dir, ['add', '--all'])
  expect(commit(dir, '--message', 'Ours').status).toBe(0)
  for (const start of [
    ['merge', 'side'],
    ['rebase', 'side'],
  ]) {
    expect(git(dir, start).status).toBe(1)
    const goOn = start[0] === 'merge' ? ['commit', '--no-edit'] : ['rebase', '--continue']
    put(dir, 'neurons/a.md', neuron(2, 'Both.'))
    nativeGit(dir, ['add', '--all'])
    // When it goes on with a rebase, git itself runs no pre-commit.
    if (start[0] === 'merge') expect(git(dir, goOn, { env: { GIT_EDITOR: 'true' } }).status).toBe(1)
    put(dir, 'neurons/a.md', neuron(1, `Both, by ${start[0]}.`))
    nativeGit(dir, ['add', '--all'])
    expect(git(dir, goOn, { env: { GIT_EDITOR: 'true' } }).status).toBe(0)
    if (start[0] === 'merge') nativeGit(dir, ['reset', '--quiet', '--hard', 'HEAD~1'])
  }
})

test.each([
  ['a trailer of the server', 'Edit\n\nCandidate: 0199a5c1', /Only the server writes/],
  ['one among others, in any case', 'Edit\n\nWhy.\n\nSigned-off-by: Me <me@x>\napproved-by: Boss', /approved-by: Boss/],
  ['a removal', 'Edit\n\nRemoves: notes_00000001 x', /Only the server writes/],
  ['an escape sequence', 'Edit \u001b[2J', /control character/],
  ['no subject but a trailer', 'Signed-off-by: Me <me@x>', /no subject/],
])('a message with %s is refused', async (_, message, reason) => {
  const dir = await installedForMessages()
  const { status, stderr } = commit(dir, '--allow-empty', '--message', message)
  expect(status).toBe(1)
  expect(stderr).toMatch(reason)
})

test('an empty message is refused even where git would take it', async () => {
  const dir = await installedForMessages()
  expect(commit(dir, '--allow-empty', '--allow-empty-message', '--message', '').stderr).toMatch(/message is empty/)
})

test.each([
  'Candidates: which one to take',
  '#42 Fix it',
  'Edit\n\nKind: words help.\n\nSigned-off-by: Me <me@x>',
  'Ärger über Größe\r\n\r\nMit\tTabulator.\r\n',
])('a message %j is let through', async (message) => {
  const dir = await installedForMessages()
  expect(commit(dir, '--allow-empty', '--message', message)).toEqual({ status: 0, stderr: '' })
})

test('what an editor shows below the message is no part of it', async () => {
  const dir = await installedForMessages()
  put(dir, 'neurons/a.md', neuron(1, 'Candidate: x\n\nCandidate: y'))
  nativeGit(dir, ['add', '--all'])
  const editor = join(tempDir(), 'editor')
  writeFileSync(editor, '#!/bin/sh\nprintf "Edit\\n# Candidate: x\\n" | cat - "$1" > "$1.new" && mv "$1.new" "$1"\n')
  chmodSync(editor, 0o755)
  expect(git(dir, ['commit', '--verbose'], { env: { GIT_EDITOR: editor } }).status).toBe(0)
  expect(nativeGit(dir, ['log', '-1', '--format=%B'])).toBe('Edit')
})

test("the server's own commits can be amended and picked", async () => {
  const dir = await installedForMessages()
  nativeGit(dir, [
    'commit',
    '--quiet',
    '--no-verify',
    '--allow-empty',
    '--message',
    'Add "A"\n\nCandidate: 1\nKind: chat',
  ])
  expect(commit(dir, '--amend', '--allow-empty', '--message', 'Add "A!"\n\nCandidate: 1\nKind: chat').status).toBe(0)
  expect(commit(dir, '--amend', '--allow-empty', '--message', 'Add "A!"\n\nCandidate: 2\nKind: chat').status).toBe(1)
})

test('a head that was fetched can be taken with its own message, however that is done', async () => {
  const server = repository()
  nativeGit(server, ['checkout', '--quiet', '--detach'])
  const titles = ['Add "B"', 'Add "C"']
  const heads = titles.map((title, n) => {
    put(server, `neurons/${n}.md`, neuron(n + 2))
    nativeGit(server, ['add', '--all'])
    nativeGit(server, ['commit', '--quiet', '--message', `${title}\n\nCandidate: ${n}\nKind: chat`])
    return nativeGit(server, ['rev-parse', 'HEAD'])
  })
  nativeGit(server, ['update-ref', 'refs/candidates/1+2/head', 'HEAD'])
  nativeGit(server, ['checkout', '--quiet', 'main'])
  const dir = await installedForMessages()
  nativeGit(dir, ['fetch', '--quiet', server, 'main'])
  nativeGit(dir, ['reset', '--quiet', '--hard', 'FETCH_HEAD'])
  expect(commit(dir, '--allow-empty', '--message', 'Add\n\nCandidate: 1').stderr).toContain('Candidate: 1')
  nativeGit(dir, ['fetch', '--quiet', server, 'refs/candidates/1+2/head'])

  nativeGit(dir, ['checkout', 'FETCH_HEAD', '--', '.'])
  expect(commit(dir, '-C', 'FETCH_HEAD')).toEqual({ status: 0, stderr: '' })
  nativeGit(dir, ['reset', '--quiet', '--hard', 'HEAD~1'])
  for (const [n, head] of heads.entries()) {
    nativeGit(dir, ['cherry-pick', '--no-commit', head])
    expect(commit(dir, '--message', `${titles[n]}, edited\n\nCandidate: ${n}\nKind: chat`).status).toBe(0)
  }
  expect(commit(dir, '--allow-empty', '--message', 'Add\n\nCandidate: 7').stderr).toContain('Candidate: 7')
})

test('installing again changes nothing, and uninstalling leaves nothing', async () => {
  const dir = await installed()
  const before = ['pre-commit', 'commit-msg'].map((name) => readFileSync(join(hooksOf(dir), name), 'utf8'))
  expect(await ganglionJson(['hooks', 'install', dir])).toEqual({
    code: 0,
    json: { folder: hooksOf(dir), movedAside: [], set: [] },
  })
  expect(['pre-commit', 'commit-msg'].map((name) => readFileSync(join(hooksOf(dir), name), 'utf8'))).toEqual(before)
  expect(statSync(join(hooksOf(dir), 'pre-commit')).mode & 0o111).toBe(0o111)
  expect((await ganglion(['hooks', 'uninstall', dir])).stdout).toContain('Removed')
  expect(existsSync(join(hooksOf(dir), 'pre-commit'))).toBe(false)
  expect(existsSync(join(hooksOf(dir), 'commit-msg'))).toBe(false)
  expect((await ganglion(['hooks', 'uninstall', dir])).stdout).toContain('There are no hooks of Ganglion')
})

test('a clone can be set to submit with a plain git push, and set back', async () => {
  const dir = repository()
  expect((await ganglion(['hooks', 'install', dir, '--submit'])).stderr).toContain('no remote origin')
  nativeGit(dir, ['remote', 'add', 'origin', 'https://example.com/git/acme/notes.git'])
  nativeGit(dir, ['config', '--add', 'push.pushOption', 'ci.skip'])
  const before = nativeGit(dir, ['config', '--local', '--list'])
  const { code, stdout } = await ganglion(['hooks', 'install', dir, '--submit'])
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/Set remote.origin.push=HEAD:refs\/for\/main\nSet push.pushOption=submit\n[\s\S]*undo/),
  ])
  expect(await setSubmitDefault(dir)).toEqual([])
  expect(nativeGit(dir, ['config', '--get-all', 'push.pushOption'])).toBe('ci.skip\nsubmit')
  expect((await ganglion(['hooks', 'uninstall', dir])).stdout).toContain('Unset remote.origin.push=HEAD:refs/for/main')
  expect(nativeGit(dir, ['config', '--local', '--list'])).toBe(before)

  nativeGit(dir, ['config', 'remote.origin.push', 'HEAD:refs/heads/topic'])
  await expect(setSubmitDefault(dir)).rejects.toThrow('remote.origin.push is HEAD:refs/heads/topic already')
  expect(await unsetSubmitDefault(dir)).toEqual([])
})

test("somebody else's hook is never overwritten, and comes back", async () => {
  const dir = repository()
  mkdirSync(hooksOf(dir), { recursive: true })
  const foreign = join(hooksOf(dir), 'commit-msg')
  writeFileSync(foreign, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const refused = await ganglion(['hooks', 'install', dir])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('--force')
  expect(existsSync(join(hooksOf(dir), 'pre-commit'))).toBe(false)
  expect((await ganglion(['hooks', 'install', dir, '--force'])).stdout).toContain(`${foreign}.before-ganglion`)
  expect(commit(dir, '--allow-empty', '--message', 'x\n\nCandidate: y').status).toBe(1)
  await ganglion(['hooks', 'uninstall', dir])
  expect(readFileSync(foreign, 'utf8')).toBe('#!/bin/sh\nexit 0\n')
  expect(existsSync(`${foreign}.before-ganglion`)).toBe(false)
})

test('core.hooksPath is followed, and other repositories that share it are left alone', async () => {
  const dir = repository()
  const shared = join(tempDir(), 'shared hooks')
  nativeGit(dir, ['config', 'core.hooksPath', shared])
  expect(await ganglionJson(['hooks', 'install', dir])).toMatchObject({ json: { folder: shared } })
  put(dir, 'neurons/copy.md', neuron(1))
  nativeGit(dir, ['add', '--all'])
  expect(commit(dir, '--message', 'Copy').status).toBe(1)

  const other = tempDir()
  nativeGit(other, ['init', '--quiet'])
  for (const [key, value] of [
    ['core.hooksPath', shared],
    ['user.name', 'C'],
    ['user.email', 'c@x'],
  ]) {
    nativeGit(other, ['config', String(key), String(value)])
  }
  expect(commit(other, '--allow-empty', '--message', 'x\n\nCandidate: y').status).toBe(0)
})

test('without its installation a hook runs the ganglion on PATH, and without that says so and lets through', async () => {
  const dir = await installed()
  const hook = join(hooksOf(dir), 'pre-commit')
  writeFileSync(hook, readFileSync(hook, 'utf8').replace(/^program=.*$/m, "program='/nonexistent/main.js'"))
  put(dir, 'neurons/copy.md', neuron(1))
  nativeGit(dir, ['add', '--all'])
  const bin = tempDir()
  writeFileSync(join(bin, 'ganglion'), '#!/bin/sh\necho "$@" >&2\nexit 1\n', { mode: 0o755 })
  const found = git(dir, ['commit', '-m', 'x'], { env: { PATH: `${bin}:${process.env.PATH}` } })
  expect(found).toEqual({ status: 1, stderr: 'check --staged\n' })
  rmSync(join(bin, 'ganglion'))
  const missing = git(dir, ['commit', '-m', 'x'])
  expect(missing.status).toBe(0)
  expect(missing.stderr).toMatch(/^ganglion: not found, so nothing was checked[^\n]*\n$/)
})

test('a folder that is no checkout has no hooks to install', async () => {
  expect(await ganglion(['hooks', 'install', tempDir()])).toMatchObject({ code: 1, stdout: '' })
  expect(await ganglion(['hooks', 'install', '--unknown'])).toMatchObject({ code: 2 })
})
