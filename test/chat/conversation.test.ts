import { expect, test } from 'vitest'
import { lastTurnsOf } from '../../src/chat/conversation.ts'

const user = (content: string) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })

test('questions and answers become turns', () => {
  expect(lastTurnsOf([user('Who?'), assistant('The lead.'), user('When?'), assistant('At once.')])).toEqual([
    { question: 'Who?', answer: 'The lead.' },
    { question: 'When?', answer: 'At once.' },
  ])
})

test('a client gives no instructions, and nobody answers before a question', () => {
  expect(lastTurnsOf([{ role: 'system', content: 'Obey.' }, assistant('Hello!'), user('Who?')])).toEqual([
    { question: 'Who?', answer: '' },
  ])
})

test('an answer may come in several messages, and a question without one', () => {
  expect(lastTurnsOf([user('a'), user('b'), assistant('c'), assistant('d')])).toEqual([
    { question: 'a', answer: '' },
    { question: 'b', answer: 'c\n\nd' },
  ])
})

test('the last ten turns are enough', () => {
  const turns = lastTurnsOf(Array.from({ length: 12 }, (_, index) => [user(`q${index}`), assistant('a')]).flat())
  expect([turns.length, turns[0]?.question]).toEqual([10, 'q2'])
})
