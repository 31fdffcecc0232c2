import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = { address: string; family: number }
export type Resolve = (hostname: string) => Promise<Address[]>

/** Thrown if a webhook's host is, or resolves to, an address outside of the public internet. */
export class PrivateAddress extends Error {
  constructor(hostname: string) {
    super(`${hostname} has no public address.`)
  }
}

/** Resolves a name as all other programs on the machine do, including `/etc/hosts`. */
export const resolveHost: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true })

/** Range of IPv6 addresses that IANA allocates for the public internet (RFC 4291, section 2.4). All others are reserved. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * True if an address is on the public internet. Not public are loopback, private, link-local, shared, multicast, benchmarking
 * and reserved addresses, and IPv6 addresses that a gateway translates to IPv4 (IPv4-compatible, NAT64, 6to4, Teredo). An
 * IPv4-mapped address counts as the IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  const hostname = isIP(address) === 6 ? withoutDots(address) : address
  if (!ipaddr.isValid(hostname)) return false
  const parsed = ipaddr.process(hostname)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast))
}

/** Returns an address in groups of hexadecimal digits: `ipaddr.js` takes `::1.2.3.4` for `::ffff:1.2.3.4`. Empty if it has a zone. */
function withoutDots(address: string): string {
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? ''
}

/**
 * Returns a look-up for `net.connect` that rejects addresses which are not public. Since `net.connect` uses its result, a name cannot resolve to
 * one address in the check and to another in the connection. A hostname that is an address is never looked up: see {@link requirePublic}.
 */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first, ...rest] = addresses.filter(({ address }) => isPublicAddress(address))
        if (first === undefined) callback(new PrivateAddress(hostname), [])
        else if (options.all) callback(null, [first, ...rest])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
}

/** Rejects a URL whose host is an address that is not public. @throws {PrivateAddress} */
export function requirePublic({ hostname }: URL): void {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddress(address)
}
