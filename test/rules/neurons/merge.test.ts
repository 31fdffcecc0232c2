import { describe, expect, test } from 'vitest'
import { checkConflictMarkers } from '../../../src/rules/check/conflict-markers.ts'
import { conflictMarks, mergeMarked, mergeText } from '../../../src/rules/neurons/merge.ts'
import { fc } from '../../support/properties.ts'

const base = 'one\ntwo\nthree\nfour\nfive\n'

describe('mergeText', () => {
  test('joins changes of different lines', () => {
    const current = base.replace('one', 'ONE')
    const proposed = base.replace('five', 'FIVE')
    expect(mergeText(base, current, proposed)).toEqual({ text: 'ONE\ntwo\nthree\nfour\nFIVE\n' })
  })

  test('the same change on both sides is one change', () => {
    const current = base.replace('two', 'TWO').replace('five', 'FIVE')
    const proposed = base.replace('two', 'TWO').replace('four\n', '')
    expect(mergeText(base, base.replace('two', 'TWO'), proposed)).toEqual({ text: proposed })
    expect(mergeText(base, current, current)).toEqual({ text: current })
  })

  test('joins an addition at the end with a change at the start', () => {
    expect(mergeText(base, `${base}six\n`, `zero\n${base}`)).toEqual({ text: `zero\n${base}six\n` })
  })

  test('different changes of one line conflict, named by the line of the current text', () => {
    const current = `zero\n${base.replace('three', 'drei')}`
    expect(mergeText(base, current, base.replace('three', 'trois'))).toEqual({
      conflicts: [{ line: 4, base: 'three\n', current: 'drei\n', proposed: 'trois\n' }],
    })
  })

  test('every conflict is told', () => {
    const current = base.replace('one', '1').replace('five', '5')
    const proposed = base.replace('one', 'I').replace('five', 'V')
    expect(mergeText(base, current, proposed)).toEqual({
      conflicts: [
        { line: 1, base: 'one\n', current: '1\n', proposed: 'I\n' },
        { line: 5, base: 'five\n', current: '5\n', proposed: 'V\n' },
      ],
    })
  })

  test('a change of what the other side deleted conflicts', () => {
    expect(mergeText(base, base.replace('three\n', ''), base.replace('three', 'THREE'))).toEqual({
      conflicts: [{ line: 3, base: 'three\n', current: '', proposed: 'THREE\n' }],
    })
  })

  test('line endings and a missing last newline stay', () => {
    expect(mergeText('a\r\nb\r\nc', 'A\r\nb\r\nc', 'a\r\nb\r\nC')).toEqual({ text: 'A\r\nb\r\nC' })
    expect(mergeText('a\nb\nc', 'A\r\nb\r\nc', 'a\nb\nC')).toEqual({ text: 'A\r\nb\r\nC' })
    expect(mergeText('a\r\nb', 'a\nb', 'a\r\nB')).toEqual({ text: 'a\nB' })
    expect(mergeText('a\nb', 'A\nb', 'a\r\nb')).toEqual({ text: 'A\nb' })
  })

  test('lines named like an object property are lines', () => {
    expect(
      mergeText('__proto__\nx\nconstructor', 'a\n__proto__\nx\nconstructor', '__proto__\nx\nconstructor\nb'),
    ).toEqual({
      text: 'a\n__proto__\nx\nconstructor\nb',
    })
  })

  test('a paragraph that moved on one side merges with a change elsewhere', () => {
    const text = ['first', 'a', 'b', 'c', 'd', 'e', 'last'].join('\n')
    const moved = ['a', 'b', 'c', 'd', 'first', 'e', 'last'].join('\n')
    expect(mergeText(text, moved, text.replace('last', 'end'))).toEqual({ text: moved.replace('last', 'end') })
  })

  test('a long page with many blank lines merges', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => (n % 2 === 0 ? `line ${n}` : ''))
    const current = lines.with(10, 'current').join('\n')
    const proposed = lines.with(19_000, 'proposed').join('\n')
    expect(mergeText(lines.join('\n'), current, proposed)).toEqual({
      text: lines.with(10, 'current').with(19_000, 'proposed').join('\n'),
    })
  })

  test('half a megabyte of blank lines ends in a conflict', () => {
    const blank = '\n'.repeat(500_000)
    expect(mergeText(blank, `${blank}x`, `y${blank}`)).toHaveProperty('conflicts')
  })

  test('what many costly parts may take is bounded in all: the first are merged, the others conflict', () => {
    const parts = (change: (line: string, n: number) => string) =>
      Array.from({ length: 300 }, (_, part) => {
        const blank = Array.from({ length: 400 }, (_, n) => change('', n))
        return [`Part ${part}`, ...blank].join('\n')
      }).join('\n')
    const base = parts((line) => line)
    const current = parts((line, n) => (n === 100 ? 'ours' : line))
    const proposed = parts((line, n) => (n === 300 ? 'theirs' : line))
    const merge = mergeText(base, current, proposed)
    const conflicts = 'conflicts' in merge ? merge.conflicts : []
    expect(conflicts.length).toBeGreaterThan(290)
    expect(conflicts.length).toBeLessThan(300)
    expect(conflicts.every(({ proposed }) => proposed.includes('theirs'))).toBe(true)
  })
})

