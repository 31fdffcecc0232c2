import { randomUUID } from 'node:crypto'
import { createWriteStream, openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AwsClient } from 'aws4fetch'
import { maxChunkedBytes } from '../../contract/documents.ts'
import { BlobNotFound, type BlobStore, type ByteRange, type ReceivedFile, type StoredBlob } from './blob-store.ts'

export type S3Options = {
  /** Such as `https://s3.eu-central-1.amazonaws.com`, without a slash at the end. */
  endpoint: string
  region: string
  bucket: string
  /** What the names of its objects begin with; empty, or with a slash at the end. */
  prefix: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

/** The bucket is out of reach, refused, or answered what it should not. */
export class S3Error extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(`The bucket ${problem}.`, options)
    this.name = 'S3Error'
  }
}

type Asked = { query?: Record<string, string>; headers?: Record<string, string>; body?: Blob; bytes?: number }

/** Milliseconds for a request, beside the time for its bytes at a slow pace. */
const patience = 60_000
const bytesPerMillisecond = 500
const retries = 3

/** Blobs in a bucket of an S3-compatible store, addressed by path, as `<prefix>ab/cd/<sha256>`. */
export class S3Blobs implements BlobStore {
  readonly #client: AwsClient
  readonly #bucket: string
  readonly #prefix: string
  readonly #scratch: string

  /** @param scratch folder for copies that are read as files. */
  constructor({ endpoint, bucket, prefix, sessionToken, ...access }: S3Options, scratch: string) {
    this.#client = new AwsClient({ ...access, ...(sessionToken && { sessionToken }), service: 's3', retries })
    this.#bucket = `${endpoint}/${bucket}`
    this.#prefix = prefix
    this.#scratch = scratch
  }

  /** In one request, which S3 takes up to 5 GB. The store itself checks the bytes against their hash. */
  async put({ path, sha256, size }: ReceivedFile): Promise<void> {
    const headers = { 'x-amz-content-sha256': sha256 }
    const answer = await this.#ask('PUT', this.#key(sha256), { headers, body: await openAsBlob(path), bytes: size })
    await discard(answer)
  }

  async get(sha256: string, range?: ByteRange): Promise<Readable> {
    const headers = range && { range: `bytes=${range.first}-${range.last}` }
    const answer = await this.#ask('GET', this.#key(sha256), { ...(headers && { headers }), bytes: maxChunkedBytes })
    if (answer.status === 404) {
      await discard(answer)
      throw new BlobNotFound(sha256)
    }
    return answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body)
  }

  async has(sha256: string): Promise<boolean> {
    const { status } = await this.#ask('HEAD', this.#key(sha256))
    return status !== 404
  }

  async delete(sha256: string): Promise<void> {
    await discard(await this.#ask('DELETE', this.#key(sha256)))
  }

  async *list(): AsyncGenerator<StoredBlob> {
    let after: string | undefined = ''
    while (after !== undefined) {
      const query: Record<string, string> = {
        'list-type': '2',
        prefix: this.#prefix,
        ...(after && { 'start-after': after }),
      }
      const page = await (await this.#ask('GET', '', { query })).text()
      after = undefined
      for (const [, object = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = /<Key>([^<]*)<\/Key>/.exec(object)?.[1] ?? ''
        const sha256 = key.slice(-64)
        const storedAt = new Date(/<LastModified>([^<]*)<\/LastModified>/.exec(object)?.[1] ?? '')
        if (page.includes('<IsTruncated>true</IsTruncated>')) after = key
        if (key === this.#key(sha256)) yield { sha256, storedAt }
      }
    }
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

  /** @throws {S3Error} for any answer but success and 404, and for a 404 that is not of a blob. */
  async #ask(
    method: string,
    key: string,
    { query = {}, headers = {}, body, bytes = 0 }: Asked = {},
  ): Promise<Response> {
    const url = new URL(`${this.#bucket}/${key}`)
    url.search = new URLSearchParams(query).toString()
    const signal = AbortSignal.timeout(patience + Math.ceil(bytes / bytesPerMillisecond))
    const request = { method, headers, ...(body && { body }), signal }
    const answer = await this.#client.fetch(url, request).catch((cause) => {
      throw new S3Error('cannot be reached', { cause })
    })
    const isNoBlob =
      answer.status === 404 && (method === 'GET' || method === 'HEAD' || method === 'DELETE') && key !== ''
    if (answer.ok || isNoBlob) return answer
    const code = /<Code>([\w.]{1,100})<\/Code>/.exec(await answer.text())?.[1] ?? 'no code'
    throw new S3Error(`answered ${method} with ${answer.status} (${code})`)
  }

  #key(sha256: string): string {
    return `${this.#prefix}${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
  }
}

/** Lets the connection be used again. */
async function discard(answer: Response): Promise<void> {
  await answer.body?.cancel()
}
