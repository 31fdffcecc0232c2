import { describe, expect, test } from 'vitest'
import { counts } from '../../src/chat/extract/counting.ts'

describe('a number of what was asked for', () => {
  test.each([
    ['keys', 'The porter has 7 keys.'],
    ['keys', 'The porter has two very old brass keys.'],
    ['keys', 'Keys: 7'],
    ['keys', 'Everybody gets only one key.'],
    ['keys', 'The number of keys is in the ledger.'],
    ['keys', 'Default: `7`.'],
    ['logins', 'After 6 failed login attempts the gate is locked.'],
    ['categories', 'There are five categories.'],
    ['kinds of lifts', 'The house has three lifts.'],
    ['kinds of lifts', 'There are three kinds: slow, fast and broken.'],
    ['RAM', 'At least 8GB of RAM are needed.'],
    ['RAM', 'At least 8GB is recommended.'],
    ['traffic', 'The canary gets 5 % of the traffic.'],
    ['', 'It costs 4 euros.'],
  ])('of %s: %s', (thing, text) => {
    expect(counts(thing, text)).toBe(true)
  })

  test.each([
    ['keys', `There are 7 doors in each of the towers of the house and a porter with keys.`],
    ['keys', 'The key fits 7 doors.'],
    ['keys', 'This is the 10th key.'],
    ['users', 'A failed login locks the user. 0 means never.'],
    ['employees', 'We share 10% of the profits with employees.'],
    ['employees', 'Shares are given after two years.'],
    ['employees', 'Profits were shared in March 2026.'],
    ['visitors', 'The gate opens at 7:00.'],
  ])('not of %s: %s', (thing, text) => {
    expect(counts(thing, text)).toBe(false)
  })

  test.each(['-', '*', ' ', '1 ', '1,', '1-', 'x-', '1 key '])('is found or not at once in many of %j', (part) => {
    expect(counts('doors', `7 ${part.repeat(2000)} doors.`)).toBeTypeOf('boolean')
  })
})
