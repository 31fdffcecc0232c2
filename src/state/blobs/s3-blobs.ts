import { randomBytes, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Transaction } from 'kysely'
import { maxChunkedBytes } from '../../contract/documents.ts'
import type { ReceivedFile, ReceivedRange } from '../../system/received-file.ts'
import type { Schema } from '../database/schema.ts'
import { findRow, Store } from '../database/store.ts'
import { startClock } from '../directory/start-clock.ts'
import { S3Bucket, type S3Options } from '../s3/s3-bucket.ts'
import { sweepUnnamed } from '../s3/sweep-unnamed.ts'
import { BlobNotFound, type BlobStore, keptUnnamed, type NoteBlob } from './blob-store.ts'

/** Milliseconds after which a new reference to a stored blob is refused, because the sweep may be removing it. */
const nameWithin = 6 * 60 * 60_000
const blobKey = /^[0-9a-f]{2}\/[0-9a-f]{2}\/(?<sha256>[0-9a-f]{64})(?:-(?<random>[0-9a-f]{8}))?$/

/**
 * Blobs in a bucket of an S3-compatible store, as `<prefix>ab/cd/<sha256>-<random>`. No key is used twice, so a sweep removes nothing
 * to which another process is about to refer. Blobs from before these keys are found as `<prefix>ab/cd/<sha256>`.
 */
export class S3Blobs implements BlobStore {
  readonly #options: S3Options
  readonly #bucket: S3Bucket
  readonly #keys: BlobKeys
  readonly #scratch: string

  /** Opens the blobs of a bucket. @param scratch folder for copies that are read as files */
  constructor(options: S3Options, keys: BlobKeys, scratch: string) {
    this.#options = options
    this.#bucket = new S3Bucket(options)
    this.#keys = keys
    this.#scratch = scratch
  }

  async keep<Result>(file: ReceivedFile, name: (note: NoteBlob) => Promise<Result>): Promise<Result> {
    const { sha256 } = file
    const sinceBegun = startClock()
    const key = `${plainKeyOf(sha256)}-${randomBytes(4).toString('hex')}`
    await this.#bucket.put(key, file)
    return name(async (transaction) => {
      await this.#keys.note(transaction, sha256, key)
      if (sinceBegun() > nameWithin) throw new Error('A blob was put too long ago to be named.')
    })
  }

  async get(sha256: string, range?: ReceivedRange): Promise<Readable> {
    const bytes = await this.#first(sha256, (key) => this.#bucket.get(key, maxChunkedBytes, range))
    if (bytes === undefined) throw new BlobNotFound(sha256)
    return bytes
  }

  async has(sha256: string): Promise<boolean> {
    return (await this.#first(sha256, async (key) => (await this.#bucket.has(key)) || undefined)) ?? false
  }

  async withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result> {
    const path = join(this.#scratch, randomUUID())
    try {
      await pipeline(await this.get(sha256), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
      return await work(path)
    } finally {
      await rm(path, { force: true })
    }
  }

  async remove(sha256: string): Promise<void> {
    const key = plainKeyOf(sha256)
    const copies = new S3Bucket({ ...this.#options, prefix: `${this.#options.prefix}${key}` })
    for await (const { key: ending } of copies.list()) await this.#bucket.delete(`${key}${ending}`)
  }

  sweep(isNamed: (sha256: string) => Promise<boolean>, now: Date): Promise<number> {
    const before = new Date(now.getTime() - keptUnnamed)
    return sweepUnnamed(this.#bucket, before, async (keys) => {
      const named = await this.#keys.noted(keys)
      for (const key of keys) {
        const { sha256, random } = blobKey.exec(key)?.groups ?? {}
        // Objects with other keys below the prefix are not ours to remove.
        if (sha256 === undefined || (random === undefined && (await isNamed(sha256)))) named.add(key)
      }
      return named
    })
  }

  /** Looks up the recorded place of a blob, then the key of blobs stored before places were recorded. */
  async #first<Found>(sha256: string, look: (key: string) => Promise<Found | undefined>): Promise<Found | undefined> {
    const key = await this.#keys.find(sha256)
    return (key && (await look(key))) || look(plainKeyOf(sha256))
  }
}

function plainKeyOf(sha256: string): string {
  return `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
}

/** Keys of referenced blobs in a bucket. */
export class BlobKeys extends Store {
  async find(sha256: string): Promise<string | undefined> {
    return (await findRow(this.db, 'blob_keys', { sha256 }))?.key
  }

  /** Records the key of a blob. If the same bytes have several keys, the first stays, since backups of the database contain it, too. */
  async note(transaction: Transaction<Schema>, sha256: string, key: string): Promise<void> {
    await transaction
      .insertInto('blob_keys')
      .values({ sha256, key })
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .execute()
  }

  /** Returns those keys that are recorded. */
  async noted(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.selectFrom('blob_keys').select('key').where('key', 'in', keys).execute()
    return new Set(rows.map(({ key }) => key))
  }
}
