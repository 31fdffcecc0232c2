import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { S3Options } from '../../src/state/s3/s3-bucket.ts'
import { listening } from '../support/listening.ts'

export type S3Server = {
  options: S3Options
  /** Objects by key, with the time at which they were stored. */
  objects: Map<string, { bytes: Buffer; storedAt: Date }>
  /** Encryption headers, by key. */
  encryption: Map<string, string[]>
  /** Parts of uploads that are not finished, by the upload's id. */
  uploads: Map<string, Buffer[]>
  /** Statuses that the next requests are answered with, whatever they ask; 0: the request is served. */
  failures: number[]
  /** Whether every request is answered with 403: a status that is not asked for again. */
  outage: { isOn: boolean }
  /** Milliseconds by which its clock is ahead. */
  clock: { ahead: number }
}

const accessKeyId = 'AKIDEXAMPLE'
const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG'
const region = 'eu-test-1'
/** Milliseconds for which a request can be used. */
const signatureLifetime = 15 * 60_000
/** Keys of a listing's page: few, so that every listing has several. */
const pageSize = 2

/** The part of S3 that the product uses. It refuses requests that are not signed by AWS Signature Version 4. */
export async function s3Server(): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map()
  const encryption: S3Server['encryption'] = new Map()
  const uploads: S3Server['uploads'] = new Map()
  const failures: number[] = []
  const outage = { isOn: false }
  const clock = { ahead: 0 }
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const url = new URL(request.url ?? '', 'http://s3')
    const key = decodeURIComponent(url.pathname.replace(/^\/bucket\//, ''))
    const answer = (status: number, text: string | Buffer = '', headers = {}) =>
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : text)
    if (outage.isOn) return answer(403, '<Error><Code>AccessDenied</Code></Error>')
    const failure = failures.shift()
    if (failure) return answer(failure, '<Error><Code>InternalError</Code></Error>')
    if (request.headers.authorization !== authorizationFor(request, url)) {
      return answer(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    }
    const signedAt = String(request.headers['x-amz-date']).replace(/(....)(..)(..)T(..)(..)/, '$1-$2-$3T$4:$5:')
    if (Math.abs(Date.parse(signedAt) - Date.now() - clock.ahead) > signatureLifetime) {
      const date = new Date(Date.now() + clock.ahead).toUTCString()
      return answer(403, '<Error><Code>RequestTimeTooSkewed</Code></Error>', { date })
    }
    const object = objects.get(key)
    const parts = uploads.get(url.searchParams.get('uploadId') ?? '')
    const encryptionHeaders = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-server-side'))
    if (url.searchParams.has('uploads') || (request.method === 'PUT' && parts === undefined)) {
      encryption.set(
        key,
        encryptionHeaders.map(([name, value]) => `${name}: ${value}`),
      )
    }
    if (url.searchParams.has('uploads')) {
      const id = `upload ${uploads.size + 1}`
      uploads.set(id, [])
      return answer(200, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    if (request.method === 'POST' && parts !== undefined) {
      const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"<\/ETag>/g)]
      const isWhole = named.every(([, number, etag]) => etag === etagOf(parts[Number(number) - 1]))
      if (!isWhole || named.length !== parts.length) return answer(400, '<Error><Code>InvalidPart</Code></Error>')
      objects.set(key, { bytes: Buffer.concat(parts), storedAt: new Date() })
      uploads.delete(url.searchParams.get('uploadId') ?? '')
      return answer(200, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
    }
    if (request.method === 'DELETE' && parts !== undefined) {
      uploads.delete(url.searchParams.get('uploadId') ?? '')
      return answer(204)
    }
    if (request.method === 'PUT') {
      const hash = createHash('sha256').update(body).digest('hex')
      if (request.headers['content-length'] === undefined)
        return answer(411, '<Error><Code>MissingContentLength</Code></Error>')
      if (hash !== request.headers['x-amz-content-sha256'])
        return answer(400, '<Error><Code>XAmzContentSHA256Mismatch</Code></Error>')
      if (parts !== undefined) {
        parts[Number(url.searchParams.get('partNumber')) - 1] = body
        return answer(200, '', { etag: `"${etagOf(body)}"` })
      }
      objects.set(key, { bytes: body, storedAt: new Date() })
      return answer(200)
    }
    if (request.method === 'DELETE') {
      objects.delete(key)
      return answer(204)
    }
    if (url.searchParams.get('list-type') === '2') return answer(200, listing(objects, url.searchParams))
    if (object === undefined) return answer(404, '<Error><Code>NoSuchKey</Code></Error>')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (last === undefined) return answer(200, object.bytes, { 'content-length': object.bytes.length })
    return answer(206, object.bytes.subarray(Number(first), Number(last) + 1))
  })
  const endpoint = await listening(server)
  return {
    options: { endpoint, region, bucket: 'bucket', prefix: 'some where/', accessKeyId, secretAccessKey },
    ...{ objects, encryption, uploads, failures, outage, clock },
  }
}

function etagOf(bytes: Buffer | undefined): string {
  return createHash('md5')
    .update(bytes ?? '')
    .digest('hex')
}

function listing(objects: S3Server['objects'], query: URLSearchParams): string {
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > (query.get('start-after') ?? ''))
    .sort()
  const entries = keys.slice(0, pageSize).map((key) => {
    const storedAt = objects.get(key)?.storedAt.toISOString()
    return `<Contents><Key>${key}</Key><LastModified>${storedAt}</LastModified><Size>1</Size></Contents>`
  })
  return `<ListBucketResult><IsTruncated>${keys.length > pageSize}</IsTruncated>${entries.join('\n')}</ListBucketResult>`
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function authorizationFor({ method, headers }: IncomingMessage, url: URL): string {
  const signedHeaders = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? ''
  const date = String(headers['x-amz-date'])
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`
  const encode = (text: string) =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const path = decodeURIComponent(url.pathname).split('/').map(encode).join('/')
  const named = signedHeaders.split(';').map((name) => `${name}:${String(headers[name])}\n`)
  const canonical = [
    method,
    path,
    query.join('&'),
    named.join(''),
    signedHeaders,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const hashed = createHash('sha256').update(canonical).digest('hex')
  const sign = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = [date.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(sign, `AWS4${secretAccessKey}`)
  const signature = sign(key, ['AWS4-HMAC-SHA256', date, scope, hashed].join('\n')).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
}
