import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDirectory } from '../../../src/push/clone-check/check-directory.ts'
import { CheckError } from '../../../src/push/clone-check/check-error.ts'
import { checkStaged } from '../../../src/push/clone-check/check-staged.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { put, remove } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'

const settings = 'id: 0199a5c2-0000-7000-8000-000000000000\nslug: notes\nprefix: notes\ntitle: Notes\n'
const uuid = (number: number) => `0199a5c2-0000-7000-8000-${String(number).padStart(12, '0')}`
const neuron = (number: number, content = 'Text.', id = uuid(number)) =>
  `---\nseqId: notes_${String(number).padStart(8, '0')}\nid: ${id}\ntitle: Note ${number}\n---\n\n${content}\n`

/** A checkout whose one commit has these files. */
function checkoutOf(files: Record<string, string>): string {
  const dir = tempDir()
  for (const [path, content] of Object.entries({ 'kb.yaml': settings, ...files })) put(dir, path, content)
  nativeGit(dir, ['init', '--quiet', '--initial-branch=main'])
  nativeGit(dir, ['add', '--all'])
  nativeGit(dir, ['commit', '--quiet', '--message', 'Begin'])
  return dir
}

function stage(dir: string, files: Record<string, string | null>): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) remove(dir, path)
    else put(dir, path, content)
  }
  nativeGit(dir, ['add', '--all'])
}

async function rulesOf(dir: string, indexFile?: string): Promise<string[]> {
  const { findings } = await checkStaged(dir, { indexFile })
  return findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`)
}

test('only what is staged is checked, as it is staged', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1), 'neurons/bad.md': '---\nseqId: other_00000001\n---\n\nx\n' })
  expect(await checkStaged(dir)).toEqual({ findings: [], files: 0 })
  stage(dir, { 'neurons/a.md': neuron(1).replace('title: Note 1', 'tags: {a: b}\ntitle: Note 1') })
  put(dir, 'neurons/a.md', neuron(1))
  put(dir, 'neurons/untracked.md', neuron(1))
  expect(await rulesOf(dir)).toEqual(['neurons/a.md:4 invalid-front-matter'])
  nativeGit(dir, ['add', 'neurons/a.md'])
  expect(await checkStaged(dir)).toEqual({ findings: [], files: 0 })
  put(dir, 'neurons/a.md', neuron(1).replace('\n---\n', '\n---\n\n---\ntags: [internal]\n---\n'))
  nativeGit(dir, ['add', 'neurons/a.md'])
  expect(await rulesOf(dir)).toEqual(['neurons/a.md:7 front-matter-unread'])
})

test('what a file holds that would break clones, and a conflict that is left, are found in what is staged', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1), '.gitattributes': '*.md text\n' })
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`
  stage(dir, {
    '.gitattributes': '*.md text\n*.pdf filter=lfs\n',
    'plan.bin': pointer,
    'neurons/a.md': neuron(1, '<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> side'),
  })
  const expected = ['.gitattributes:2 git-attributes', 'neurons/a.md:7 conflict-marker', 'plan.bin:1 lfs-pointer']
  expect(await rulesOf(dir)).toEqual(expected)
  const { findings } = await checkDirectory(dir, {})
  expect(findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`)).toEqual(expected)
})

test('modes, sizes, names, encoding and settings are checked', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1), 'neurons/Folder/b.md': neuron(2) })
  stage(dir, {
    'kb.yaml': settings.replace('prefix: notes', 'prefix: notes\nprefixx: notes'),
    'neurons/A.md': neuron(3),
    'neurons/folder/c.md': neuron(4),
    'neurons/CON.md': neuron(5),
    'neurons/large.md': neuron(6, 'x'.repeat(1024 * 1024)),
    'neurons/run.md': neuron(7),
    'neurons/other.md': neuron(8).replace('notes_', 'other_'),
  })
  put(dir, 'neurons/latin.md', Buffer.from(neuron(9, '\xe9'), 'latin1'))
  chmodSync(join(dir, 'neurons/run.md'), 0o755)
  symlinkSync('a.md', join(dir, 'neurons/link.md'))
  nativeGit(dir, ['add', '--all'])
  expect((await rulesOf(dir)).sort()).toEqual([
    'kb.yaml:1 settings',
    'neurons/CON.md:1 path',
    'neurons/a.md:1 path-collision',
    'neurons/folder/c.md:1 path-collision',
    'neurons/large.md:1 file-size',
    'neurons/latin.md:7 encoding',
    'neurons/link.md:1 file-mode',
    'neurons/other.md:1 seq-id-prefix',
    'neurons/run.md:1 file-mode',
  ])
})

test('a seqId or id of any Neuron cannot be taken, and the copy is to blame', async () => {
  const dir = checkoutOf({
    'neurons/z.md': neuron(1),
    'neurons/quoted.md': neuron(2).replace(/: (notes_\d+)/, ': "$1" # kept'),
    'neurons/ids.md': neuron(3, 'x', uuid(3).toUpperCase()),
    'neurons/mentions.md': neuron(4, 'seqId: notes_00000009'),
  })
  stage(dir, {
    'neurons/b.md': neuron(1, 'A copy.'),
    'neurons/c.md': neuron(2, 'x', uuid(20)),
    'neurons/d.md': neuron(30, 'x', uuid(3)),
    'neurons/e.md': neuron(9),
  })
  const expected = [
    'neurons/b.md:1 duplicate-id',
    'neurons/b.md:1 duplicate-seq-id',
    'neurons/c.md:1 duplicate-seq-id',
    'neurons/d.md:1 duplicate-id',
  ]
  expect(await rulesOf(dir)).toEqual(expected)
  const { findings } = await checkDirectory(dir, {})
  expect(findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`)).toEqual(expected)
})

