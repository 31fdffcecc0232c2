import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = { address: string; family: number }
export type Resolve = (hostname: string) => Promise<Address[]>

/** The receiver of a webhook is, or is named by, an address that is not of the public internet. */
export class PrivateAddress extends Error {
  constructor(hostname: string) {
    super(`${hostname} has no public address.`)
    this.name = 'PrivateAddress'
  }
}

/** Resolves as everything else on the machine does, `/etc/hosts` included. */
export const resolveHost: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true })

/** Whether packets to an address leave for the public internet: neither loopback, private, link-local, shared, multicast nor reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  return ipaddr.process(address).range() === 'unicast' // an IPv4 address within IPv6 counts as itself
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
