import { z } from 'zod'
import type { S3Options } from '../../store/blobs/s3-blobs.ts'

type Bucket = Pick<S3Options, 'endpoint' | 'region' | 'bucket' | 'prefix'>

const error = 'must be like s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.org'
const defaultRegion = 'us-east-1'

/** Where a bucket is, by its URL: `s3://bucket/prefix`, with `endpoint` and `region` in its query. */
export const BucketUrl = z.string().transform((text, context): Bucket => {
  const bucket = readBucket(text)
  if (bucket !== undefined) return bucket
  context.addIssue(error)
  return z.NEVER
})

function readBucket(text: string): Bucket | undefined {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:' || url.hash !== '' || url.username !== '' || url.password !== '' || url.port !== '')
    return
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname)) return
  const { endpoint: given, region = defaultRegion, ...unknown } = Object.fromEntries(url.searchParams)
  const endpoint = URL.parse(given ?? `https://s3.${region}.amazonaws.com`)
  const path = url.pathname.replace(/^\/+|\/+$/g, '')
  if (Object.keys(unknown).length > 0 || !/^[a-z0-9-]{1,50}$/.test(region)) return
  if (endpoint === null || !/^https?:$/.test(endpoint.protocol) || endpoint.search !== '' || endpoint.username !== '')
    return
  if (!/^[A-Za-z0-9!_.*'()/-]{0,500}$/.test(path)) return
  const prefix = path === '' ? '' : `${path}/`
  return { endpoint: endpoint.href.replace(/\/+$/, ''), region, bucket: url.hostname, prefix }
}
