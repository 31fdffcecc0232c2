import ipaddr from 'ipaddr.js'

/**
 * Returns the network whose requests are counted together: an IPv4 address (mapped into IPv6 or not), or the /64 of an IPv6 address, since
 * one client usually has a whole /64. Every limit by address uses it. Text that is not an address is returned unchanged.
 */
export function clientNetwork(address: string): string {
  const [plain = ''] = address.split('%', 1)
  if (!ipaddr.isValid(plain)) return address
  const parsed = ipaddr.process(plain)
  return parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()
}
