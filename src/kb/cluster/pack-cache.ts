import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { corruptObject } from '../../git/git-error.ts'
import type { Oid } from '../../git/objects/object.ts'
import {
  packPath,
  publishPack,
  removePack,
  type StagedPack,
  stagedPack,
  stageReceivedPack,
} from '../../git/objects/pack-files.ts'
import { PackIndex } from '../../git/objects/pack-index.ts'
import type { PackEntry } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/s3/s3-packs.ts'
import { forEachAtOnce } from '../../system/concurrency/for-each-at-once.ts'
import { readIfThere } from '../../system/read-if-there.ts'

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
