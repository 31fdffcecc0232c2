import { expect, test } from 'vitest'
import { GroupCommit } from '../../../src/git/group-commit.ts'
import type { GitObject, Oid } from '../../../src/git/objects/object.ts'
import type { Publication, RefStore } from '../../../src/git/ref-store.ts'
import type { Repository } from '../../../src/git/repository.ts'
import { Staging } from '../../../src/git/staging.ts'
import { nativeGit } from './native-git.ts'
import { noFollower } from './no-follower.ts'

export const main = 'refs/heads/main'
export const queue = 'refs/ganglion/queue'

/** A writer's own view of the repository that all writers of a bed share. */
export type Writer = { repository: Repository; store: RefStore }
export type RefStoreBed = {
  /** Another writer of the same refs. All are closed when the test ends. */
  writer(): Promise<Writer>
}

const author = { name: 'Ada', email: 'ada@example.com', at: new Date('2026-05-01T12:00:00Z') }

export function put(staging: Staging, ref: string, path: string): Promise<Oid> {
  return staging.commit(ref, { changes: new Map([[path, path]]), message: `Put ${path}`, author, committer: author })
}

/** One commit on each of these refs, upon what they hold now, that is yet to be published. */
export async function prepared({ repository, store }: Writer, refs: readonly string[], path: string) {
  const heads = await store.readHeads()
  const staging = new Staging(repository, heads)
  const moves: { ref: string; from: Oid | undefined; to: Oid }[] = []
  for (const ref of refs) moves.push({ ref, from: heads.get(ref), to: await put(staging, ref, path) })
  return { objects: staging.objects as ReadonlyMap<Oid, GitObject>, heads, moves } satisfies Publication
}

export const fsck = ({ repository }: Writer) =>
  nativeGit(repository.gitDir, ['fsck', '--full', '--strict', '--no-dangling'])
export const pathsOf = ({ repository }: Writer, ref: string) =>
  nativeGit(repository.gitDir, ['ls-tree', '-r', '--name-only', ref]).split('\n').sort()

/** Tests what every store of refs must do. */
export function testRefStore(name: string, makeBed: () => Promise<RefStoreBed>): void {
  test(`${name}: of a new repository no ref is there`, async () => {
    const { store } = await (await makeBed()).writer()
    expect(new Map(await store.readHeads())).toEqual(
      new Map([
        [main, undefined],
        [queue, undefined],
      ]),
    )
  })

  test(`${name}: what one writer publishes another reads, and native git finds sound`, async () => {
    const bed = await makeBed()
    const [one, other] = [await bed.writer(), await bed.writer()]
    const publication = await prepared(one, [queue, main], 'a.md')
    expect([...(await one.store.publish(publication))]).toEqual([queue, main])
    const heads = new Map(publication.moves.map(({ ref, to }) => [ref, to]))
    for (const writer of [one, other]) {
      expect(new Map(await writer.store.readHeads())).toEqual(heads)
      expect(pathsOf(writer, main)).toEqual(['a.md'])
      expect(fsck(writer)).toBe('')
    }
  })

  test(`${name}: a ref that holds something else is not moved, nor is any after it`, async () => {
    const bed = await makeBed()
    const [one, other] = [await bed.writer(), await bed.writer()]
    const late = await prepared(other, [queue, main], 'late.md')
    const first = await prepared(one, [queue], 'first.md')
    await one.store.publish(first)
    expect((await other.store.publish(late)).size).toBe(0)
    for (const writer of [one, other]) {
      const heads = await writer.store.readHeads()
      expect([heads.get(queue), heads.get(main)]).toEqual([first.moves[0]?.to, undefined])
    }
    expect((await other.store.publish(await prepared(other, [queue, main], 'again.md'))).size).toBe(2)
    expect(pathsOf(other, queue)).toEqual(['again.md', 'first.md'])
    expect(fsck(other)).toBe('')
  })

  test(`${name}: where the last of two refs was moved by another, the writer learns what became of the first`, async () => {
    const bed = await makeBed()
    const [one, other] = [await bed.writer(), await bed.writer()]
    const late = await prepared(other, [queue, main], 'late.md')
    await one.store.publish(await prepared(one, [main], 'first.md'))
    const moved = await other.store.publish(late)
    expect(moved.has(main)).toBe(false)
    const heads = await one.store.readHeads()
    expect(heads.get(queue) === late.moves[0]?.to).toBe(moved.has(queue))
    expect(pathsOf(one, main)).toEqual(['first.md'])
  })

  test(`${name}: to publish nothing changes nothing`, async () => {
    const { store } = await (await makeBed()).writer()
    expect((await store.publish({ objects: new Map(), heads: new Map(), moves: [] })).size).toBe(0)
    expect((await store.readHeads()).get(main)).toBeUndefined()
  })

  test(`${name}: a stamp no longer holds once somebody has moved a ref`, async () => {
    const bed = await makeBed()
    const [one, other] = [await bed.writer(), await bed.writer()]
    await one.store.publish(await prepared(one, [queue, main], 'a.md'))
    for (const ref of [queue, main]) {
      const isUnchanged = one.store.stamp()
      await one.store.readHeads()
      await other.store.publish(await prepared(other, [ref], `${ref}.md`))
      expect(await isUnchanged()).toBe(false)
    }
  })

  test(`${name}: of 8 writers at once none loses a commit, and none is there twice`, async () => {
    const bed = await makeBed()
    const writers = await Promise.all(Array.from({ length: 8 }, () => bed.writer()))
    const each = 4
    const committed = writers.flatMap(({ repository, store }, who) => {
      const commits = new GroupCommit(repository, store, noFollower)
      return Array.from({ length: each }, async (_, n) => {
        await new Promise((resolve) => setTimeout(resolve, n * 3))
        return commits.run((staging) => put(staging, n % 2 === 0 ? main : queue, `${who}-${n}.md`))
      })
    })
    const oids = await Promise.all(committed)
    const [reader] = writers
    if (reader === undefined) throw new Error()
    await reader.store.readHeads()
    const history = nativeGit(reader.repository.gitDir, ['rev-list', main, queue]).split('\n')
    expect(history.sort()).toEqual(oids.sort())
    expect([...pathsOf(reader, main), ...pathsOf(reader, queue)]).toHaveLength(8 * each)
    expect(fsck(reader)).toBe('')
  })
}
