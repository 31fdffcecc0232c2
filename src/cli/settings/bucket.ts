import { z } from 'zod'
import type { S3Options } from '../../state/s3/s3-bucket.ts'

type Bucket = Omit<S3Options, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'>

const error = 'must be like s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.org'
const defaultRegion = 'us-east-1'

/**
 * URL of a bucket: `s3://bucket/prefix`, with `endpoint` and `region` in the query, and `encryption` (`AES256`, `aws:kms`) and `kms-key`
 * for the encryption of stored objects.
 */
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
  const query = Object.fromEntries(url.searchParams)
  const { endpoint: given, region = defaultRegion, encryption, 'kms-key': kmsKey, ...unknown } = query
  const endpoint = URL.parse(given ?? `https://s3.${region}.amazonaws.com`)
  const path = url.pathname.replace(/^\/+|\/+$/g, '')
  if (Object.keys(unknown).length > 0 || !/^[a-z0-9-]{1,50}$/.test(region)) return
  if (endpoint === null || !/^https?:$/.test(endpoint.protocol) || endpoint.search !== '' || endpoint.username !== '')
    return
  if (!/^[A-Za-z0-9!_.*'()/-]{0,500}$/.test(path)) return
  if (encryption !== undefined && encryption !== 'AES256' && encryption !== 'aws:kms') return
  if (kmsKey !== undefined && (encryption !== 'aws:kms' || !/^[\w:/-]{1,2048}$/.test(kmsKey))) return
  const prefix = path === '' ? '' : `${path}/`
  return {
    ...{ endpoint: endpoint.href.replace(/\/+$/, ''), region, bucket: url.hostname, prefix },
    ...(encryption && { encryption }),
    ...(kmsKey && { kmsKey }),
  }
}
