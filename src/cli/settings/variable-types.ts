import { isIP } from 'node:net'
import { z } from 'zod'
import { PersonRole } from '../../contract/vocabulary.ts'
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

/** Schema of comma-separated `<group>=<role>`. The group `*` contains everyone. */
export const GroupRoles = z.string().transform((text, context) => {
  const roles = new Map<string, PersonRole>()
  for (const pair of text.split(',')) {
    const at = pair.lastIndexOf('=')
    const role = PersonRole.safeParse(pair.slice(at + 1).trim())
    const group = pair.slice(0, Math.max(at, 0)).trim()
    if (!role.success || group === '') {
      context.addIssue('must be like ganglion-admins=admin,staff=curator,*=reader')
      return z.NEVER
    }
    roles.set(group, role.data)
  }
  return roles
})

/** True if a request to the URL is encrypted or does not leave the machine. */
export function isPrivateOrEncrypted(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
}

const networkNames: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** Schema of comma-separated addresses, networks such as `10.0.0.0/8`, and names of networks. */
export const ProxyList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => parts.every((part) => networkNames.has(part) || isNetwork(part)), {
    error: 'must be addresses or networks, or loopback, linklocal, uniquelocal, separated by commas',
  })

/** True for a network that does not contain all addresses: then any client could claim another's address. */
function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const version = isIP(address)
  if (version === 0 || bits === undefined) return version !== 0
  return /^[1-9][0-9]{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}
