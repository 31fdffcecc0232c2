import { expect, test } from 'vitest'
import { authorOfCommit, committerOfCommit } from '../../../src/git/objects/object.ts'

function commitOf(person: string): Buffer {
  return Buffer.from(`tree ${'1'.repeat(40)}\nauthor ${person}\ncommitter ${person}\n\nauthor Message <m@x> 5 +0000\n`)
}

test.each([
  ['Ada Lovelace <ada@example.com> 1700000000 +0100', 'Ada Lovelace', 'ada@example.com', '2023-11-14T22:13:20.000Z'],
  ['<ada@example.com> 1700000000 +0000', '', 'ada@example.com', '2023-11-14T22:13:20.000Z'],
  [' <> 0 +0000', '', '', '1970-01-01T00:00:00.000Z'],
  ['A <a@x> 253402300799 +0000', 'A', 'a@x', '9999-12-31T23:59:59.000Z'],
  // Git takes these dates.
  ['A <a@x> 253402300800 +0000', 'A', 'a@x', '1970-01-01T00:00:00.000Z'],
  ['A <a@x> 99999999999999999 +0000', 'A', 'a@x', '1970-01-01T00:00:00.000Z'],
  ['no address', 'unknown', '', '1970-01-01T00:00:00.000Z'],
])('who made a commit, and when: %s', (person, name, email, at) => {
  for (const read of [authorOfCommit, committerOfCommit]) {
    const signature = read(commitOf(person))
    expect({ ...signature, at: signature.at.toISOString() }).toEqual({ name, email, at })
  }
})

test('a hostile line of a commit takes linear time', () => {
  for (const person of ['a <'.repeat(100_000), ' <>'.repeat(100_000), `${' '.repeat(300_000)}x`])
    expect(authorOfCommit(commitOf(person)).at.getTime()).toBe(0)
})
