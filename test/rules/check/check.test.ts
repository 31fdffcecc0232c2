import { describe, expect, test } from 'vitest'
import { type CheckOptions, checkKb } from '../../../src/rules/check/check-kb.ts'
import type { CheckedFile } from '../../../src/rules/check/checked-file.ts'
import type { Finding, NeuronFields, WikiLink } from '../../../src/rules/neurons/neuron.ts'
import { fc } from '../../support/properties.ts'
import { hostileText } from '../hostile-text.ts'

const seq = (number: number) => `kb_${String(number).padStart(8, '0')}`

function page(path: string, fields: Partial<NeuronFields>, rest: Partial<CheckedFile> = {}): CheckedFile {
  const all = { title: `Title of ${path}`, tags: [], aliases: [], edges: [], sources: [], noteShared: false, ...fields }
  return {
    path,
    size: 100,
    mode: '100644',
    neuron: { fields: all, title: all.title, findings: [], content: '', contentLine: 5 },
    ...rest,
  }
}

function link(target: string, rest: Partial<WikiLink> = {}): WikiLink {
  return { target, embed: false, line: 1, ...rest }
}

function check(files: CheckedFile[], options: Partial<CheckOptions> = {}): string[] {
  return checkKb(files, [], { prefix: 'kb', ...options }).map(brief)
}

function brief({ severity, path, line, rule }: Finding): string {
  return `${severity} ${path}:${line} ${rule}`
}

test('a sound KB has no findings', () => {
  const files: CheckedFile[] = [
    { path: 'kb.yaml', size: 300, mode: '100644' },
    { path: '.github/workflows/ganglion.yml', size: 300 },
    page(
      'neurons/a.md',
      { seqId: seq(1), title: 'A', edges: [{ type: 'cites', target: seq(2) }] },
      { links: [link('B')] },
    ),
    page('neurons/b.md', { seqId: seq(2), title: 'B' }, { links: [link(''), link('Far', { kb: 'other' })] }),
  ]
  expect(check(files)).toEqual([])
})

describe('files', () => {
  test.each([
    ['120000', 'symbolic links'],
    ['160000', 'submodules'],
    ['100755', 'executable'],
    ['100664', 'mode 100664'],
  ])('mode %s is refused', (mode, named) => {
    const [finding] = checkKb([{ path: 'neurons/x', size: 1, mode }], [], { prefix: 'kb' })
    expect(finding).toMatchObject({ rule: 'file-mode', severity: 'error' })
    expect(finding?.message.toLowerCase()).toContain(named)
  })

  test('a page holds 1 MB, another file 2 MB', () => {
    const mb = 1024 * 1024
    expect(check([page('neurons/a.md', { seqId: seq(1) }, { size: mb })])).toEqual([])
    expect(check([page('neurons/a.md', { seqId: seq(1) }, { size: mb + 1 })])).toEqual([
      'error neurons/a.md:1 file-size',
    ])
    expect(check([{ path: 'README.MD', size: mb + 1 }])).toEqual(['error README.MD:1 file-size'])
    expect(check([{ path: 'x.png', size: 2 * mb }])).toEqual([])
    expect(check([{ path: 'x.png', size: 2 * mb + 1 }])).toEqual(['error x.png:1 file-size'])
  })
})

describe('paths', () => {
  test.each([
    '.gitmodules',
    'a/.GIT/config',
    'git~1',
    'CON.md',
    'a\u202eb.md',
    'a\nb.md',
    'caf\ufffd.md',
    'e\u0301.md',
  ])('%j is refused', (path) => {
    expect(check([{ path, size: 1 }])).toEqual([`error ${path}:1 path`])
  })

  test('two files, two spellings of a folder, and a file and a folder collide', () => {
    const paths = (...all: string[]) => check(all.map((path) => ({ path, size: 1 })))
    expect(paths('x/a.png', 'x/A.png')).toEqual(['error x/a.png:1 path-collision'])
    expect(paths('X/a.png', 'x/b.png')).toEqual(['error x/b.png:1 path-collision'])
    expect(paths('Foo', 'foo/a.png')).toEqual(['error foo/a.png:1 path-collision'])
    expect(paths('straße.png', 'STRASSE.png')).toEqual(['error straße.png:1 path-collision'])
    expect(paths('x/a.png', 'y/a.png')).toEqual([])
  })
})