describe('whatever the texts', () => {
  const texts = fc
    .array(fc.constantFrom('', 'a', 'b', 'c', 'd', 'e'), { maxLength: 10 })
    .map((lines) => lines.join('\n'))

  test('a side that changed nothing gives way', () => {
    fc.assert(
      fc.property(texts, texts, (from, to) => {
        expect(mergeText(from, to, from)).toEqual({ text: to })
        expect(mergeText(from, from, to)).toEqual({ text: to })
        expect(mergeText(from, to, to)).toEqual({ text: to })
      }),
    )
  })

  test('the sides may be swapped', () => {
    fc.assert(
      fc.property(texts, texts, texts, (from, left, right) => {
        const [one, other] = [mergeText(from, left, right), mergeText(from, right, left)]
        if ('text' in one && 'text' in other) expect(one).toEqual(other)
      }),
    )
  })

  test('a marked merge has the lines of all sides, and is the merge once each conflict has one side', () => {
    const marks = Object.values(conflictMarks)
    fc.assert(
      fc.property(texts, texts, texts, (from, left, right) => {
        const merge = mergeText(from, left, right)
        const { text, conflicts } = mergeMarked(from, left, right)
        expect(conflicts.length === 0).toBe('text' in merge)
        if ('text' in merge) {
          expect(text).toBe(merge.text)
          return
        }
        expect(conflicts).toEqual(merge.conflicts)
        expect(checkConflictMarkers(`\`\`\`\n${text}\n\`\`\``)).toMatchObject([{ rule: 'conflict-marker' }])
        const sideOf = (shown: number) => {
          let at = -1
          return text
            .split('\n')
            .filter((line) => {
              const mark = marks.indexOf(line)
              if (mark !== -1) at = mark === marks.length - 1 ? -1 : mark
              return mark === -1 && (at === -1 || at === shown)
            })
            .join('\n')
        }
        for (const shown of [0, 2]) {
          const all = sideOf(shown).split('\n')
          for (const line of (shown === 0 ? left : right).split('\n')) {
            if (!from.split('\n').includes(line)) expect(all).toContain(line)
          }
        }
      }),
    )
  })

  test('a merge loses no line that a side added and makes none up; a conflict stands where it says', () => {
    fc.assert(
      fc.property(texts, texts, texts, (from, left, right) => {
        const merge = mergeText(from, left, right)
        if ('text' in merge) {
          const lines = merge.text.split('\n')
          for (const line of [...left.split('\n'), ...right.split('\n')]) {
            if (!from.split('\n').includes(line)) expect(lines).toContain(line)
          }
          for (const line of lines)
            expect([...from.split('\n'), ...left.split('\n'), ...right.split('\n')]).toContain(line)
          return
        }
        for (const { line, current, proposed } of merge.conflicts) {
          expect(current).not.toBe(proposed)
          const lines = left.split('\n').map((text) => `${text}\n`)
          expect(
            lines
              .slice(line - 1)
              .join('')
              .startsWith(current),
          ).toBe(true)
        }
      }),
    )
  })
})
