import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashObject } from '../../../src/git/objects/object.ts'
import { clearAbandonedPacks, writePack } from '../../../src/git/objects/pack-files.ts'
import { Repository } from '../../../src/git/repository.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

const data = Buffer.from('Nobody refers to this yet.\n')
const oid = hashObject('blob', data)

async function newRepository(): Promise<{ dir: string; packs: string }> {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  repository.close()
  return { dir: repository.gitDir, packs: join(repository.gitDir, 'objects', 'pack') }
}

function holds(dir: string): boolean {
  return nativeGit(dir, ['cat-file', '--batch-check'], `${oid}\n`).endsWith(`blob ${data.length}`)
}

test.each([[['gc', '-q', '--prune=now']], [['repack', '-q', '-a', '-d']]])(
  'until its refs have moved a pack survives git %j, and not for longer',
  async (chore) => {
    const { dir } = await newRepository()
    const release = await writePack(dir, new Map([[oid, { type: 'blob', data }]]))
    nativeGit(dir, chore)
    expect(holds(dir)).toBe(true)
    await release()
    nativeGit(dir, chore)
    expect(holds(dir)).toBe(false)
  },
)

test('what is half written git neither takes for a pack nor clears away', async () => {
  const { dir, packs } = await newRepository()
  const folder = () => readdirSync(packs)
  const seen = new Set<string>()
  const watching = setInterval(() => folder().forEach((name) => void seen.add(name)), 0)
  await writePack(dir, new Map([[oid, { type: 'blob', data }]]))
  clearInterval(watching)
  for (const name of seen) expect(name).toMatch(/^(?:pack-[0-9a-f]{40}\.(?:pack|idx|keep)|ganglion-tmp\..*\.tmp)$/)
  expect(
    folder()
      .toSorted()
      .map((name) => name.split('.')[1]),
  ).toEqual(['idx', 'keep', 'pack'])
})

test('what a crashed writer left is cleared, what a living one or native git holds is not', async () => {
  const { dir, packs } = await newRepository()
  const [gone, native] = ['4194999.abc', 'receive-pack 1 on host\n']
  writeFileSync(join(packs, `ganglion-tmp.${gone}.1.pack.tmp`), '')
  writeFileSync(join(packs, 'pack-1.keep'), `ganglion ${gone}\n`)
  // The process before this one had the same id, as in a container.
  writeFileSync(join(packs, 'pack-2.keep'), `ganglion ${process.pid}.abc\n`)
  writeFileSync(join(packs, 'pack-3.keep'), native)
  const release = await writePack(dir, new Map([[oid, { type: 'blob', data }]]))
  await clearAbandonedPacks(dir)
  const left = readdirSync(packs).filter((name) => !/\.(?:pack|idx)$/.test(name))
  expect(left).toEqual(expect.arrayContaining(['pack-3.keep']))
  expect(left).toHaveLength(2)
  await release()
  expect(existsSync(join(packs, 'pack-3.keep'))).toBe(true)
})