describe('Neurons', () => {
  test('what the front matter holds wrong is told with its path', () => {
    const file = page('neurons/a.md', { seqId: seq(1) })
    const findings = [{ rule: 'bad-edge', severity: 'error' as const, line: 3, message: 'No such type.' }]
    const broken = {
      ...file,
      neuron: {
        fields: { tags: [], aliases: [], edges: [], sources: [], noteShared: false },
        title: 'A',
        findings,
        content: '',
        contentLine: 5,
      },
    }
    expect(check([broken])).toEqual(['error neurons/a.md:3 bad-edge'])
  })

  test('no title is a warning, and no seqId is none', () => {
    expect(check([page('neurons/a.md', { title: ' ' })])).toEqual(['warning neurons/a.md:1 missing-title'])
  })

  test('a page in a file of another ending is refused with the name to take', () => {
    const files = ['neurons/A.MD', 'neurons/b.markdown', 'README.MD'].map((path) => ({ path, size: 1 }))
    expect(check(files)).toEqual(['error neurons/A.MD:1 page-extension', 'error neurons/b.markdown:1 page-extension'])
  })

  test.each(['other_00000001', 'kb_1', 'kb_00000001x', 'KB_00000001'])('the seqId %s is not of the KB', (seqId) => {
    expect(check([page('neurons/a.md', { seqId })])).toEqual(['error neurons/a.md:1 seq-id-prefix'])
  })

  test('a seqId and a document id belong to one Neuron', () => {
    const id = '0199a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f'
    expect(
      check([
        page('neurons/a.md', { seqId: seq(1), id }),
        page('neurons/b.md', { seqId: seq(1), id: id.toUpperCase() }),
      ]),
    ).toEqual(['error neurons/b.md:1 duplicate-id', 'error neurons/b.md:1 duplicate-seq-id'])
  })

  test('a copy is to blame, not the Neuron that was there before', () => {
    const files = [page('neurons/a copy.md', { seqId: seq(1) }), page('neurons/a.md', { seqId: seq(1) })]
    expect(check(files, { previousSeqIds: new Map([['neurons/a.md', seq(1)]]) })).toEqual([
      'error neurons/a copy.md:1 duplicate-seq-id',
    ])
  })
})

describe('a change', () => {
  const previousSeqIds = new Map([
    ['neurons/a.md', seq(1)],
    ['neurons/b.md', seq(2)],
  ])
  const b = page('neurons/b.md', { seqId: seq(2) })

  test.each<[string, CheckedFile[], string[]]>([
    ['may keep seqIds', [page('neurons/a.md', { seqId: seq(1) }), b], []],
    ['may add a Neuron', [page('neurons/a.md', { seqId: seq(1) }), b, page('neurons/c.md', { seqId: seq(3) })], []],
    ['may delete a Neuron', [b], []],
    ['may rename one', [page('neurons/sub/a.md', { seqId: seq(1) }), b], []],
    ['may swap two', [page('neurons/a.md', { seqId: seq(2) }), page('neurons/b.md', { seqId: seq(1) })], []],
    ['may move one over a deleted one', [page('neurons/a.md', { seqId: seq(2) })], []],
    [
      'may rename one and put a new page in its place',
      [page('neurons/z.md', { seqId: seq(1) }), page('neurons/a.md', { seqId: seq(3) }), b],
      [],
    ],
    ['must not edit a seqId', [page('neurons/a.md', { seqId: seq(9) }), b], ['error neurons/a.md:1 changed-seq-id']],
    ['must not remove a seqId', [page('neurons/a.md', {}), b], ['error neurons/a.md:1 removed-seq-id']],
    [
      'must not take the seqId of another',
      [page('neurons/a.md', { seqId: seq(2) }), b],
      ['error neurons/a.md:1 duplicate-seq-id'],
    ],
  ])('%s', (_, files, findings) => {
    expect(check(files, { previousSeqIds })).toEqual(findings)
  })
})

