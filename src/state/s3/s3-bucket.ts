import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import type { ReceivedFile, ReceivedRange } from '../../system/received-file.ts'
import { reasonOf } from '../database/database-errors.ts'

export type S3Options = {
  /** URL such as `https://s3.eu-central-1.amazonaws.com`, without a trailing slash. */
  endpoint: string
  region: string
  bucket: string
  /** Prefix of all keys; empty, or with a trailing slash. */
  prefix: string
  /** Encryption of stored objects; undefined: the bucket's default. */
  encryption?: 'AES256' | 'aws:kms' | undefined
  /** Id of the key for `aws:kms`; undefined: the account's default key. */
  kmsKey?: string | undefined
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

/** Thrown if the bucket cannot be reached, or its response is an error or unexpected. */
export class S3Error extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(`The bucket ${problem}.`, options)
  }
}

export type S3Object = { key: string; storedAt: Date }

type Asked = {
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer | string
  /** Bytes of the request and the response together. */
  bytes?: number
}

/** Milliseconds for a request, in addition to the time for its bytes at a slow rate. A writer waits for it. */
const defaultPatience = 20_000
const bytesPerMillisecond = 500
const attempts = 4
/** Average milliseconds before the second attempt. */
const firstPause = 50
/** Bytes of a part, which is in memory while it is sent. A larger file is sent in parts, of which S3 accepts 10,000 of at least 5 MB. */
const defaultPartBytes = 16 * 1024 ** 2
/** Maximum milliseconds by which clocks may differ. S3 rejects requests that were signed a quarter of an hour ago or earlier. */
const clockTolerance = 5 * 60_000

/** Objects below a prefix in a bucket of an S3-compatible store. Keys are relative to the prefix. */
export class S3Bucket {
  readonly #client: AwsClient
  readonly #bucket: string
  readonly #prefix: string
  readonly #encryption: Record<string, string>
  readonly #patience: number
  readonly #partBytes: number
  /** Milliseconds by which the store's clock is ahead of the local one. */
  #ahead = 0

