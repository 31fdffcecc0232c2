import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bytesOf, type IndexStore, integersOf } from '../index/index-store.ts'
import { StaleIndex } from '../search-index.ts'
import { Segment, type SegmentShape } from './format/segment.ts'
import { DamagedSegment, FileSink, SegmentFile } from './format/segment-bytes.ts'

const ending = '.segment'

/**
 * Segment files in the folder of an index. Only those listed in the store count. A file is written and flushed before it is
 * listed, so that a crash leaves at most an unused file.
 */
export class SegmentFiles {
  readonly #store: IndexStore
  readonly #directory: string
  /** Files that no longer count, to be removed after the transaction. */
  #obsolete: string[] = []
  #mark: string

  constructor(store: IndexStore, directory: string) {
    this.#store = store
    this.#directory = directory
    this.#mark = this.#storedMark()
  }

  static remove(directory: string): void {
    for (const name of namesIn(directory)) rmSync(join(directory, name), { force: true, recursive: true })
  }

  /** Opens the listed segments. Unlists damaged ones, and schedules unlisted files for removal. Must run within a transaction. */
  open(): Segment[] {
    this.#mark = this.#storedMark()
    const segments: Segment[] = []
    for (const { name, shape, sums } of this.#store.db.prepare('SELECT name, shape, sums FROM segments').all()) {
      try {
        segments.push(this.#open(String(name), JSON.parse(String(shape)), integersOf(sums)))
      } catch (error) {
        if (!(error instanceof DamagedSegment)) throw error
        this.#forget(String(name))
      }
    }
    const counted = new Set(segments.map(({ name }) => name))
    for (const name of namesIn(this.#directory)) if (!counted.has(name)) this.#obsolete.push(name)
    return segments
  }

  /** Creates the file of a new segment. */
  create(): FileSink {
    return new FileSink(join(this.#directory, `${randomUUID()}${ending}`))
  }

  /** Lists a file and unlists those that it replaces. Must run within a transaction. @throws {StaleIndex} */
  replace(old: readonly Segment[], written?: { sink: FileSink; shape: SegmentShape }): Segment[] {
    if (this.#storedMark() !== this.#mark) {
      written?.sink.abandon()
      throw new StaleIndex()
    }
    const made: Segment[] = []
    if (written !== undefined) {
      const { sink, shape } = written
      const [name, sums] = [basename(sink.file), sink.finish()]
      if (!existsSync(sink.file)) throw new StaleIndex()
      const insert = this.#store.db.prepare('INSERT INTO segments (name, shape, sums) VALUES (?, ?, ?)')
      insert.run(name, JSON.stringify(shape), bytesOf(sums))
      made.push(this.#open(name, shape, sums))
    }
    for (const { name } of old) if (name !== undefined) this.#forget(name)
    this.#mark = randomUUID()
    const insert = this.#store.db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('segments', ?)")
    insert.run(this.#mark)
    return made
  }

  /** Removes files that no longer count. After the transaction. */
  sweep(): void {
    for (const name of this.#obsolete) rmSync(join(this.#directory, name), { force: true, recursive: true })
    this.#obsolete = []
  }

  #open(name: string, shape: SegmentShape, sums: Uint32Array): Segment {
    return new Segment(new SegmentFile(join(this.#directory, name), shape.size, sums), shape, name)
  }

  #forget(name: string): void {
    this.#store.db.prepare('DELETE FROM segments WHERE name = ?').run(name)
    this.#obsolete.push(name)
  }

  /** Returns a mark that changes whenever any process changes the list. */
  #storedMark(): string {
    return String(this.#store.db.prepare("SELECT value FROM meta WHERE key = 'segments'").get()?.value)
  }
}

function namesIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith(ending))
}
