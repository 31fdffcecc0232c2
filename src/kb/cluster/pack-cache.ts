import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { corruptObject, GitError } from '../../git/git-error.ts'
import { missingIds } from '../../git/history/reachable.ts'
import type { Oid } from '../../git/objects/object.ts'
import {
  addWhole,
  packPath,
  publishPack,
  removePack,
  type StagedPack,
  stagedPack,
  stagePack,
  stageReceivedPack,
  stageWrittenPack,
} from '../../git/objects/pack-files.ts'
import { PackIndex } from '../../git/objects/pack-index.ts'
import { encodePack } from '../../git/objects/pack-writer.ts'
import type { Publication } from '../../git/ref-store.ts'
import { Repository } from '../../git/repository.ts'
import { StagedRepository } from '../../git/staged-repository.ts'
import type { PackEntry, Repositories } from '../../state/directory/repositories.ts'
import { PackNotFound, type PackStore } from '../../state/s3/s3-packs.ts'
import { forEachAtOnce } from '../../system/concurrency/for-each-at-once.ts'
import { readIfThere } from '../../system/read-if-there.ts'
import { sha256OfFile } from '../../system/received-file.ts'

/** Content of the `.keep` file of a pack that the store has. git does not repack its objects, and never removes it. */
const storedMark = 'ganglion-stored\n'
/** Maximum packs that are fetched concurrently. */
const fetchesAtOnce = 6
/** Milliseconds after which a consolidated pack is removed. */
const droppedAfter = 60 * 60_000
/** Maximum bytes of an object. */
const maxBytes = 1024 ** 3

/** Packs of the store that a repository on this machine has. It may also have others, which only this machine needs. */
export class PackCache {
  readonly #gitDir: string
  readonly #packs: PackStore
  /** Names of packs whose `.keep` file is known to mark them as stored. Its content never changes while the pack exists. */
  readonly #marked = new Set<string>()

  constructor(gitDir: string, packs: PackStore) {
    this.#gitDir = gitDir
    this.#packs = packs
  }

