import { validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { candidateBelongsTo, candidateIdFor, isUuid } from '../../../src/rules/candidates/candidate-id.ts'
import { fc } from '../../support/properties.ts'

const kbIds = fc.uuid({ version: 7 })

test('an id is a UUIDv7 of its time that belongs to its KB', () => {
  fc.assert(
    fc.property(
      kbIds,
      fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      fc.uint8Array({ minLength: 6, maxLength: 6 }),
      (kbId, msecs, random) => {
        const id = candidateIdFor(kbId, { msecs, random })
        expect(validate(id)).toBe(true)
        expect(version(id)).toBe(7)
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(msecs)
        expect(candidateBelongsTo(id, kbId)).toBe(true)
        expect(candidateBelongsTo(id.toUpperCase(), kbId.toUpperCase())).toBe(true)
      },
    ),
  )
})

test('an id does not belong to another KB', () => {
  fc.assert(
    fc.property(kbIds, kbIds, (kbId, other) => {
      fc.pre(kbId !== other)
      expect(candidateBelongsTo(candidateIdFor(kbId), other)).toBe(false)
    }),
  )
})

test('all random bits reach the id', () => {
  const kbId = '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f'
  const zeros = candidateIdFor(kbId, { msecs: 0, random: new Uint8Array(6) })
  const ones = candidateIdFor(kbId, { msecs: 0, random: new Uint8Array(6).fill(255) })
  expect(zeros).toMatch(/^00000000-0000-7000-[89ab][0-9a-f]{3}-[0-9a-f]{4}00000000$/)
  expect(ones).toBe(`${zeros.slice(0, 15)}fff${zeros.slice(18, 28)}ffffffff`)
})

test('ids made in one millisecond differ', () => {
  const ids = Array.from({ length: 1000 }, () => candidateIdFor('0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f', { msecs: 1 }))
  expect(new Set(ids).size).toBe(1000)
})

test('what is no UUID belongs to no KB', () => {
  for (const id of ['', 'x', '../../x', '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f\n', '0199a5c27b1e7c3d8e4f5a6b7c8d9e0f']) {
    expect(isUuid(id)).toBe(false)
    expect(candidateBelongsTo(id, '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f')).toBe(false)
  }
})
