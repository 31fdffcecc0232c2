import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import type { Product } from '../support.ts'
import { page } from './git-clone.ts'
import { candidateDetail, candidates, neuron, soundProduct, submitted } from './git-support.ts'

/** The recipe's scripts as the document has them: to set up, and to run again and again. */
function recipe(): string[] {
  const text = readFileSync(new URL('../../../docs/git.md', import.meta.url), 'utf8')
  const section = /^### A mirror on a forge\n(.*?)^## /ms.exec(text)?.[1] ?? ''
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script = '']) => script)
}

/** Runs a script as a user's shell does, up to its first failure. */
function run(cwd: string, script: string): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_TERMINAL_PROMPT: '0' }
  return new Promise((resolve, reject) => {
    execFile('sh', ['-e', '-c', script], { cwd, env }, (error, _, stderr) =>
      error === null ? resolve() : reject(new Error(stderr)),
    )
  })
}

async function bridged(product: Product) {
  const dir = tempDir()
  const forge = join(dir, 'forge.git')
  nativeGit(dir, ['init', '--quiet', '--bare', '--initial-branch=main', forge])
  const [setUp = '', round = ''] = recipe()
  const address = `${product.url.replace('://', `://any:${product.tokens.curator}@`)}/git/acme/handbook.git`
  const variables = `kb='${address}'; forge='${forge}'\n`
  await run(dir, variables + setUp.replace(/^(kb|forge)=.*$/gm, ''))
  const work = join(dir, 'work')
  nativeGit(dir, ['clone', '--quiet', forge, work])
  return {
    forge,
    sync: () => run(join(dir, 'bridge.git'), round),
    branches: () => nativeGit(forge, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads']).split('\n'),
    heads: () => [nativeGit(forge, ['rev-parse', 'main']), nativeGit(product.gitDir, ['rev-parse', 'main'])],
    /** Merges a branch on the forge. */
    merge(branch: string) {
      nativeGit(work, ['pull', '--quiet', 'origin', 'main'])
      nativeGit(work, ['pull', '--quiet', '--no-rebase', '--no-edit', 'origin', branch])
      nativeGit(work, ['push', '--quiet', 'origin', 'HEAD:main'])
    },
    /** Pushes a branch with a page that somebody wrote. */
    write(branch: string, path: string, text: string) {
      nativeGit(work, ['checkout', '--quiet', '-B', branch, 'origin/main'])
      const blob = nativeGit(work, ['hash-object', '-w', '--stdin'], text)
      nativeGit(work, ['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`])
      nativeGit(work, ['commit', '--quiet', '-m', 'Write'])
      nativeGit(work, ['push', '--quiet', 'origin', branch])
      nativeGit(work, ['checkout', '--quiet', '--force', '-B', 'main', 'origin/main'])
    },
  }
}

test('the recipe of the document keeps a forge in step, and leaves its own branches alone', async () => {
  const product = await soundProduct()
  const first = await submitted(product, 'First', 'The first one.')
  const second = await submitted(product, 'Second', 'The second one.')
  const { sync, branches, heads, merge, write } = await bridged(product)
  const branchOf = (id: string) => `candidates/${id}/head`
  write('feature', 'neurons/own.md', page('Own', 'Written on the forge.'))

  await sync()
  expect(branches().sort()).toEqual([branchOf(first), branchOf(second), 'feature', 'main'].sort())

  // One is merged on the forge while another is approved, and a third comes, over the API.
  merge(branchOf(first))
  const approval = `/api/v1/queue/candidates/${second}/approve`
  expect((await product.request('POST', approval, { as: product.tokens.curator, body: {} })).status).toBe(200)
  const third = await submitted(product, 'Third', 'The third one.')
  await sync()
  expect(await candidateDetail(product, first)).toMatchObject({ status: 'approved' })
  expect(branches().sort()).toEqual([branchOf(third), 'feature', 'main'].sort())
  expect(new Set(heads()).size).toBe(1)

  merge('feature')
  await sync()
  await sync()
  expect((await neuron(product, 'handbook_00000003')).body).toMatchObject({ title: 'Own' })
  expect(branches().sort()).toEqual([branchOf(third), 'feature', 'main'].sort())
  expect(new Set(heads()).size).toBe(1)
  expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Third' }])
})
