import { describe, expect, test } from 'vitest'
import { askedBy } from '../../src/chat/extract/asked.ts'
import { quotableUnits } from '../../src/chat/extract/units.ts'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { passage } from './support/passages.ts'

const analyser = analyserFor('en')

function asked(message: string, ...contents: string[]) {
  const passages = contents.map((content, index) => passage({ seqId: `kb_0000000${index + 1}`, content }))
  return askedBy([message], quotableUnits(passages, analyser, 'en'), analyser, { language: 'en', synonyms: [] })
}

describe('what a question asks', () => {
  test.each([
    ['iOS', 'Does it run on iOS?'],
    ['Java', 'Does it run on Java?'],
    ['7', 'Does it run on gate 7?'],
  ])('%s is a name', (_, message) => {
    expect(asked(message).words.filter(({ isName }) => isName)).toHaveLength(1)
  })
})
