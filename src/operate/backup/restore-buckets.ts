import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { S3Bucket, type S3Options } from '../../state/s3/s3-bucket.ts'
import { BackupError } from './backup-manifest.ts'

/**
 * The prefixes of buckets that a restore puts objects below. An object with the name of the restore's mark says whose they are, so that
 * a restore that was cut off can be repeated. Nothing is ever removed: what a restore leaves that was not repeated is an orphan.
 */
export class RestoreBuckets {
  readonly #buckets: { name: string; bucket: S3Bucket }[]

  constructor(options: readonly S3Options[]) {
    this.#buckets = options.map((one) => ({ name: `s3://${one.bucket}/${one.prefix}`, bucket: new S3Bucket(one) }))
  }

  /** @param mark of the restore that was cut off @throws {BackupError} if there are objects of anybody else */
  async requireVacant(mark: string | undefined): Promise<void> {
    for (const { name, bucket } of this.#buckets) {
      if (mark !== undefined && (await bucket.has(keyOf(mark)))) continue
      for await (const _ of bucket.list()) {
        throw new BackupError(`${name} is not empty: restore into another prefix, which nobody uses.`)
      }
    }
  }

  /** @param file where the mark is */
  async begin(mark: string, file: string): Promise<void> {
    await writeFile(file, mark)
    const sha256 = createHash('sha256').update(mark).digest('hex')
    for (const { bucket } of this.#buckets) {
      await bucket.put(keyOf(mark), { path: file, sha256, size: Buffer.byteLength(mark) })
    }
  }

  async end(mark: string): Promise<void> {
    for (const { bucket } of this.#buckets) await bucket.delete(keyOf(mark))
  }
}

function keyOf(mark: string): string {
  return `restoring-${mark}`
}
