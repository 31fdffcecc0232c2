import { isIP } from 'node:net'
import { z } from 'zod'

const names: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** Comma-separated addresses, networks such as `10.0.0.0/8`, and names of networks. */
export const ProxyList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => parts.every((part) => names.has(part) || isNetwork(part)), {
    error: 'must be addresses or networks, or loopback, linklocal, uniquelocal, separated by commas',
  })

/** True for a network that does not contain all addresses: then any client could claim another's address. */
function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const version = isIP(address)
  if (version === 0 || bits === undefined) return version !== 0
  return /^[1-9][0-9]{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}
