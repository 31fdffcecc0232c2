import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answerLsRefs, peekLsRefs } from '../../../src/git/serve/ls-refs.ts'
import { encodePacket, flushPacket } from '../../../src/git/serve/pkt-line.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

function repository(): { gitDir: string; commit: string } {
  const gitDir = join(tempDir(), 'a.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', '--initial-branch=main', gitDir])
  return { gitDir, commit: nativeGit(gitDir, ['commit-tree', nativeGit(gitDir, ['mktree'], ''), '-m', 'Begin']) }
}

function request(...args: string[]): Buffer {
  const capabilities = ['command=ls-refs', 'agent=git/2.39', 'object-format=sha1'].map((line) =>
    encodePacket(`${line}\n`),
  )
  const lines = args.map((line) => encodePacket(`${line}\n`))
  return Buffer.concat([...capabilities, Buffer.from('0001'), ...lines, flushPacket])
}

async function ours(gitDir: string, bytes: Buffer): Promise<string | undefined> {
  const { lsRefs } = await peekLsRefs(
    (async function* () {
      yield bytes
    })(),
  )
  return lsRefs && (await answerLsRefs(gitDir, lsRefs))?.toString()
}

function gits(gitDir: string, input: Buffer): string {
  const env = { PATH: process.env.PATH, GIT_PROTOCOL: 'version=2' }
  return spawnSync('git', ['upload-pack', '--stateless-rpc', gitDir], { input, env }).stdout.toString()
}

const clone = ['peel', 'symrefs', 'unborn', 'ref-prefix HEAD', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/']

test('what a clone or a fetch asks for is answered as git does', async () => {
  const { gitDir, commit } = repository()
  for (const name of ['main', 'b/c', 'a', 'packed', 'b-c'])
    nativeGit(gitDir, ['update-ref', `refs/heads/${name}`, commit])
  nativeGit(gitDir, ['update-ref', 'refs/candidates/1/head', commit])
  nativeGit(gitDir, ['pack-refs', '--all'])
  nativeGit(gitDir, ['update-ref', 'refs/heads/loose', commit])
  const asked = [
    clone,
    ['peel', 'symrefs', 'ref-prefix HEAD'],
    ['ref-prefix HEAD', 'ref-prefix refs/heads/b'],
    ['peel', 'ref-prefix refs/heads/none'],
    ['ref-prefix refs/tags/', 'ref-prefix refs/heads/main', 'ref-prefix refs/heads/main'],
  ]
  for (const args of asked) {
    const bytes = request(...args)
    expect(await ours(gitDir, bytes)).toBe(gits(gitDir, bytes))
  }
})

test('what takes more than to read branches is for git', async () => {
  const { gitDir, commit } = repository()
  expect(await ours(gitDir, request(...clone))).toBeUndefined() // HEAD names a branch that is not there
  nativeGit(gitDir, ['update-ref', 'refs/heads/main', commit])
  expect(await ours(gitDir, request(...clone))).toBeDefined()
  expect(await ours(gitDir, request('peel', 'symrefs'))).toBeUndefined()
  expect(await ours(gitDir, request('ref-prefix refs/'))).toBeUndefined()
  expect(await ours(gitDir, request('ref-prefix HEADS'))).toBeUndefined()
  expect(await ours(gitDir, request('something', ...clone))).toBeUndefined()
  writeFileSync(join(gitDir, 'HEAD'), `${commit}\n`)
  expect(await ours(gitDir, request(...clone))).toBeUndefined()
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n')
  mkdirSync(join(gitDir, 'refs/tags'), { recursive: true })
  nativeGit(gitDir, ['tag', '-a', '-m', 'One', 'v1', commit])
  expect(await ours(gitDir, request(...clone))).toBeUndefined()
})
