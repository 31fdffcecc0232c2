import { expect, test } from 'vitest'
import { tagKey } from '../../../src/rules/neurons/tag.ts'

test('spellings of a tag meet under one key', () => {
  expect(new Set(['Crème/Brûlée', '#creme/brulee', ' CREME/BRULEE '].map(tagKey))).toEqual(new Set(['creme/brulee']))
  expect(tagKey('on-call')).not.toBe(tagKey('on call'))
})