describe('links', () => {
  const files = (links: WikiLink[], fields: Partial<NeuronFields> = {}) => [
    page('neurons/a.md', { seqId: seq(1), title: 'A', ...fields }, { links }),
    page('neurons/x/twin.md', { seqId: seq(2), title: 'Twin' }),
    page('neurons/y/twin.md', { seqId: seq(3), title: 'Twin' }),
  ]

  test('a broken and an ambiguous link are warnings on their line of the file', () => {
    expect(
      check(files([link('Nowhere', { line: 3 }), link('twin', { line: 4 }), link('x/twin', { line: 5 })])),
    ).toEqual([
      'warning neurons/a.md:7 broken-link',
      'warning neurons/a.md:8 ambiguous-link',
      'warning neurons/y/twin.md:1 same-name',
    ])
  })

  test('an edge needs one target that exists', () => {
    const edges = [seq(2), seq(9), 'Twin'].map((target) => ({ type: 'cites' as const, target }))
    expect(check(files([], { edges }))).toEqual([
      'warning neurons/a.md:1 broken-edge',
      'warning neurons/a.md:1 broken-edge',
      'warning neurons/y/twin.md:1 same-name',
    ])
  })

  test('a page that has no seqId yet can be linked to', () => {
    const pages = [
      page('neurons/new.md', { title: 'New' }),
      page('neurons/a.md', { seqId: seq(1) }, { links: [link('New')] }),
    ]
    expect(check(pages)).toEqual([])
  })

  test('a name of several pages is told at the one that had it last; a folder may have an index of any name', () => {
    const pages = [
      page('neurons/notes.md', { seqId: seq(3), title: 'Plan' }),
      page('neurons/old/NOTES.md', { seqId: seq(1), title: 'Old plan' }),
      page('neurons/c.md', { seqId: seq(2), title: 'C', aliases: ['notes'] }),
      page('neurons/x/index.md', { seqId: seq(4), title: 'X' }),
      page('neurons/y/index.md', { seqId: seq(5), title: 'Y' }),
    ]
    const since = new Map([2, 3, 1].map((number, at) => [seq(number), { since: at, yields: false }]))
    const told = (options: Partial<CheckOptions> = {}) =>
      checkKb(pages, [], { prefix: 'kb', ...options }).map(({ path, message }) => `${path}: ${message}`)
    expect(told()).toEqual(['neurons/notes.md: The name "notes" is also that of neurons/old/NOTES.md, neurons/c.md.'])
    expect(told({ claimOf: (seqId) => since.get(seqId) })).toEqual([
      'neurons/old/NOTES.md: The name "NOTES" is also that of neurons/c.md, neurons/notes.md.',
    ])
  })

  test('thousands of links to thousands of Neurons of one name are all found', () => {
    const many = Array.from({ length: 5000 }, (_, n) =>
      page(
        `neurons/${n}.md`,
        { seqId: seq(n + 1), title: 'Same' },
        { links: n < 20 ? Array(2000).fill(link('Same')) : [] },
      ),
    )
    expect(check(many)).toHaveLength(20 * 2000 + 1)
  })
})

test('problems of the settings are findings on kb.yaml', () => {
  const problem = { path: 'policy.threshold', severity: 'error' as const, message: 'must be a number from 0 to 1' }
  expect(checkKb([], [problem], { prefix: 'kb' })).toEqual([
    {
      rule: 'settings',
      severity: 'error',
      path: 'kb.yaml',
      line: 1,
      message: 'policy.threshold must be a number from 0 to 1',
    },
  ])
})

test('whatever the files hold and in whatever order, the findings are the same and their messages are safe to print', () => {
  const files = fc.uniqueArray(
    fc.record({
      path: hostileText,
      title: hostileText,
      aliases: fc.array(hostileText, { maxLength: 2 }),
      seqId: fc.option(hostileText, { nil: undefined }),
      target: hostileText,
    }),
    { selector: ({ path }) => path, maxLength: 6 },
  )
  fc.assert(
    fc.property(files, (all) => {
      const pages = all.map(({ path, title, aliases, seqId, target }) =>
        page(
          path,
          { title, aliases, ...(seqId !== undefined && { seqId }), edges: [{ type: 'cites', target }] },
          { links: [link(target)] },
        ),
      )
      const findings = checkKb(pages, [], { prefix: 'kb' })
      expect(checkKb(pages.toReversed(), [], { prefix: 'kb' })).toEqual(findings)
      for (const { message } of findings) expect(message).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
    }),
  )
})
