import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { clearBrokenRefs, moveDerivedRefs } from '../../../src/git/refs/derived-refs.ts'
import { listRefs, updateRef } from '../../../src/git/refs/refs.ts'
import { Repository } from '../../../src/git/repository.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

const main = 'refs/heads/main'
const folder = 'refs/derived'

async function repositoryWith(count: number): Promise<{ dir: string; oids: string[] }> {
  const { gitDir: dir } = await Repository.init(join(tempDir(), 'kb.git'))
  const tree = nativeGit(dir, ['mktree'], '')
  const oids = Array.from({ length: count }, (_, n) => nativeGit(dir, ['commit-tree', '-m', `${n}`, tree]))
  await updateRef(dir, main, undefined, oids[0] ?? '')
  return { dir, oids }
}

const nativeRefs = (dir: string) =>
  new Map(
    nativeGit(dir, ['for-each-ref', '--format=%(refname) %(objectname)'])
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  )

test('refs are made, moved and removed, packed or loose, and the others stay as they are', async () => {
  const { dir, oids } = await repositoryWith(3)
  const [a = '', b = '', c = ''] = oids
  nativeGit(dir, ['tag', '-a', '-m', 'A tag', 'v1', main])
  await moveDerivedRefs(dir, folder, new Map([1, 2, 3, 4].map((n) => [`${folder}/${n}/head`, a])))
  nativeGit(dir, ['pack-refs', '--all'])
  await moveDerivedRefs(
    dir,
    folder,
    new Map([
      [`${folder}/1/head`, b],
      [`${folder}/2/head`, undefined],
      [`${folder}/5/head`, c],
      [`${folder}/none/head`, undefined],
    ]),
  )
  const expected = new Map([
    [`${folder}/1/head`, b],
    [`${folder}/3/head`, a],
    [`${folder}/4/head`, a],
    [`${folder}/5/head`, c],
    [main, a],
    ['refs/tags/v1', nativeGit(dir, ['rev-parse', 'v1'])],
  ])
  expect(await listRefs(dir)).toEqual(expected)
  expect(nativeRefs(dir)).toEqual(expected)
  expect(await listRefs(dir, folder)).toEqual(new Map([...expected].slice(0, 4)))
  expect(nativeGit(dir, ['rev-parse', 'v1^{}'])).toBe(a)
  expect(readFileSync(join(dir, 'packed-refs'), 'utf8')).toContain(`^${a}`)
  writeFileSync(join(dir, 'packed-refs.new'), 'of a writer that was killed')
  await moveDerivedRefs(dir, folder, new Map([`${folder}/1/head`, `${folder}/5/head`].map((ref) => [ref, undefined])))
  expect(existsSync(join(dir, folder, '5'))).toBe(false)
  expect(readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => /lock/.test(name))).toEqual([])
})

test('a ref may take the place of a folder of refs, and the other way round', async () => {
  const { dir, oids } = await repositoryWith(1)
  const [a = ''] = oids
  const move = (changes: [string, string | undefined][]) => moveDerivedRefs(dir, folder, new Map(changes))
  await move([[`${folder}/x/y`, a]])
  await move([
    [`${folder}/x`, a],
    [`${folder}/x/y`, undefined],
  ])
  expect([...(await listRefs(dir, folder)).keys()]).toEqual([`${folder}/x`])
  await move([
    [`${folder}/x/y/z`, a],
    [`${folder}/x`, undefined],
  ])
  expect([...nativeRefs(dir).keys()]).toEqual([`${folder}/x/y/z`, main])
  mkdirSync(join(dir, folder, 'empty/folders'), { recursive: true })
  await move([[`${folder}/empty`, a]])
  expect(await listRefs(dir, folder)).toHaveProperty('size', 2)
  await expect(move([[`${folder}/x`, a]])).rejects.toThrow()
})

test('broken refs are listed by nobody, and cleared', async () => {
  const { dir, oids } = await repositoryWith(1)
  await moveDerivedRefs(dir, folder, new Map([[`${folder}/1`, oids[0]]]))
  writeFileSync(join(dir, folder, '2'), '')
  writeFileSync(join(dir, folder, '3'), 'no object')
  expect([...(await listRefs(dir, folder)).keys()]).toEqual([`${folder}/1`])
  await clearBrokenRefs(dir, folder)
  expect(readdirSync(join(dir, folder))).toEqual(['1'])
})

test('while others pack refs nothing comes back and nothing is lost', async () => {
  const { dir, oids } = await repositoryWith(2)
  let isDone = false
  const packing = (async () => {
    while (!isDone) await promisify(execFile)('git', ['pack-refs', '--all', '--prune'], { cwd: dir })
  })()
  let expected = new Map<string, string>()
  for (let round = 0; round < 30; round++) {
    const names = Array.from({ length: 10 }, (_, n) => `${folder}/${n}/head`)
    const wanted = new Map(names.map((ref, n) => [ref, (n + round) % 3 === 0 ? undefined : oids[round % 2]]))
    await moveDerivedRefs(dir, folder, wanted)
    expected = new Map([...wanted].flatMap(([ref, oid]) => (oid === undefined ? [] : [[ref, oid] as const])))
    expect(await listRefs(dir, folder)).toEqual(expected)
  }
  isDone = true
  await packing
  expect(nativeRefs(dir)).toEqual(new Map([...expected, [main, oids[0] ?? '']]))
})
