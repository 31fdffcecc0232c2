import { describe, expect, test } from 'vitest'
import { askedBy } from '../../src/chat/extract/asked.ts'
import { answerUnits } from '../../src/chat/extract/units.ts'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { passage } from './support/passages.ts'

const analyser = analyserFor('en')

function asked(message: string, ...contents: string[]) {
  const passages = contents.map((content, index) => passage({ seqId: `kb_0000000${index + 1}`, content }))
  return askedBy([message], answerUnits(passages, analyser, 'en'), analyser, { language: 'en' })
}

describe('what a question asks', () => {
  test.each([
    ['iOS', 'Does it run on iOS?'],
    ['Java', 'Does it run on Java?'],
    ['7', 'Does it run on gate 7?'],
  ])('%s is a name', (_, message) => {
    expect(asked(message).words.filter(({ isName }) => isName)).toHaveLength(1)
  })

  test('the names that all pages have are known', () => {
    const pages = ['With Gatekeeper you open gates.', 'Then Gatekeeper shuts.', 'For Gatekeeper, ask Ada.', 'It rains.']
    expect(asked('Who wrote it?', ...pages).known).toBe('Who wrote it?\nGatekeeper')
    expect(asked('Who wrote it?', ...pages.slice(0, 2)).known).toBe('Who wrote it?')
  })
})