test('a seqId stays with its Neuron, which may move and be deleted', async () => {
  const dir = checkoutOf({
    'neurons/a.md': neuron(1),
    'neurons/b.md': neuron(2),
    'neurons/c.md': neuron(3),
    'neurons/d.md': neuron(4),
  })
  stage(dir, {
    'neurons/a.md': neuron(11),
    'neurons/b.md': '---\ntitle: B\n---\n\nx\n',
    'neurons/c.md': null,
    'neurons/sub/c.md': neuron(3),
    'neurons/d.md': null,
  })
  expect(await rulesOf(dir)).toEqual(['neurons/a.md:1 changed-seq-id', 'neurons/b.md:1 removed-seq-id'])
})

test('what was wrong before is not told again', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1), 'neurons/b.md': neuron(1), 'neurons/c.md': neuron(2) })
  const blob = nativeGit(dir, ['rev-parse', 'HEAD:neurons/a.md'])
  nativeGit(dir, ['update-index', '--add', '--cacheinfo', `100644,${blob},neurons/B.md`])
  nativeGit(dir, ['commit', '--quiet', '--message', 'Collide'])
  put(dir, 'neurons/d.md', neuron(3))
  nativeGit(dir, ['add', 'neurons/d.md'])
  expect(await rulesOf(dir)).toEqual([])
})

test('links and edges are left to the whole check', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1) })
  stage(dir, {
    'neurons/a.md': neuron(1, '[[Nowhere]]').replace('title:', 'edges: [{ type: cites, target: gone }]\ntitle:'),
  })
  expect(await checkStaged(dir)).toEqual({ findings: [], files: 1 })
})

test('the first commit of a repository is checked as a whole', async () => {
  const dir = tempDir()
  nativeGit(dir, ['init', '--quiet'])
  stage(dir, { 'kb.yaml': settings, 'neurons/a.md': neuron(1), 'neurons/b.md': neuron(1) })
  expect(await rulesOf(dir)).toEqual(['neurons/b.md:1 duplicate-id', 'neurons/b.md:1 duplicate-seq-id'])
})

test('another index than the own one can be checked, as a hook is told to', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1) })
  stage(dir, { 'neurons/a.md': neuron(2) })
  const other = join(dir, '.git', 'other')
  nativeGit(dir, ['read-tree', 'HEAD', `--index-output=${other}`])
  expect(await rulesOf(dir)).toEqual(['neurons/a.md:1 changed-seq-id'])
  expect(await rulesOf(dir, other)).toEqual([])
})

test('a sparse partial clone is checked by what it has, and fetches nothing', async () => {
  const origin = checkoutOf({ 'neurons/in/a.md': neuron(1), 'neurons/out/b.md': neuron(2) })
  nativeGit(origin, ['config', 'uploadpack.allowFilter', 'true'])
  const clone = join(tempDir(), 'clone')
  nativeGit(origin, ['clone', '--quiet', '--filter=blob:none', '--sparse', `file://${origin}`, clone])
  nativeGit(clone, ['sparse-checkout', 'set', 'neurons/in'])
  nativeGit(clone, ['rm', '--quiet', '--cached', '--sparse', 'neurons/out/b.md'])
  put(clone, 'neurons/in/a.md', neuron(7))
  put(clone, 'neurons/in/other.md', neuron(8).replace('notes_', 'other_'))
  nativeGit(clone, ['add', 'neurons/in'])
  const missing = () => nativeGit(clone, ['rev-list', '--objects', '--missing=print', 'HEAD']).match(/^\?.*/gm)
  expect(missing()).toHaveLength(1)
  expect(await rulesOf(clone)).toContain('neurons/in/other.md:1 seq-id-prefix')
  expect(missing()).toHaveLength(1)
})

test('what is no checkout of a knowledge base is refused', async () => {
  await expect(checkStaged(tempDir())).rejects.toThrow(CheckError)
  const dir = checkoutOf({})
  stage(dir, { 'kb.yaml': null })
  await expect(checkStaged(dir)).rejects.toThrow(/no file kb\.yaml is staged/)
})
