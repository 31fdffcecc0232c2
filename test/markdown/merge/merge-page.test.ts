import { describe, expect, test } from 'vitest'
import { mergePages } from '../../../src/markdown/merge/merge-page.ts'
import { fc } from '../../support/properties.ts'

const page = (fields: string, content: string) => `---\n${fields}\n---\n\n${content}\n`

describe('merging pages', () => {
  test('takes front matter by its keys and content by its lines', () => {
    const base = page('title: A', 'One.\n\nTwo.')
    const current = page('title: A\nseqId: kb_00000001\ntags: [x]', 'One.\n\nTwo!')
    const proposed = page('title: B', 'One!\n\nTwo.')
    expect(mergePages({ base, current, proposed })).toEqual({
      text: page('title: B\nseqId: kb_00000001\ntags: [x]', 'One!\n\nTwo!'),
    })
  })

  test('names the line of the current file on which both sides differ', () => {
    const [base, current, proposed] = ['Two.', 'Two, theirs.', 'Two, ours.'].map((two) =>
      page('title: A', `One.\n\n${two}`),
    )
    const merged = mergePages({ base: base ?? '', current: current ?? '', proposed: proposed ?? '' })
    expect(merged).toMatchObject({ conflicts: [{ line: 7, current: 'Two, theirs.\n', proposed: 'Two, ours.\n' }] })
    const titles = { base: page('title: A', 'x'), current: page('title: B', 'x'), proposed: page('title: C', 'x') }
    expect(mergePages(titles)).toMatchObject({
      conflicts: [{ line: 2, current: 'title: B\n', proposed: 'title: C\n' }],
    })
  })

  test('gives a page without front matter what the server adds to it, whatever its line endings', () => {
    const base = 'One.\r\n\r\nTwo.\r\n'
    const current = `---\r\nseqId: kb_00000001\r\n---\r\n\r\n${base}`
    expect(mergePages({ base, current, proposed: base.replace('One', 'Uno') })).toEqual({
      text: current.replace('One', 'Uno'),
    })
  })

  test('goes by lines where front matter cannot be read', () => {
    const base = '---\ntitle: [\n---\n\nOne.\n\nTwo.\n'
    expect(mergePages({ base, current: base.replace('One', '1'), proposed: base.replace('Two', '2') })).toEqual({
      text: '---\ntitle: [\n---\n\n1.\n\n2.\n',
    })
  })

  test('is what one side made of it where the other did nothing, and the same from both sides', () => {
    const text = fc
      .array(fc.constantFrom('---', 'title: A', 'title: B', 'tags: [x]', '', 'One.', 'Two.'))
      .map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (base, other) => {
        expect(mergePages({ base, current: base, proposed: other })).toEqual({ text: other })
        expect(mergePages({ base, current: other, proposed: base })).toEqual({ text: other })
        expect(mergePages({ base, current: other, proposed: other })).toEqual({ text: other })
      }),
    )
  })
})
