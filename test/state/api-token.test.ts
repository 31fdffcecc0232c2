import { expect, test } from 'vitest'
import { createToken, hashToken, isToken } from '../../src/state/accounts/secret.ts'
import { anyCharacter, fc } from '../support/properties.ts'

const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']

test('every token has the shape and passes its own check', () => {
  const tokens = Array.from({ length: 1_000 }, createToken)
  for (const token of tokens) {
    expect(token).toMatch(/^gng_[0-9A-Za-z]{36}$/)
    expect(isToken(token)).toBe(true)
  }
  expect(new Set(tokens).size).toBe(tokens.length)
})

test('the checksum is the CRC32 of the random characters, in six base62 digits', () => {
  // CRC32 of 30 zeros, by Python's zlib, is 0x77e5db82 = 2·62⁵ + 12·62⁴ + 8·62³ + 16·62² + 45·62 + 28.
  expect(isToken(`gng_${'0'.repeat(30)}2C8GjS`)).toBe(true)
})

test('a token with any one character changed is refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 39 }), fc.constantFrom(...alphabet), (index, character) => {
      const token = createToken()
      fc.pre(token[index] !== character)
      expect(isToken(token.slice(0, index) + character + token.slice(index + 1))).toBe(false)
    }),
  )
})

test('a token with two neighbours swapped is refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 38 }), (index) => {
      const token = createToken()
      const [a, b] = [token.charAt(index), token.charAt(index + 1)]
      fc.pre(a !== b)
      expect(isToken(token.slice(0, index) + b + a + token.slice(index + 2))).toBe(false)
    }),
  )
})

test('what is not a token is refused', () => {
  const token = createToken()
  for (const text of [
    '',
    'gng_',
    ` ${token}`,
    `${token}\n`,
    `${token}a`,
    token.slice(0, -1),
    token.replace('gng', 'ghp'),
  ]) {
    expect(isToken(text)).toBe(false)
  }
  fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => isToken(text) === false))
})

test('the hash is SHA-256', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
