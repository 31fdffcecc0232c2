import ipaddr from 'ipaddr.js'

/**
 * Returns the network whose requests are counted together: an IPv4 address, also where it is mapped into IPv6, or the /64 of an IPv6
 * address, all of which one client has. Every limit by address counts by it. What is no address counts as it is.
 */
export function clientNetwork(address: string): string {
  const [plain = ''] = address.split('%', 1)
  if (!ipaddr.isValid(plain)) return address
  const parsed = ipaddr.process(plain)
  return parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()
}
