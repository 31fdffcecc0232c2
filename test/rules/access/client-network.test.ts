import { expect, test } from 'vitest'
import { clientNetwork } from '../../../src/rules/access/client-network.ts'
import { fc, runs } from '../../support/properties.ts'

test('addresses of one IPv6 /64 are one network, those of two are two, and each IPv4 address is one', () => {
  const Group = fc.integer({ min: 0, max: 0xffff })
  const Half = fc.array(Group, { minLength: 4, maxLength: 4 })
  const text = (...groups: number[]) => groups.map((group) => group.toString(16)).join(':')
  const holds = fc.property(Half, Half, Half, Half, (network, other, one, two) => {
    fc.pre(network.join() !== other.join() && [network, other].every((groups) => groups[0] !== 0))
    expect(clientNetwork(text(...network, ...one))).toBe(clientNetwork(text(...network, ...two)))
    expect(clientNetwork(text(...network, ...one))).not.toBe(clientNetwork(text(...other, ...one)))
  })
  fc.assert(holds, { numRuns: runs(200) })
  expect(clientNetwork('::ffff:192.0.2.1')).toBe(clientNetwork('192.0.2.1'))
  expect(clientNetwork('192.0.2.1')).not.toBe(clientNetwork('192.0.2.2'))
  expect(clientNetwork('2001:db8::1%eth0')).toBe(clientNetwork('2001:db8::2'))
  expect(clientNetwork('no address')).toBe('no address')
})
