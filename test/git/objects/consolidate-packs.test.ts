import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkObjects } from '../../../src/git/fsck.ts'
import { GroupCommit } from '../../../src/git/group-commit.ts'
import { consolidatePacks } from '../../../src/git/objects/pack-files.ts'
import { folderRefs } from '../../../src/git/ref-store.ts'
import { Repository } from '../../../src/git/repository.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'
import { noFollower } from '../support/no-follower.ts'

const main = 'refs/heads/main'
const author = { name: 'Ada', email: 'ada@example.com', at: new Date('2026-05-01T12:00:00Z') }
const noLimit = new AbortController().signal

async function newWriter() {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  const writer = new GroupCommit(repository, folderRefs(repository, [main]), noFollower)
  const put = (path: string, text = path) =>
    writer.run((staging) =>
      staging.commit(main, { changes: new Map([[path, text]]), message: path, author, committer: author }),
    )
  const packs = () => readdirSync(join(repository.gitDir, 'objects/pack')).filter((name) => name.endsWith('.pack'))
  return { repository, put, packs }
}

test('small packs become one while writers write and readers read, deltas stay deltas, and large packs stay', async () => {
  const { repository, put, packs } = await newWriter()
  const { gitDir } = repository
  for (let n = 0; n < 20; n++) await put(`large/${n}.md`, `${'page '.repeat(2000)}${n}`)
  nativeGit(gitDir, ['repack', '-adfq'])
  const [large = ''] = packs()
  const oids: string[] = []
  for (let n = 0; n < 12; n++) oids.push(await put(`before-${n}.md`))
  const before = packs().reduce((sum, name) => sum + statSync(join(gitDir, 'objects/pack', name)).size, 0)
  const reader = new Repository(gitDir)
  const consolidating = consolidatePacks(gitDir, noLimit)
  for (let n = 0; n < 5; n++) oids.push(await put(`during-${n}.md`))
  await consolidating

  expect(packs()).toContain(large)
  expect(packs().length).toBeLessThan(9)
  for (const oid of oids) expect(await reader.find(oid)).toBeDefined()
  await consolidatePacks(gitDir, noLimit)
  const after = packs().reduce((sum, name) => sum + statSync(join(gitDir, 'objects/pack', name)).size, 0)
  expect(after).toBeLessThan(before + 4000)
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect(nativeGit(gitDir, ['rev-list', '--count', 'main'])).toBe('37')
  expect(readdirSync(join(gitDir, 'objects/pack')).filter((name) => !/\.(pack|idx|rev)$/.test(name))).toEqual([])
  await put('after.md')
  repository.close()
  reader.close()
})

test('packs that git keeps for something are left alone, and one that is damaged changes nothing', async () => {
  const { repository, put, packs } = await newWriter()
  const { gitDir } = repository
  for (let n = 0; n < 6; n++) await put(`${n}.md`)
  const folder = join(gitDir, 'objects/pack')
  const [kept = '', mistaken = ''] = packs()
  writeFileSync(join(folder, kept.replace('.pack', '.keep')), '')
  const whole = readFileSync(join(folder, mistaken))
  chmodSync(join(folder, mistaken), 0o644)
  writeFileSync(join(folder, mistaken), whole.subarray(0, 30))
  const before = readdirSync(folder).sort()
  await expect(consolidatePacks(gitDir, noLimit)).rejects.toThrow()
  expect(readdirSync(folder).sort()).toEqual(before)
  writeFileSync(join(folder, mistaken), whole)
  await expect(consolidatePacks(gitDir, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  expect(readdirSync(folder).sort()).toEqual(before)
  await consolidatePacks(gitDir, noLimit)
  expect(packs()).toHaveLength(2)
  expect(packs()).toContain(kept)
  nativeGit(gitDir, ['multi-pack-index', 'write'])
  await put('another.md')
  await put('and-another.md')
  await consolidatePacks(gitDir, noLimit)
  expect(packs()).toHaveLength(4)
  repository.close()
})

test('objects that are gone, damaged, or not what their ids say are found without git', async () => {
  const { repository, put, packs } = await newWriter()
  const { gitDir } = repository
  await put('neurons/a.md')
  const blob = nativeGit(gitDir, ['rev-parse', 'main:neurons/a.md'])
  nativeGit(gitDir, ['tag', '-a', '-m', 'A tag', 'v1', 'main'])
  expect(await checkObjects(gitDir, noLimit)).toEqual([])
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict'])).toBe('')
  const commit = nativeGit(gitDir, ['rev-parse', 'main'])
  const [pack = ''] = packs()
  const other = join(tempDir(), 'other.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', other])
  nativeGit(other, ['unpack-objects', '-q'], readFileSync(join(gitDir, 'objects/pack', pack)))
  nativeGit(other, ['update-ref', main, commit])
  const path = join(other, 'objects', blob.slice(0, 2), blob.slice(2))
  chmodSync(path, 0o644)
  const wrong = nativeGit(other, ['hash-object', '-w', '--stdin'], 'something else')
  writeFileSync(path, readFileSync(join(other, 'objects', wrong.slice(0, 2), wrong.slice(2))))
  expect(await checkObjects(other, noLimit)).toEqual([`damaged ${blob}: it is not what its id says`])
  writeFileSync(path, 'damage')
  expect(await checkObjects(other, noLimit)).toEqual([`damaged ${blob}: an object cannot be inflated`])
  const lost = '3'.repeat(40)
  const lines = [`tree ${nativeGit(other, ['rev-parse', `${commit}^{tree}`])}`, `parent ${lost}`]
  const people = ['author', 'committer'].map((who) => `${who} A <a@example.com> 1 +0000`)
  const orphan = `${[...lines, ...people].join('\n')}\n\nOrphan\n`
  nativeGit(other, ['update-ref', main, nativeGit(other, ['hash-object', '-w', '-t', 'commit', '--stdin'], orphan)])
  expect(await checkObjects(other, noLimit)).toContain(`missing ${lost}`)
  await expect(checkObjects(other, AbortSignal.abort())).rejects.toMatchObject({ code: 'git-failed' })
  repository.close()
})
