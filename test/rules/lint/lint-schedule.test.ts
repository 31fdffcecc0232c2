import { expect, test } from 'vitest'
import { isDue, isSchedule } from '../../../src/rules/lint/lint-schedule.ts'

test.each(['0 4 * * *', '* * * * *', '*/15 9-17 * * MON-FRI', '0 0 31 2 *'])('%s is a schedule', (text) => {
  expect(isSchedule(text)).toBe(true)
})

test.each([
  '',
  'x',
  '60 * * * *',
  '0 0 4 * * *',
  '0 4 * *',
  '@daily',
  '2030-01-01T00:00:00',
  '0 4\n* * *',
  `${'0,'.repeat(60)}0 4 * * *`,
])('%j is none', (text) => {
  expect(isSchedule(text)).toBe(false)
})

test('it is due once its time has come, in UTC, and once for each time', () => {
  const at = (time: string) => new Date(`2026-05-01T${time}Z`)
  expect(isDue('0 4 * * *', at('03:58:30'), at('03:59:30'))).toBe(false)
  expect(isDue('0 4 * * *', at('03:59:30'), at('04:00:30'))).toBe(true)
  expect(isDue('0 4 * * *', at('04:00:00'), at('04:01:00'))).toBe(false)
  expect(isDue('0 4 * * *', at('03:59:00'), at('04:00:00'))).toBe(true)
  expect(isDue('0 4 * * *', at('03:00:00'), at('23:00:00'))).toBe(true)
  expect(isDue('0 4 * * *', at('23:00:00'), at('03:00:00'))).toBe(false)
})

test('what never comes is never due', () => {
  expect(isDue('0 0 31 2 *', new Date('2026-01-01T00:00:00Z'), new Date('2036-01-01T00:00:00Z'))).toBe(false)
})
