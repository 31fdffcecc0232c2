import type { GitObject, Oid } from '../objects/object.ts'

export type Heads = ReadonlyMap<string, Oid | undefined>

/** `from` is what the ref must hold; undefined: it must not exist. */
export type RefMove = { ref: string; from: Oid | undefined; to: Oid }

export type Publication = {
  /** Objects that the moves lead to and the repository does not hold yet. */
  objects: ReadonlyMap<Oid, GitObject>
  /** The refs on which the moves were prepared. */
  heads: Heads
  /** Moves in the order of {@link RefStore.refs}. */
  moves: readonly RefMove[]
}

/** Decides where some refs of a repository point. All writers, in this process or elsewhere, use the same store. */
export interface RefStore {
  /** Their names, in the order in which they are moved. */
  readonly refs: readonly string[]
  /**
   * Reads the refs as they are now. The repository then holds all that they lead to.
   * @throws {GitError} `bad-ref`
   */
  readHeads(): Promise<Heads>
  /**
   * Makes objects durable, then moves refs, in order. Where a ref no longer holds its `from`, neither it nor any after it is moved.
   * A store for several machines moves none where any ref has moved: what was prepared may rest on those that it leaves as they are.
   * @returns the refs that were moved
   * @throws {GitError} `lock-held`; `unknown-outcome` where the moves may be made, or not
   */
  publish(publication: Publication): Promise<ReadonlySet<string>>
  /**
   * Runs an attempt to read the refs, prepare commits on top of them and publish those. Writers that keep getting in each other's way
   * may take turns.
   */
  attempt<Result>(work: () => Promise<Result>): Promise<Result>
  /** Notes the state of the refs, before they are read. @returns whether they are unchanged for certain */
  stamp(): () => boolean | Promise<boolean>
}
