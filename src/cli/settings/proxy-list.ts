import { isIP } from 'node:net'
import { z } from 'zod'

const names: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** Addresses, networks such as `10.0.0.0/8`, and the names of such, separated by commas. */
export const ProxyList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => parts.every((part) => names.has(part) || isNetwork(part)), {
    error: 'must be addresses or networks, or loopback, linklocal, uniquelocal, separated by commas',
  })

/** Not of all addresses: whoever came could then say that they are another. */
function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const version = isIP(address)
  if (version === 0 || bits === undefined) return version !== 0
  return /^[1-9][0-9]{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}
