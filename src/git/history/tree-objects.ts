import type { Oid } from '../objects/object.ts'
import { folderMode, submoduleMode } from '../objects/tree.ts'
import { differingEntries } from '../objects/tree-diff.ts'

/** Collects what trees hold that others, which are collected too or are elsewhere, do not hold at the same places. */
export class TreeObjects {
  readonly ids = new Set<Oid>()
  readonly #readTree: (oid: Oid) => Promise<Buffer>
  /** Pairs: a tree that comes back is not all there because of what was added for it beside another one. */
  readonly #compared = new Set<string>()

  constructor(readTree: (oid: Oid) => Promise<Buffer>) {
    this.#readTree = readTree
  }

  /** Adds a tree and what lies below it, without what `before` has at the same places. No file is read. */
  async add(oid: Oid, before: Oid | undefined): Promise<void> {
    const pair = `${oid} ${before}`
    if (oid === before || this.#compared.has(pair)) return
    this.#compared.add(pair)
    this.ids.add(oid)
    const old = before === undefined ? Buffer.alloc(0) : await this.#readTree(before)
    for (const { was, is } of differingEntries(old, await this.#readTree(oid))) {
      if (is === undefined || is.mode === submoduleMode) continue
      if (is.mode === folderMode) await this.add(is.oid, was?.mode === folderMode ? was.oid : undefined)
      // One that has only another mode is there.
      else if (was?.oid !== is.oid) this.ids.add(is.oid)
    }
  }
}
