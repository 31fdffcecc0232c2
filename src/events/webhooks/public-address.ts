import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = { address: string; family: number }
export type Resolve = (hostname: string) => Promise<Address[]>

/** The receiver of a webhook is, or is named by, an address that is not of the public internet. */
export class PrivateAddress extends Error {
  constructor(hostname: string) {
    super(`${hostname} has no public address.`)
  }
}

/** Resolves as everything else on the machine does, `/etc/hosts` included. */
export const resolveHost: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true })

/** The only IPv6 addresses that IANA gives out for the public internet (RFC 4291, section 2.4); all others are reserved. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Whether packets to an address leave for the public internet. Not public are loopback, private, link-local, shared, multicast,
 * benchmarking and reserved addresses, and IPv6 addresses that a gateway turns into an IPv4 address (IPv4-compatible, NAT64,
 * 6to4, Teredo). An IPv4-mapped address counts as the IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  const hostname = isIP(address) === 6 ? withoutDots(address) : address
  if (!ipaddr.isValid(hostname)) return false
  const parsed = ipaddr.process(hostname)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast))
}

/** Writes an address in groups of hexadecimal digits: `ipaddr.js` takes `::1.2.3.4` for `::ffff:1.2.3.4`. Empty if it has a zone. */
function withoutDots(address: string): string {
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? ''
}

/**
 * A look-up for `net.connect`, which connects to what it answers and asks nobody else: a name cannot mean one address when it
 * is checked and another when it is connected to. A hostname that is an address itself is never looked up: see {@link requirePublic}.
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

/** @throws {PrivateAddress} where a URL's host is an address, and not a public one. */
export function requirePublic({ hostname }: URL): void {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddress(address)
}
