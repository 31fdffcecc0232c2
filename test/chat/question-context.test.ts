import { describe, expect, test } from 'vitest'
import { introductionQuery, searchQuestion } from '../../src/chat/conversation.ts'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { passage } from './support/passages.ts'

const turns = (...questions: string[]) =>
  questions.map((question) => ({ question, answer: 'An answer. [kb_00000001]' }))
const search = (message: string, ...earlier: string[]) => searchQuestion(message, turns(...earlier), analyserFor('en'))

test.each([
  'and at weekends?',
  'What about weekends?',
  'Who approves it?',
  'How long do they take?',
  'Why?',
  'Does that cost anything?',
])('%s takes the question before it along', (message) => {
  expect(search(message, 'Who raised this?', 'When does support answer email?')).toBe(
    `${message}\nWhen does support answer email?`,
  )
})

test.each([
  'How do I rotate the signing key?',
  'Who approves large refunds?',
  'When is the status page updated and who is it that writes there during a long incident?',
])('%s stands for itself', (message) => {
  expect(search(message, 'When does support answer email?')).toBe(message)
})

test('a question without a conversation stays as it is', () => {
  expect(search('Who approves it?')).toBe('Who approves it?')
})

test('a chain of such questions leads back to the one that says what it is about, over three at most', () => {
  expect(search('Why?', 'How are refunds handled by support?', 'Who approves them?')).toBe(
    'Why?\nWho approves them?\nHow are refunds handled by support?',
  )
  expect(search('Why?', 'How are refunds handled?', 'Why?', 'Why?', 'Why?')).toBe('Why?\nWhy?\nWhy?\nWhy?')
})

test('the text is bounded', () => {
  expect(search('Why?', '😀'.repeat(8000))).toHaveLength(8000)
  expect(search('Why?', '😀'.repeat(8000)).isWellFormed()).toBe(true)
})

describe('a question about what everything is about', () => {
  const found = (rarity: Record<string, number>) => [
    passage({ seqId: 'kb_00000001', content: 'Gate 7 is shut.', rarity }),
  ]

  test('looks for the introduction', () => {
    expect(introductionQuery('What is Gatekeeper?', found({ gatekeep: 0.1 }), 'en')).toBe(
      'What is Gatekeeper? introduction overview',
    )
  })

  test.each([
    ['a rare word', 'What is a portcullis?', { portculli: 0.8 }, 'en'],
    ['a rare word among others', 'What is gate Alpha?', { gate: 0.1, alpha: 0.5 }, 'en'],
    ['another kind', 'Where is Gatekeeper?', { gatekeep: 0.1 }, 'en'],
    ['another language', 'What is Gatekeeper?', { gatekeep: 0.1 }, 'de'],
    ['words that are not known', 'What is it?', {}, 'en'],
  ])('a question with %s does not', (_, message, rarity, language) => {
    expect(introductionQuery(message, found(rarity), language)).toBeUndefined()
  })

  test('does not where nothing was found', () => {
    expect(introductionQuery('What is Gatekeeper?', [], 'en')).toBeUndefined()
  })
})