  /**
   * Fetches and verifies packs that are missing here, some at a time.
   * @throws {PackNotFound} {@link GitError} `corrupt-object`; errors of the store
   */
  async fetch(wanted: readonly PackEntry[]): Promise<void> {
    const here = await this.#names()
    const missing = wanted.filter(({ name }) => !here.has(name))
    await forEachAtOnce(missing, fetchesAtOnce, (pack) => this.#fetchOne(pack))
  }

  /** Makes a staged pack that the store has visible to git. @param name its checksum */
  async publish(name: string, staged: StagedPack): Promise<void> {
    const final = packPath(this.#gitDir, name)
    await writeFile(`${final}.keep`, storedMark)
    await publishPack(staged, final)
  }

  /** Removes all stored packs except these, which contain their objects. Recent packs stay, because a reader may use them. */
  async dropAllBut(kept: ReadonlySet<string>): Promise<void> {
    for (const name of await this.#names()) {
      if (kept.has(name)) continue
      const path = packPath(this.#gitDir, name)
      // Another process may remove it at the same time.
      const mark = statSync(`${path}.keep`, { throwIfNoEntry: false })
      if (mark === undefined || Date.now() - mark.mtimeMs < droppedAfter) continue
      this.#marked.delete(name)
      await removePack(path)
      await rm(`${path}.keep`, { force: true })
    }
  }

  /** Returns the objects that no pack in the store contains. */
  async unstored(oids: ReadonlySet<Oid>): Promise<Set<Oid>> {
    if (oids.size === 0) return new Set()
    const names = [...(await this.#names())]
    const indexes = names.map(async (name) => new PackIndex(await readFile(`${packPath(this.#gitDir, name)}.idx`)))
    const stored = await Promise.all(indexes)
    return new Set([...oids].filter((oid) => stored.every((index) => index.offsetOf(oid) === undefined)))
  }

  /** Returns the names of the packs that are complete here. */
  async #names(): Promise<Set<string>> {
    const files = new Set(await readdir(join(this.#gitDir, 'objects', 'pack')))
    const names = new Set<string>()
    for (const file of files) {
      const [, name] = /^pack-([0-9a-f]{40})\.keep$/.exec(file) ?? []
      if (name === undefined || !files.has(`pack-${name}.pack`) || !files.has(`pack-${name}.idx`)) continue
      if (this.#isMarked(name)) names.add(name)
    }
    return names
  }

  /** True if the store has a pack. A pack that git is receiving also has a `.keep` file for a moment, with other content. */
  #isMarked(name: string): boolean {
    const isMarked = this.#marked.has(name) || readIfThere(`${packPath(this.#gitDir, name)}.keep`) === storedMark
    if (isMarked) this.#marked.add(name)
    return isMarked
  }

  async #fetchOne({ key, name, size }: PackEntry): Promise<void> {
    await using staged = stagedPack(this.#gitDir, randomBytes(6).toString('hex'))
    const found = await stageReceivedPack(staged, await this.#packs.get(key, size), { maxBytes })
    if (found !== name) throw corruptObject(`the pack ${key} is not ${name}`)
    await this.publish(name, staged)
  }
}

/** Refs of a repository, and the pack with everything reachable from them; none if there is no ref. */
export type PutRepository = { kbId: string; refs: ReadonlyMap<string, Oid>; packs: PackEntry[] }

/**
 * Uploads everything reachable from some refs of a repository to the store, as one pack that no row names yet.
 * @throws {GitError} `missing-object`, `corrupt-object`; errors of the store
 */
export async function putRepository(
  packs: PackStore,
  { kbId, gitDir, refs: names }: { kbId: string; gitDir: string; refs: readonly string[] },
): Promise<PutRepository> {
  using repository = new Repository(gitDir)
  await using staged = stagedPack(gitDir, randomBytes(6).toString('hex'))
  const refs = new Map<string, Oid>()
  for (const ref of names) {
    const oid = await repository.readRef(ref)
    if (oid !== undefined) refs.set(ref, oid)
  }
  if (refs.size === 0) return { kbId, refs, packs: [] }
  const moves = [...refs].map(([ref, to]) => ({ ref, from: undefined, to }))
  const publication = { objects: new Map(), heads: new Map(), moves }
  const name = await stageNewPack(staged, repository, publication, new PackCache(gitDir, packs))
  return { kbId, refs, packs: [await putPack(packs, { kbId, name, path: staged.pack })] }
}

/** Uploads a pack to the store under a new key. @param name its checksum @param path of its file */
export async function putPack(
  packs: Pick<PackStore, 'put'>,
  { kbId, name, path }: { kbId: string; name: string; path: string },
): Promise<PackEntry> {
  const sha256 = await sha256OfFile(path)
  const { size } = await stat(path)
  const key = `${kbId}/${name}-${randomBytes(4).toString('hex')}.pack`
  await packs.put(key, { path, size, sha256 })
  return { key, name, size }
}

/**
 * Stages one pack with all objects that a publication needs and the store lacks: its own, and those of an earlier push or fetch on this
 * machine.
 * @returns the pack's checksum
 */
export async function stageNewPack(
  staged: StagedPack,
  repository: Repository,
  { objects, moves }: Publication,
  cache: PackCache,
): Promise<string> {
  const reachable = await missingIds(
    new StagedRepository(repository, objects),
    moves.map(({ to }) => to),
    moves.flatMap(({ from }) => from ?? []),
  )
  for (const oid of objects.keys()) reachable.delete(oid)
  const others = await cache.unstored(reachable)
  if (others.size > 0) {
    return stageWrittenPack(staged, objects.size + others.size, async (writer) => {
      for (const [oid, object] of objects) await addWhole(writer, oid, object)
      await repository.copyTo(writer, others)
    })
  }
  const { name, ...bytes } = await encodePack(objects)
  await stagePack(staged, bytes)
  return name
}

type Shared = { repositories: Pick<Repositories, 'state' | 'version'>; packs: PackStore }

/** Maximum attempts to read the rows, if other nodes consolidate the named packs meanwhile. */
const attempts = 3

/**
 * Creates a repository from the rows alone, as a node without a copy would, but leaves out packs that are missing or damaged.
 * @param gitDir must not exist
 * @returns the problems of the packs; undefined if there is no such repository
 * @throws errors of the database and the store
 */
export async function fetchWhole(
  { repositories, packs }: Shared,
  { kbId, gitDir }: { kbId: string; gitDir: string },
): Promise<string[] | undefined> {
  using repository = await Repository.init(gitDir)
  const cache = new PackCache(gitDir, packs)
  for (let attempt = 1; ; attempt++) {
    const state = await repositories.state(kbId)
    if (state.version === 0) return undefined
    const problems: string[] = []
    for (const pack of state.packs) problems.push(...(await fetchOne(cache, pack)))
    if (problems.length > 0 && attempt < attempts && (await repositories.version(kbId)) !== state.version) continue
    for (const [ref, oid] of state.refs) await repository.updateRef(ref, undefined, oid)
    return problems
  }
}

async function fetchOne(cache: PackCache, pack: PackEntry): Promise<string[]> {
  try {
    await cache.fetch([pack])
    return []
  } catch (error) {
    if (error instanceof PackNotFound) return [`The pack ${pack.key} is gone from the bucket.`]
    if (error instanceof GitError) return [`The pack ${pack.key} is damaged: ${error.message}`]
    throw error
  }
}
