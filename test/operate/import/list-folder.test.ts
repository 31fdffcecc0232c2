import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ParserPool } from '../../../src/markdown/pool/parser-pool.ts'
import { listFolder } from '../../../src/operate/import/import-plan.ts'
import { checkDirectory } from '../../../src/push/clone-check/check-directory.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { expectSound, filesOf, importing, neuronOf, put } from '../../kb/support/import-support.ts'
import { fc, runs } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'

const png = Buffer.from('89504e470d0a1a0aff00', 'hex')

function reasons(skipped: readonly { path: string; reason: string }[]): string[] {
  return skipped.map(({ path, reason }) => `${path} ${reason}`).sort()
}

test('files of a hidden folder come along where pages link to them, and nothing else of it does', async () => {
  const given = await importing({
    'README.md': [
      '<figure><img src=".gitbook/assets/flow.png" alt=""></figure> ![](<.gitbook/assets/flow.png>)',
      '[s](.notes/plan.txt)',
      '{% file src=".gitbook/assets/My plan (1).pdf" %}',
      '{% include ".gitbook/includes/note.md" %}',
      '`![](.gitbook/assets/code.png)` (.gitbook/assets/prose.png) [g](.git/config) [h](.gitbook/../.git/config)',
    ].join('\n\n'),
    'guides/setup.md': '![flow](../.gitbook/assets/a%20b.png) ![](../../.gitbook/assets/prose.png)',
    '.gitbook/assets/flow.png': png,
    '.gitbook/assets/a b.png': png,
    '.gitbook/assets/code.png': png,
    '.gitbook/assets/prose.png': png,
    '.gitbook/assets/My plan (1).pdf': '%PDF-',
    '.gitbook/includes/note.md': 'A reusable text.',
    '.git/config': '[core]\n\tbare = true\n',
    '.notes/plan.txt': 'Plan',
    '.ssh/id_rsa': 'secret',
    '.env': 'SECRET=1',
  })
  const { skipped, unresolved, created, attachments } = await given.run()
  expect(filesOf(given, 'main', 'neurons')).toEqual([
    '.gitbook/assets/My plan (1).pdf',
    '.gitbook/assets/a b.png',
    '.gitbook/assets/flow.png',
    '.gitbook/includes/note.md',
    '.notes/plan.txt',
    'README.md',
    'guides/setup.md',
  ])
  expect({ created, attachments }).toEqual({ created: 3, attachments: 4 })
  expect(reasons(skipped)).toEqual([
    '.env is hidden',
    '.git is hidden',
    '.gitbook is hidden',
    '.notes is hidden',
    '.ssh is hidden',
  ])
  expect(unresolved.map(({ target }) => target)).toEqual([
    '.git/config',
    '.gitbook/../.git/config',
    '../../.gitbook/assets/prose.png',
  ])
  const { files } = await neuronOf(given, 'neurons/guides/setup.md')
  expect(files).toMatchObject([{ path: 'neurons/.gitbook/assets/a b.png' }])
  expect(await given.run()).toMatchObject({ unchanged: 3, attachments: 0, vanished: [] })
  expectSound(given)
})

const project = {
  '.gitignore': 'target/\n*.log\n/drafts\n!drafts/keep.md\nimg\n',
  'guide.md': '[log](build.log) ![](/img/a.png) [d](drafts/secret.md)',
  'web/img/a.png': png,
  'web/img/b.png': png,
  'build.log': 'x',
  'target/doc/readme.md': '# Built',
  'drafts/secret.md': '# Draft',
  'docs/.gitignore': 'out\n!*.log\n',
  'docs/a.md': 'a',
  'docs/kept.log': 'x',
  'docs/out/b.md': 'b',
  'docs/cache/CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55',
  'docs/cache/c.md': 'c',
}
const ignored = [
  'build.log is ignored by git',
  "docs/cache is a tool's own",
  'docs/out is ignored by git',
  'drafts is ignored by git',
  'target is ignored by git',
  'web is ignored by git',
]

test('what git ignores stays away, with and without a repository, also where the folder is a part of one', async () => {
  const plain = await importing(project)
  const { skipped } = await plain.run()
  expect(reasons(skipped)).toEqual(['.gitignore is hidden', ...ignored, 'docs/.gitignore is hidden'].sort())
  expect(filesOf(plain, 'main', 'neurons')).toEqual(['docs/a.md', 'docs/kept.log', 'guide.md', 'web/img/a.png'])

  const inside = await importing(
    Object.fromEntries(
      Object.entries(project).map(([path, text]): [string, string | Buffer] => [`vault/${path}`, text]),
    ),
  )
  nativeGit(inside.vault, ['init', '--quiet'])
  put(inside.vault, '.gitignore', '*.tmp.md\n')
  put(inside.vault, 'vault/x.tmp.md', 'x')
  nativeGit(inside.vault, ['add', '--all'])
  nativeGit(inside.vault, ['add', '--force', 'vault/drafts/secret.md'])
  put(inside.vault, 'vault/new.md', 'Not added yet.')
  appendFileSync(join(inside.vault, '.git/info/exclude'), 'excluded.md\n')
  put(inside.vault, 'vault/excluded.md', 'x')
  inside.vault = join(inside.vault, 'vault')
  await inside.run()
  expect(filesOf(inside, 'main', 'neurons')).toEqual([
    ...['docs/a.md', 'docs/kept.log', 'drafts/secret.md', 'guide.md', 'new.md'],
  ])
})

