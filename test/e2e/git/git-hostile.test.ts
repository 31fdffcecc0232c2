import { describe, expect, test } from 'vitest'
import { HostileCommits } from '../../git/support/hostile-commits.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { Clone, page } from './git-clone.ts'
import { candidates, soundProduct } from './git-support.ts'

const zeroOid = '0'.repeat(40)
const file = '100644'
const folder = '40000'

/** A clone in which trees are written that no git would write, and what the server keeps. */
async function hostileClone() {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  const write = new HostileCommits(clone.dir)
  const kept = () => [
    nativeGit(product.gitDir, ['for-each-ref']),
    nativeGit(product.gitDir, ['count-objects', '-v']),
    nativeGit(product.gitDir, ['cat-file', '--batch-all-objects', '--batch-check']),
  ]
  return { product, clone, write, head: await clone.git('rev-parse', 'HEAD'), kept }
}

describe('names that git itself does not take', () => {
  const cases: [name: string, shown: string, reason: string][] = [
    ['.git', '.git', 'has the name .git, which git gives a meaning of its own'],
    ['.GiT', '.GiT', 'has the name .GiT, which git gives a meaning of its own'],
    ['git~1', 'git~1', 'has the name git~1, which git gives a meaning of its own'],
    ['GIT~1', 'GIT~1', 'has the name GIT~1, which git gives a meaning of its own'],
    ['.g\u200cit', '.g\\u{200C}it', 'has the control or invisible character U+200C'],
    ['.git\ufeff', '.git\\u{FEFF}', 'has the control or invisible character U+FEFF'],
    ['.git ', '.git ', 'has a name that ends in a dot or space, which Windows drops'],
    ['.git...', '.git...', 'has a name that ends in a dot or space, which Windows drops'],
    ['.git::$INDEX_ALLOCATION', '.git::$INDEX_ALLOCATION', 'has the character :, which Windows does not allow'],
    ['x\\.git', 'x\\.git', 'has the character \\, which Windows does not allow in a name'],
    ['.', '.', 'has the relative name .'],
    ['..', '..', 'has the relative name ..'],
  ]

  test.each(cases)('%j is refused with its path, at whatever place', async (name, shown, reason) => {
    const { product, clone, write, head, kept } = await hostileClone()
    const root = write.treeOf(head)
    const oid = write.blob(page('New', 'Text.'))
    const below = write.with(root, 'neurons/ok.md', { mode: file, oid })
    const before = kept()
    const asFolder = write.commit(write.with(root, `${name}/hooks/x`, { mode: file, oid }), head)
    const deep = write.commit(write.with(below, `neurons/deep/${name}`, { mode: file, oid }), head)
    const undone = write.commit(root, deep)
    const merged = write.commit(below, head, undone)
    const pushes: [to: string, ref: string, path: string][] = [
      [asFolder, 'refs/heads/main', shown],
      [asFolder, 'refs/for/main', shown],
      [deep, 'refs/heads/main', `neurons/deep/${shown}`],
      [undone, 'refs/heads/main', `neurons/deep/${shown}`],
      [merged, 'refs/heads/main', `neurons/deep/${shown}`],
      [merged, 'refs/for/main', `neurons/deep/${shown}`],
    ]
    for (const [to, ref, path] of pushes) {
      const { code, stderr } = await clone.push(`${to}:${ref}`)
      expect(stderr).toContain(`remote: ${path}:1: The path ${reason}`)
      expect(stderr).not.toMatch(/fsck|unpacker/)
      expect(code).toBe(1)
    }
    expect(kept()).toEqual(before)
    expect(await candidates(product, 'pending')).toEqual([])
  })
})

test('trees that are broken are refused by git', async () => {
  const { clone, write, head, kept } = await hostileClone()
  const oid = write.blob('x')
  const entry = (mode: string, name: string, to = oid) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(to, 'hex')])
  const broken: Record<string, Buffer[]> = {
    nullSha1: [entry('160000', 'a', zeroOid)],
    zeroPaddedFilemode: [entry(`0${folder}`, 'a', write.tree([{ mode: file, name: 'b', oid }]))],
    duplicateEntries: [entry(file, 'a'), entry(file, 'a')],
    treeNotSorted: [entry(file, 'b'), entry(file, 'a')],
    fullPathname: [entry(file, 'a/b')],
  }
  const before = kept()
  for (const [problem, entries] of Object.entries(broken)) {
    const written = ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin']
    const tree = nativeGit(clone.dir, written, Buffer.concat(entries))
    const bad = write.commit(tree, head)
    for (const to of [bad, write.commit(write.treeOf(head), bad)]) {
      const { code, stderr } = await clone.push(`${to}:refs/heads/main`)
      expect([problem, code, stderr]).toEqual([problem, 1, expect.stringContaining(`${problem}: `)])
    }
  }
  expect(kept()).toEqual(before)
})
