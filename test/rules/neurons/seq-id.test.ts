import { describe, expect, test } from 'vitest'
import { SeqId } from '../../../src/contract/vocabulary.ts'
import { derivePrefix, formatSeqId, parseSeqId, SeqPrefix, Slug } from '../../../src/rules/neurons/seq-id.ts'
import { fc } from '../../support/properties.ts'

const prefixes = fc.stringMatching(/^[a-z0-9-]{1,32}$/)

describe('seqId', () => {
  test('is a prefix and eight digits', () => {
    expect(formatSeqId('handbook', 42)).toBe('handbook_00000042')
    expect(parseSeqId('my-kb_00000042')).toEqual({ prefix: 'my-kb', number: 42 })
  })

  test('formatting and parsing undo each other, in the shape of the contract', () => {
    fc.assert(
      fc.property(prefixes, fc.integer({ min: 1, max: 99_999_999 }), (prefix, number) => {
        const seqId = formatSeqId(prefix, number)
        expect(SeqId.safeParse(seqId).success).toBe(true)
        expect(parseSeqId(seqId)).toEqual({ prefix, number })
      }),
    )
  })

  test.each([
    'handbook_42',
    'handbook_000000042',
    'Handbook_00000042',
    '_00000042',
    'a_b_00000042',
    'a_00000042\n',
    'a_٠٠٠٠٠٠٤٢',
  ])('%j is none', (text) => {
    expect(parseSeqId(text)).toBeUndefined()
  })

  test.each([0, -1, 1.5, 100_000_000, Number.NaN])('there is no number %d', (number) => {
    expect(() => formatSeqId('handbook', number)).toThrow(RangeError)
  })
})

test.each(['a', '7', 'handbook', 'my-kb-2', 'x'.repeat(100)])('%s is a slug', (slug) => {
  expect(Slug.safeParse(slug).success).toBe(true)
})

test.each([
  '',
  'A',
  '-a',
  'a-',
  'é',
  'e\u0301',
  'a/b',
  'a%2Fb',
  'a\0b',
  '..',
  'a b',
  'a\n',
  'x'.repeat(101),
  '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
  '00000000-0000-0000-0000-000000000000',
  'con',
  'nul',
  'com1',
])('%j is no slug', (slug) => {
  expect(Slug.safeParse(slug).success).toBe(false)
})

test('a prefix is 1 to 32 characters', () => {
  expect(SeqPrefix.safeParse('x'.repeat(32)).success).toBe(true)
  for (const prefix of ['', 'x'.repeat(33), 'A', 'a_b', 'é']) expect(SeqPrefix.safeParse(prefix).success).toBe(false)
})

test('every slug has a prefix', () => {
  expect(derivePrefix('handbook')).toBe('handbook')
  expect(derivePrefix(`${'x'.repeat(31)}-long`)).toBe('x'.repeat(31))
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/), (slug) => {
      expect(SeqPrefix.safeParse(derivePrefix(slug)).success).toBe(true)
    }),
  )
})
