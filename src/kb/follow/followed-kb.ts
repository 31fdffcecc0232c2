import type { Oid } from '../../git/objects/object.ts'
import type { Heads } from '../../git/ref-store.ts'
import { Repository } from '../../git/repository.ts'
import type { Staging } from '../../git/staging.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import type { KbIdentity } from '../kb-identity.ts'
import { openProjection } from '../open-projection.ts'
import { blobAtPath } from '../projection/file-queries.ts'
import type { MainTables, Projection, ProjectionHeads } from '../projection/projection.ts'
import { mainRef, queueRef } from '../refs/kb-refs.ts'
import { KbFollower } from './kb-follower.ts'

/** Git directory of a repository or, in a cluster, of this machine's copy, and the folder of its indexes. */
export type KbFiles = { gitDir: string; indexDir: string; parser: ParserPool }

/** Tables and blobs from which settings are read: those of the write in progress, or of a view. */
type SettingsView = Staging | { sql: MainTables; readText(oid: Oid): Promise<string> }

/** Repository of a knowledge base, and the projection that follows its commits. */
export class FollowedKb {
  readonly identity: KbIdentity
  readonly repository: Repository
  readonly projection: Projection
  readonly parser: ParserPool
  protected readonly follower: KbFollower
  #heads: (ProjectionHeads & { revision: number }) | undefined
  #settings: { revision: number; blob: Oid | undefined; value: KbSettings } | undefined

  constructor(identity: KbIdentity, { gitDir, indexDir, parser }: KbFiles) {
    this.identity = identity
    this.repository = new Repository(gitDir)
    this.projection = openProjection(indexDir)
    this.parser = parser
    this.follower = new KbFollower(this.repository, this.projection, parser)
  }

  /** Returns the commits that the projection reflects. */
  heads(): ProjectionHeads {
    const revision = this.projection.revision()
    if (this.#heads?.revision !== revision) this.#heads = { revision, ...this.projection.heads(this.projection.read) }
    return this.#heads
  }

  /** Returns the settings of `kb.yaml`: the present ones on main, or those of a view. */
  async settings(view?: SettingsView): Promise<KbSettings> {
    if (view !== undefined) {
      const blob = blobAtPath('sql' in view ? view.sql : this.projection.write, 'kb.yaml')
      if (this.#settings?.blob === blob && this.#settings) return this.#settings.value
      return parseKbFile(blob === undefined ? '' : await view.readText(blob)).settings
    }
    const revision = this.projection.revision()
    if (this.#settings?.revision === revision) return this.#settings.value
    const blob = blobAtPath(this.projection.read, 'kb.yaml')
    let known = this.#settings
    if (known === undefined || known.blob !== blob) {
      const text = blob === undefined ? '' : await this.repository.readText(blob)
      known = { revision, blob, value: parseKbFile(text).settings }
    }
    this.#settings = { ...known, revision }
    return known.value
  }

  /** Updates the projection to commits, present or former ones. Must not run concurrently with writes. */
  async followTo({ main, queue }: ProjectionHeads): Promise<void> {
    const heads: Heads = new Map([
      [mainRef, main],
      [queueRef, queue],
    ])
    await this.alone(async () => {
      await this.follower.follow(heads)
      this.setHeads(heads)
    })
  }

  /** Runs one transaction of the projection, while nothing is written or followed. */
  protected async alone(work: () => Promise<void>): Promise<void> {
    await this.projection.begin()
    try {
      await work()
      this.projection.commit()
    } catch (error) {
      this.projection.rollback()
      throw error
    }
  }

  /** Records the commits that the projection reflects. Must run in its transaction. */
  protected setHeads(heads: Heads): void {
    this.projection.setHead('main', heads.get(mainRef))
    this.projection.setHead('queue', heads.get(queueRef))
  }

  async close(): Promise<void> {
    this.projection.close()
    this.repository.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