  /** Opens a bucket. @param limits.patience milliseconds for a request, in addition to the time for its bytes */
  constructor(
    { endpoint, bucket, prefix, encryption, kmsKey, sessionToken, ...access }: S3Options,
    limits: { patience?: number; partBytes?: number } = {},
  ) {
    this.#client = new AwsClient({ ...access, ...(sessionToken && { sessionToken }), service: 's3' })
    this.#bucket = `${endpoint}/${bucket}`
    this.#prefix = prefix
    this.#encryption = {
      ...(encryption && { 'x-amz-server-side-encryption': encryption }),
      ...(kmsKey && { 'x-amz-server-side-encryption-aws-kms-key-id': kmsKey }),
    }
    this.#patience = limits.patience ?? defaultPatience
    this.#partBytes = limits.partBytes ?? defaultPartBytes
  }

  /** Stores a file, a large one in parts. The store checks the bytes against their hash. @throws {S3Error} */
  async put(key: string, { path, sha256, size }: ReceivedFile): Promise<void> {
    await using file = await open(path)
    if (size > this.#partBytes) return await this.#putInParts(key, file, size)
    await this.#putWhole(key, await readRange(file, { first: 0, last: size - 1 }), sha256)
  }

  /** Stores bytes that fit into memory. @throws {S3Error} */
  putBytes(key: string, body: Buffer): Promise<void> {
    return this.#putWhole(key, body, sha256Of(body))
  }

  /** Returns an object's bytes; undefined if there is none. @param bytes maximum number, for the timeout @throws {S3Error} also later */
  async get(key: string, bytes: number, range?: ReceivedRange): Promise<Readable | undefined> {
    const headers = range && { range: `bytes=${range.first}-${range.last}` }
    const answer = await this.#ask('GET', key, { ...(headers && { headers }), bytes })
    if (answer.status === 404) {
      await discard(answer)
      return undefined
    }
    return Readable.from(answer.body === null ? [] : bytesOf(answer.body), { objectMode: false })
  }

  /** True if there is an object. @throws {S3Error} */
  async has(key: string): Promise<boolean> {
    return (await this.#ask('HEAD', key)).status !== 404
  }

  /** Deletes an object. Has no effect if there is none. @throws {S3Error} */
  async delete(key: string): Promise<void> {
    await discard(await this.#ask('DELETE', key))
  }

  /** Yields all objects. @throws {S3Error} */
  async *list(): AsyncGenerator<S3Object> {
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
        const storedAt = new Date(/<LastModified>([^<]*)<\/LastModified>/.exec(object)?.[1] ?? '')
        if (page.includes('<IsTruncated>true</IsTruncated>')) after = key
        yield { key: key.slice(this.#prefix.length), storedAt }
      }
    }
  }

  async #putWhole(key: string, body: Buffer, sha256: string): Promise<void> {
    const headers = { ...this.#encryption, 'x-amz-content-sha256': sha256 }
    await discard(await this.#ask('PUT', key, { headers, body, bytes: body.length }))
  }

  /** Stores a file in parts. It becomes visible with the last part. On failure the upload is aborted, so that its parts are not kept. */
  async #putInParts(key: string, file: FileHandle, size: number): Promise<void> {
    const started = await this.#ask('POST', key, { query: { uploads: '' }, headers: this.#encryption })
    const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(await started.text())?.[1]
    if (uploadId === undefined) throw new S3Error('began an upload without an id')
    try {
      const parts: string[] = []
      for (let first = 0; first < size; first += this.#partBytes) {
        const partNumber = String(parts.length + 1)
        const range = { first, last: Math.min(first + this.#partBytes, size) - 1 }
        const etag = await this.#putPart(key, { partNumber, uploadId }, await readRange(file, range))
        parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${etag}</ETag></Part>`)
      }
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const answer = await (await this.#ask('POST', key, { query: { uploadId }, body, bytes: size })).text()
      // S3 may report an error in a response that has begun with success.
      if (answer.includes('<Error>')) throw new S3Error('could not join the parts of an upload')
    } catch (error) {
      await this.#ask('DELETE', key, { query: { uploadId } }).then(discard, () => {})
      throw error
    }
  }

  async #putPart(key: string, query: Record<string, string>, body: Buffer): Promise<string> {
    const headers = { 'x-amz-content-sha256': sha256Of(body) }
    const answer = await this.#ask('PUT', key, { query, headers, body, bytes: body.length })
    await discard(answer)
    return answer.headers.get('etag') ?? ''
  }

  /** Sends a request with retries. @throws {S3Error} for any response but success and 404, and for a 404 that is not about an object */
  async #ask(
    method: string,
    key: string,
    { query = {}, headers = {}, body, bytes = 0 }: Asked = {},
  ): Promise<Response> {
    const url = new URL(key === '' ? `${this.#bucket}/` : `${this.#bucket}/${this.#prefix}${key}`)
    url.search = new URLSearchParams(query).toString()
    const ending = new AbortController()
    const end = () => ending.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    const endAfter = (milliseconds: number) => setTimeout(end, milliseconds).unref()
    const transfer = Math.ceil(bytes / bytesPerMillisecond)
    // A response begins soon, however long its bytes take.
    const beginning = endAfter(this.#patience + (body === undefined ? 0 : transfer))
    const answer = await this.#send(url, { method, headers, ...(body && { body }) }, ending.signal)
      .catch((cause) => {
        throw new S3Error(`cannot be reached: ${reasonOf(cause)}`, { cause })
      })
      .finally(() => clearTimeout(beginning))
    endAfter(this.#patience + transfer)
    const isNoObject =
      answer.status === 404 && (method === 'GET' || method === 'HEAD' || method === 'DELETE') && key !== ''
    if (answer.ok || isNoObject) return answer
    const code = /<Code>([\w.]{1,100})<\/Code>/.exec(await answer.text())?.[1] ?? 'no code'
    throw new S3Error(`answered ${method} with ${answer.status} (${code})`)
  }

  /** Sends a request. If the local clock is wrong, sends it again with the store's time. */
  async #send(url: URL, request: RequestInit, signal: AbortSignal): Promise<Response> {
    const before = this.#ahead
    const answer = await this.#try(url, request, signal)
    const ahead = Date.parse(answer.headers.get('date') ?? '') - Date.now()
    // Another request may have corrected the clock meanwhile.
    if (answer.status !== 403 || !(Math.abs(ahead - before) > clockTolerance)) return answer
    await discard(answer)
    this.#ahead = ahead
    return this.#try(url, request, signal)
  }

  /** Sends a request, and retries with exponential backoff if the store fails or limits the rate. */
  async #try(url: URL, request: RequestInit, signal: AbortSignal): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const datetime = new Date(Date.now() + this.#ahead).toISOString().replace(/[-:]|\.\d+/g, '')
      const signed = await this.#client.sign(url, { ...request, aws: { datetime } })
      // The signal would have no effect as an option of `Request` once the request is garbage-collected.
      const answer = await fetch(signed, { signal })
      if ((answer.status < 500 && answer.status !== 429) || attempt === attempts) return answer
      await discard(answer)
      await delay(Math.random() * firstPause * 2 ** attempt)
    }
  }
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function readRange(file: FileHandle, { first, last }: ReceivedRange): Promise<Buffer> {
  const bytes = Buffer.alloc(last - first + 1)
  for (let read = 0; read < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, first + read)
    if (bytesRead === 0) throw new Error('The file is shorter than it was.')
    read += bytesRead
  }
  return bytes
}

async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw new S3Error('broke off in the middle of an object', { cause })
  }
}

/** Discards a body, so that its connection can be reused. */
async function discard(answer: Response): Promise<void> {
  await answer.body?.cancel()
}
