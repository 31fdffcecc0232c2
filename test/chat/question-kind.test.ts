import { describe, expect, test } from 'vitest'
import { focusOf, kindOf } from '../../src/chat/extract/question-kind.ts'

describe('the kind of a question', () => {
  test.each([
    ['Who signs the contracts?', 'who'],
    ['Which company prints the badges?', 'who'],
    ['When does the canteen open?', 'when'],
    ['Since which version is the old door gone?', 'when'],
    ['How long are tapes kept?', 'duration'],
    ['How many days is a tape kept?', 'duration'],
    ['How many lifts are there?', 'quantity'],
    ['What is the maximum weight of a parcel?', 'quantity'],
    ['Is the canteen open on Sundays?', 'yes or no'],
    ['Can I bring a dog?', 'yes or no'],
    ['How do I open the gate?', 'way'],
    ['How to open the gate?', 'way'],
    ['How does the gate open?', 'other'],
    ['What is the default gate?', 'other'],
    ['The gate is stuck, what can I do?', 'way'],
    ['What is the command to open the gate?', 'way'],
    ['What is a badge?', 'definition'],
    ["What's the badge of a guest?", 'other'],
    ['What does the porter do?', 'definition'],
    ['Where is the gate?', 'place'],
    ['In which folder are the plans?', 'place'],
    ['Why is the gate closed?', 'reason'],
    ['Which gate is for lorries?', 'choice'],
    ['What happens to a lost badge?', 'other'],
    ['the badge of a guest', 'other'],
  ])('%s: %s', (question, kind) => {
    expect(kindOf(question)).toBe(kind)
  })

  test('is that of its first interrogative', () => {
    expect(kindOf('I lost my badge. Whom do I tell, and when?')).toBe('who')
  })
})

test.each([
  ['How many spare lift keys are there?', 'spare lift keys'],
  ['Which gate is for lorries?', 'gate'],
  ['Which gate opens at night?', 'gate'],
  ['Which is the gate for lorries?', ''],
  ['Where is the gate?', ''],
])('%s wants a thing: %s', (question, focus) => {
  expect(focusOf(question)).toBe(focus)
})
