import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** Requests to a bucket by method, and bytes put. */
export type BucketFigures = { puts: number; gets: number; bytesPut: number }

/**
 * A bucket in memory that answers as late as one of another building: enough of S3 for packs. It checks no signatures.
 * @param latencyMs of each request
 */
export async function startBucket(latencyMs: number) {
  const objects = new Map<string, Buffer>()
  const parts = new Map<string, Buffer[]>()
  const figures: BucketFigures = { puts: 0, gets: 0, bytesPut: 0 }
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { pathname: key, searchParams } = new URL(request.url ?? '', 'http://s3')
    const uploadId = searchParams.get('uploadId')
    await delay(latencyMs)
    if (request.method === 'PUT') {
      figures.puts++
      figures.bytesPut += body.length
      if (uploadId === null) objects.set(key, body)
      else parts.get(uploadId)?.push(body) // in their order, as they come
      return response.end()
    }
    if (request.method === 'POST' && uploadId === null) {
      parts.set(key, [])
      return response.end(`<UploadId>${key}</UploadId>`)
    }
    if (request.method === 'POST') {
      objects.set(key, Buffer.concat(parts.get(uploadId ?? '') ?? []))
      return response.end()
    }
    if (request.method === 'DELETE') {
      objects.delete(key)
      return response.writeHead(204).end()
    }
    if (searchParams.has('list-type')) return response.end('<ListBucketResult></ListBucketResult>')
    figures.gets++
    const object = objects.get(key)
    return object === undefined ? response.writeHead(404).end() : response.end(object)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const access = { accessKeyId: 'bench', secretAccessKey: 'bench', region: 'bench' }
  return {
    figures,
    options: { ...access, endpoint: `http://127.0.0.1:${address.port}`, bucket: 'bench', prefix: '' },
    close: () => server.close(),
  }
}
