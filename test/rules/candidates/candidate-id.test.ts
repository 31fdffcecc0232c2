import { validate, version } from 'uuid'
import { expect, test } from 'vitest'
import {
  candidateBelongsTo,
  candidateIdFor,
  candidateTime,
  isUuid,
} from '../../../src/rules/candidates/candidate-id.ts'
import { fc } from '../../support/properties.ts'

const kbIds = fc.uuid({ version: 7 })

test('an id is a UUIDv7 of its time that belongs to its KB', () => {
  fc.assert(
    fc.property(kbIds, fc.integer({ min: 0, max: 2 ** 48 - 1 }), (kbId, msecs) => {
      const id = candidateIdFor(kbId, { msecs })
      expect(validate(id)).toBe(true)
      expect(version(id)).toBe(7)
      expect(candidateTime(id)).toBe(msecs)
      expect(candidateBelongsTo(id, kbId)).toBe(true)
      expect(candidateBelongsTo(id.toUpperCase(), kbId.toUpperCase())).toBe(true)
    }),
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

test('ids of one millisecond differ and are in their order', () => {
  for (let msecs = 1; msecs <= 20; msecs++) {
    const ids = Array.from({ length: 2_000 }, () => candidateIdFor('0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f', { msecs }))
    expect(ids).toEqual([...new Set(ids)].sort())
  }
})

test('what is no UUID belongs to no KB', () => {
  for (const id of ['', 'x', '../../x', '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f\n', '0199a5c27b1e7c3d8e4f5a6b7c8d9e0f']) {
    expect(isUuid(id)).toBe(false)
    expect(candidateBelongsTo(id, '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f')).toBe(false)
  }
})