test('a repository around the folder that tracks nothing in it does not decide; one inside of it is taken whole', async () => {
  const given = await importing({
    '.gitignore': '*\n',
    'notes/a.md': 'a',
    'notes/wiki/b.md': 'b',
    'notes/.gitignore': 'c.md',
  })
  nativeGit(given.vault, ['init', '--quiet'])
  given.vault = join(given.vault, 'notes')
  nativeGit(join(given.vault, 'wiki'), ['init', '--quiet'])
  put(given.vault, 'c.md', 'c')
  await given.run()
  expect(filesOf(given, 'main', 'neurons')).toEqual(['a.md', 'wiki/b.md'])
})

test('a folder takes exactly the files that git would add', async () => {
  const name = fc.constantFrom('a', 'b', 'target', 'é')
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join('/')}.md`)
  const rule = fc.constantFrom('a/', '/b', 'target', '*.md', '!a.md', '!b/', 'é.md', 'a/**/b.md')
  const rules = fc.array(rule, { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(path, { minLength: 1, maxLength: 8 }), rules, rules, async (paths, top, inner) => {
      const [dir, gitDir] = [tempDir(), tempDir()]
      nativeGit(gitDir, ['init', '--quiet', '--bare'])
      for (const each of paths) put(dir, each, '')
      put(dir, '.gitignore', top.join('\n'))
      put(dir, 'a/.gitignore', inner.join('\n'))
      const list = () => listFolder(dir, { gitDir, parser: {} as ParserPool })
      const taken = (await list()).flatMap(({ origin, problem }) => (problem === undefined ? [origin] : []))
      nativeGit(dir, ['init', '--quiet'])
      nativeGit(dir, ['add', '--all'])
      const added = nativeGit(dir, ['ls-files', '-z', '*.md']).split('\0').filter(Boolean)
      expect(taken.sort()).toEqual(added.sort())
    }),
    { numRuns: runs(100, 10) },
  )
})

test('a file whose path is spelled otherwise is found, and the link is told of', async () => {
  const given = await importing({
    'Case.md':
      '![a](img/photo.png) ![b](./Img/Photo.PNG) ![](img/Photo.PNG) ![[photo.png]] [c](OTHER.md)\n![](./photo.png)',
    'img/Photo.PNG': png,
    'other.md': 'x',
  })
  const { links, unresolved, notices } = await given.run()
  expect(links).toEqual({ neurons: 1, files: 4, otherKbs: 0 })
  expect(unresolved.map(({ target }) => target)).toEqual(['./photo.png'])
  const told = (target: string) => `The link to ${target} means neurons/img/Photo.PNG, which is spelled otherwise.`
  expect(notices).toEqual(
    ['img/photo.png', './Img/Photo.PNG'].map((target) => ({ path: 'neurons/Case.md', line: 1, message: told(target) })),
  )
  const { files } = await neuronOf(given, 'neurons/Case.md')
  expect(new Set(files?.map(({ path }) => path))).toEqual(new Set(['neurons/img/Photo.PNG']))
})

test('links of sites and of Logseq lead to their pages at every door', async () => {
  const given = await importing({
    'a.md': '[b](/guide/b/) [b](/guide/b) [c](../c/) [[A/B]] [[Jan 2nd, 2024]] [[dendron://v/guide.x]]',
    'guide/b.md': '[c](../c/)',
    'guide/c/index.md': 'c',
    'pages/A___B.md': '- b',
    'journals/2024_01_02.md': '- c',
    'guide.x.md': 'x',
  })
  const { unresolved } = await given.run()
  expect(unresolved).toEqual([{ path: 'neurons/a.md', target: '../c/', reason: 'folder' }])
  const { links, unresolved: broken } = await neuronOf(given, 'neurons/a.md')
  expect(links.length).toBe(4)
  expect(broken.map(({ target }) => target)).toEqual(['../c/'])
  const { title, backlinks } = await neuronOf(given, 'neurons/pages/A___B.md')
  expect({ title, backlinks }).toMatchObject({ title: 'A/B', backlinks: [{ title: 'a' }] })
  expect((await neuronOf(given, 'neurons/guide/b.md')).links.length).toBe(1)
  const clone = tempDir()
  nativeGit(clone, ['clone', '--quiet', given.gitDir, '.'])
  const { findings } = await checkDirectory(clone, {})
  expect(findings.filter(({ rule }) => rule.includes('link')).map(({ message }) => message)).toEqual([
    'No Neuron answers to the link to ../c/.',
  ])
})
