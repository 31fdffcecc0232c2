import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { judge, judgeUnanswerable } from '../../bench/answers/judge.ts'
import { type QuestionSet, questionSets, setFor } from '../../bench/answers/question-set.ts'
import { tempDir } from '../support/temp.ts'

const asked = { says: ['/etc/gate.conf', ['30 days', 'a month']], pages: ['Set up/Gate & door.md'] }
const paths = ['neurons/set-up/gate-door.md']

describe('the judge', () => {
  test.each([
    ['right', 'See **`/etc/gate.conf`**, kept for\n30  Days.', paths],
    ['right', 'See [[x|/etc/gate.conf]], kept a month. [kb_00000001]', paths],
    ['in part', 'See /etc/gate.conf.', paths],
    ['in part', 'See /etc/gate.conf, kept a month.', ['neurons/other.md']],
    ['wrong but cited', 'The gate is green.', paths],
    ['wrongly refused', 'See /etc/gate.conf, kept a month.', []],
  ])('%s', (verdict, text, cited) => {
    expect(judge(asked, { text, paths: cited })).toBe(verdict)
  })

  test('takes any citation for an answer to what is not answerable', () => {
    expect(judgeUnanswerable({ text: 'No.', paths: [] })).toBe('rightly refused')
    expect(judgeUnanswerable({ text: 'No.', paths })).toBe('made up')
  })
})

describe('the question sets', () => {
  const sets = questionSets()

  test('hold 90 answerable and 45 unanswerable questions for testing, and others to tune on, none twice', () => {
    const count = (use: QuestionSet['use'], which: 'answerable' | 'unanswerable') =>
      sets.filter((set) => set.use === use).flatMap((set) => set[which].map(({ ask }) => ask)).length
    expect([count('test', 'answerable'), count('test', 'unanswerable')]).toEqual([90, 45])
    expect([count('development', 'answerable'), count('development', 'unanswerable')]).toEqual([303, 138])
    for (const set of sets) {
      const all = [...set.answerable, ...set.unanswerable].map(({ ask }) => ask)
      expect(new Set(all).size).toBe(all.length)
    }
  })

  test('are found by the pages of a folder, or of a checkout of the repository', () => {
    const dir = tempDir()
    const [set] = sets
    if (set === undefined) throw new Error('There is no set.')
    for (const page of set.answerable.flatMap(({ pages }) => pages)) {
      const file = join(dir, set.folder, page)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, 'Text.\n')
    }
    const folder = join(dir, set.folder)
    expect(setFor(dir, sets)).toEqual({ set, folder })
    expect(setFor(folder, sets)).toEqual({ set, folder })
    expect(() => setFor(tempDir(), sets)).toThrow('has not the pages')
  })
})
