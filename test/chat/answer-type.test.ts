import { describe, expect, test } from 'vitest'
import { counts, showsType } from '../../src/chat/extract/answer-type.ts'

describe('what a kind of question wants', () => {
  test.each([
    ['who', 'Contracts are signed by Ada Byron.', 'Contracts are signed in blue ink.'],
    ['when', 'The gate opened on 4 May 2019.', 'The gate opened with a bang.'],
    ['duration', 'Tapes are kept for 30 days.', 'Tapes are kept in the cellar of building 4.'],
    ['quantity', 'The house has three lifts.', 'The house has lifts like SEV1.'],
    ['way', 'Press the bell and wait.', 'The bell rang.'],
    ['place', 'Keys are in the safe.', 'Keys open doors.'],
    ['reason', 'The gate is closed because of the storm.', 'The gate closed.'],
  ] as const)('%s: "%s", and not "%s"', (kind, answers, doesNot) => {
    expect(showsType(kind, answers, '')).toBe(true)
    expect(showsType(kind, doesNot, '')).toBe(false)
  })

  test('what the question says itself is no answer', () => {
    expect(showsType('when', 'Gate 2.0 was released with a bang.', 'When was gate 2.0 released?')).toBe(false)
    expect(showsType('who', 'It stands at the Grand Gate.', 'Who built the Grand Gate?')).toBe(false)
    expect(showsType('quantity', 'Lift 4 is the biggest.', 'How much does lift 4 carry?')).toBe(false)
  })

  test('a point in time that is asked for is no condition', () => {
    const said = 'It is paged when the gate breaks.'
    expect(showsType('when', said, 'When is the porter paged?')).toBe(true)
    expect(showsType('when', said, 'When was the porter paged?')).toBe(false)
  })

  test('a version is a point in time only where one is asked for', () => {
    expect(showsType('when', 'It is included since 7.2.', 'When was the company founded?')).toBe(false)
    expect(showsType('when', 'It is included since 7.2.', 'Since which version is it included?')).toBe(true)
    expect(showsType('when', 'It is included since 7.2.', 'When was it added?')).toBe(true)
  })

  test('a day is a point in time also where a version may be meant, but none where one is asked for', () => {
    const said = 'The rotation changes on Mondays.'
    expect(showsType('when', said, 'When does the rotation change?')).toBe(true)
    expect(showsType('when', 'It was changed on 4 May 2019.', 'When was the rotation changed?')).toBe(true)
    expect(showsType('when', said, 'In which version does the rotation change?')).toBe(false)
    expect(showsType('when', 'The office is closed on holidays.', 'When is the office closed?')).toBe(true)
  })

  test.each([
    ['way', 'The console allows you to paint the gate.', ''],
    ['when', 'It is painted twice, in summer.', 'When is the gate painted?'],
    ['when', 'There are three triggers that open the gate:', 'When does the gate open?'],
    ['when', 'The gate opened on the 4th May.', 'When did the gate open?'],
  ] as const)('%s, too: %s', (kind, said, asked) => {
    expect(showsType(kind, said, asked)).toBe(true)
  })

  test.each([
    ['How long is the gate open?', 'The gate opens and shuts.'],
    ['How long is the gate open?', 'The gate rings for every guest.'],
    ['How many hours is the gate open?', 'The gate is painted daily.'],
  ])('%s is not answered by: %s', (asked, said) => {
    expect(showsType('duration', said, asked)).toBe(false)
  })

  test('how often is answered by a frequency', () => {
    expect(showsType('duration', 'The gate is painted daily.', 'How often is the gate painted?')).toBe(true)
  })

  test('a number of a version is no year', () => {
    expect(showsType('when', 'Take 13.2024.0429 or later.', 'On which day was it released?')).toBe(false)
  })

  test('a known name is no answer, with a word before it or not', () => {
    const known = 'Who built the house?\nGatekeeper'
    expect(showsType('who', 'Since Gatekeeper came, the house is shut.', known)).toBe(false)
    expect(showsType('who', 'It was, says Gatekeeper, built by Ada.', known)).toBe(true)
  })

  test('the number of a ticket counts nothing', () => {
    expect(showsType('quantity', 'Ticket #4421 adds users.', 'How many users are there?')).toBe(false)
  })

  test('a name in code is no instruction, and a command is', () => {
    const asked = 'What do I do when the gate breaks?'
    expect(showsType('way', 'The `gate` is blue.', asked)).toBe(false)
    expect(showsType('way', 'The gate heeds `gate --open`.', asked)).toBe(true)
    expect(showsType('way', 'When the gate breaks, page the porter.', asked)).toBe(true)
  })

  test('how much is more than a number', () => {
    expect(showsType('quantity', 'Lift 4 is out of order.', 'How much does it cost?')).toBe(false)
    expect(showsType('quantity', 'A ride is 4 euros.', 'How much does it cost?')).toBe(true)
  })
})

describe('a number of what was asked for', () => {
  test.each([
    ['keys', 'The porter has 7 keys.'],
    ['keys', 'The porter has two very old brass keys.'],
    ['keys', 'Keys: 7'],
    ['keys', 'Everybody gets only one key.'],
    ['logins', 'After 6 failed login attempts the gate is locked.'],
    ['categories', 'There are five categories.'],
    ['RAM', 'At least 8GB of RAM are needed.'],
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
