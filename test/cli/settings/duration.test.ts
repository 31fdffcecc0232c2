import { expect, test } from 'vitest'
import { Duration } from '../../../src/cli/commands/key.ts'
import { fc } from '../../support/properties.ts'

test.each([
  ['45s', 45_000],
  ['30m', 1_800_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['2w', 1_209_600_000],
  ['36500d', 3_153_600_000_000],
])('%s is %i milliseconds', (text, milliseconds) => {
  expect(Duration.parse(text)).toBe(milliseconds)
})

test.each(['', '90', 'd', '0d', '-1d', '1.5h', '1e3s', '90D', ' 90d', '90d ', '1d2h', '36501d', '99999999999s'])(
  '%j is not a duration',
  (text) => {
    expect(Duration.safeParse(text).success).toBe(false)
  },
)

test('any text either parses to a time in range or is refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9]{1,11}[smhdwy]$/)), (text) => {
      const { data } = Duration.safeParse(text)
      expect(data === undefined || (data >= 1_000 && data <= 100 * 365 * 86_400_000)).toBe(true)
    }),
  )
})
