import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PushTooLarge, pushedChanges } from '../../src/git/pushed-objects.ts'
import { Repository } from '../../src/git/repository.ts'
import { checkTip } from '../../src/push/checks/check-tip.ts'
import { formatFindings } from '../../src/push/push-report.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { type Pushing, pushing } from '../kb/support/push-support.ts'
import { neuronText, seq } from '../kb/support/written-neurons.ts'

const mb = 1024 * 1024
const file = '100644'
const folder = '40000'
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

const two = {
  'a.md': neuronText(1, { title: 'Alpha' }, 'See [[Beta]].\n'),
  'b.md': neuronText(2, { title: 'Beta', aliases: ['Bee'] }, 'See [[Alpha]].\n'),
}
const page = (fields: string, content = 'Text.') => `---\n${fields}---\n\n${content}\n`

test('an audience that main knows from other pages is fine, another one is warned of', async () => {
  const { put, commit, judge } = await pushing({
    'a.md': neuronText(1, { title: 'Alpha', audience: ['nurses'] }, 'Text.\n'),
    'b.md': neuronText(2, { title: 'Beta', audience: ['porters'] }, 'Text.\n'),
  })
  put('neurons/b.md', neuronText(2, { title: 'Beta', audience: ['porters'] }, 'Text, changed.\n'))
  put('neurons/c.md', page('title: Gamma\naudience: [nurses]\n'))
  put('neurons/d.md', page('title: Delta\naudience: [curater]\n'))
  expect(await judge(commit())).toEqual([
    'warning neurons/b.md:1 unknown-audience',
    'warning neurons/d.md:1 unknown-audience',
  ])
})

describe('a check that has a bound tells where it stopped', () => {
  const many = (link: string, count = 10_001) => `${`${link}\n`.repeat(count)}`

  test('links to a page that is removed, or loses a heading', async () => {
    const { put, commit, findings, clone } = await pushing({
      'a.md': neuronText(1, { title: 'Alpha' }, '## Old\n'),
      'b.md': neuronText(2, { title: 'Beta' }, many('[[Alpha]]')),
      'c.md': neuronText(3, { title: 'Gamma' }, '[[Alpha#Old]]\n'),
    })
    put('neurons/a.md', neuronText(1, { title: 'Alpha' }, '## New\n'))
    expect(formatFindings(await findings(commit()))).toEqual([
      'neurons/a.md:1: warning: The page loses headings or blocks: links of others to them were looked for in 200 pages and 10000 links only.',
    ])
    rmSync(join(clone, 'neurons/a.md'))
    expect(formatFindings(await findings(commit()))).toEqual([
      'neurons/a.md:1: warning: 1 Neuron links to it: neurons/b.md.',
      'neurons/a.md:1: warning: More than 10000 links lead to the pages that this push removes: the others are not looked at.',
    ])
  })

  test('pages that link to a page which loses a heading', async () => {
    const linking = Array.from({ length: 201 }, (_, n) => [
      `p${n}.md`,
      neuronText(n + 2, { title: `Page ${n}` }, n === 200 ? '[[Alpha#Old]]\n' : '[[Alpha]]\n'),
    ])
    const files = { 'a.md': neuronText(1, { title: 'Alpha' }, '## Old\n'), ...Object.fromEntries(linking) }
    const { put, commit, judge } = await pushing(files)
    put('neurons/a.md', neuronText(1, { title: 'Alpha' }, '## New\n'))
    expect(await judge(commit())).toEqual(['warning neurons/a.md:1 too-many-links'])
  })

  test('links to a file that is removed', async () => {
    const { put, commit, accept, findings, clone } = await pushing({
      'b.md': neuronText(2, { title: 'Beta' }, many('![[map.png]]')),
    })
    put('neurons/deep/map.png', 'x')
    await accept(commit())
    rmSync(join(clone, 'neurons/deep/map.png'))
    expect(formatFindings(await findings(commit()))).toEqual([
      'neurons/deep/map.png:1: warning: 1 Neuron that shows a file by this name would show none: neurons/b.md.',
      'neurons/deep/map.png:1: warning: More than 10000 links name the files and pages that this push adds or removes: the others are not looked at.',
    ])
  })

  test('files of a folder that is opened', async () => {
    const { put, commit, accept, judge } = await pushing({})
    for (let n = 0; n < 10_001; n++) put(`neurons/secret/deep/${n}.txt`, 'x')
    put('neurons/secret/hidden.md', neuronText(2, { title: 'Beta', tags: ['internal'] }, 'Text.\n'))
    await accept(commit())
    put('neurons/secret/open.md', page('title: Open\n'))
    expect(await judge(commit())).toContain('warning neurons/secret/open.md:1 too-many-links')
  })
})

describe('what curators do', () => {
  test('edits, new pages, attachments and forge settings are fine', async () => {
    const { put, commit, judge } = await pushing(two)
    put('neurons/a.md', neuronText(1, { title: 'Alpha' }, 'See [[Beta]], [[New page]] and ![[map.png]].\n'))
    put('neurons/New page.md', page('title: New page\n', 'See [[Bee]].'))
    put('neurons/deep/map.png', Buffer.from([0x89, 0x50, 0, 0xff]))
    for (const path of ['.github/workflows/check.yml', '.gitlab-ci.yml', '.forgejo/workflows/check.yml']) {
      put(path, 'on: push\n')
    }
    for (const path of ['.gitignore', '.editorconfig', 'neurons/.gitkeep']) put(path, 'x\n')
    put('.gitattributes', '*.md text eol=lf\n')
    expect(await judge(commit())).toEqual([])
  })

  test('a page with the name of another is told of with both paths, and only where it comes second', async () => {
    const { put, commit, accept, judge, findings } = await pushing(two)
    put('neurons/a.md', two['a.md'].replace('See', 'Do see'))
    put('neurons/new.md', page('title: bee\n'))
    put('neurons/deep/B.md', page('title: Other\n'))
    const to = commit()
    expect(formatFindings(await findings(to))).toEqual([
      'neurons/deep/B.md:1: warning: The name "B" is also that of neurons/b.md.',
      'neurons/new.md:1: warning: The name "bee" is also that of neurons/b.md.',
    ])
    await accept(to)
    put('neurons/b.md', `${two['b.md']}More.\n`)
    expect(await judge(commit())).toEqual([])
  })

  test('a filter, a pointer of Git LFS and a conflict that is left are refused with file and line', async () => {
    const { put, commit, judge } = await pushing(two)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`
    put('.gitattributes', '*.md text\n*.pdf filter=lfs diff=lfs merge=lfs -text\n')
    put('assets/plan.pdf', pointer)
    put('neurons/pointer.md', pointer)
    put('neurons/merged.md', page('title: Merged\n', '<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> side'))
    expect((await judge(commit())).filter((line) => line.startsWith('error'))).toEqual([
      'error .gitattributes:2 git-attributes',
      'error assets/plan.pdf:1 lfs-pointer',
      'error neurons/merged.md:5 conflict-marker',
      'error neurons/pointer.md:1 lfs-pointer',
    ])
  })

  test('a push without commits, or without changes, is fine', async () => {
    const { from, commit, judge } = await pushing(two)
    expect(await judge(from)).toEqual([])
    expect(await judge(commit())).toEqual([])
  })

  test('a page moves, two pages swap, and one takes the place of a deleted one: each keeps its seqId', async () => {
    const { clone, move, commit, judge } = await pushing({
      'a.md': neuronText(1, { title: 'Alpha' }),
      'b.md': neuronText(2, { title: 'Beta' }),
      'c.md': neuronText(3, { title: 'Gamma' }),
    })
    move('neurons/a.md', 'neurons/sub/alpha.md')
    expect(await judge(commit())).toEqual([])
    move('neurons/b.md', 'neurons/x.md')
    move('neurons/c.md', 'neurons/b.md')
    move('neurons/x.md', 'neurons/c.md')
    expect(await judge(commit())).toEqual([])
    rmSync(join(clone, 'neurons/b.md'))
    move('neurons/sub/alpha.md', 'neurons/b.md')
    expect(await judge(commit())).toEqual([])
  })

  test('a deleted page comes back with its seqId, but no other takes it over', async () => {
    const { clone, put, commit, accept, judge } = await pushing(two)
    rmSync(join(clone, 'neurons/b.md'))
    await accept(commit())
    put('neurons/back.md', two['b.md'])
    expect(await judge(commit())).toEqual([])
    rmSync(join(clone, 'neurons/back.md'))
    put('neurons/a.md', neuronText(2, { title: 'Alpha' }))
    expect(await judge(commit())).toEqual(['error neurons/a.md:1 changed-seq-id'])
  })

  test('a merge of what main had meanwhile is judged by what it brings', async () => {
    const { clone, from, put, commit, accept, judge } = await pushing(two)
    put('neurons/main.md', page('seqId: bad\ntitle: Bad\n'))
    await accept(commit())
    nativeGit(clone, ['checkout', '--quiet', '-b', 'side', from])
    put('neurons/side.md', page('title: Side\n'))
    commit()
    nativeGit(clone, ['merge', '--quiet', '--no-edit', '--no-ff', 'main'])
    expect(await judge(nativeGit(clone, ['rev-parse', 'HEAD']))).toEqual([])
  })
})

describe('seqIds and front matter', () => {
  test('an edited, removed, copied or invented seqId is refused', async () => {
    const { put, commit, judge, findings } = await pushing({ ...two, 'c.md': neuronText(3, { title: 'Gamma' }) })
    put('neurons/a.md', neuronText(9, { title: 'Alpha' }))
    put('neurons/b.md', page('title: Beta\naliases: [Bee]\n'))
    put('neurons/0-copy.md', neuronText(3, { title: 'Copy' }))
    put('neurons/new.md', neuronText(77, { title: 'New' }))
    put('neurons/other.md', page('seqId: other_00000001\ntitle: Other\n'))
    const to = commit()
    expect((await judge(to)).filter((line) => line.startsWith('error'))).toEqual([
      'error neurons/0-copy.md:1 duplicate-seq-id',
      'error neurons/a.md:1 changed-seq-id',
      'error neurons/b.md:1 removed-seq-id',
      'error neurons/other.md:1 seq-id-prefix',
      'error neurons/a.md:1 unknown-seq-id',
      'error neurons/new.md:1 unknown-seq-id',
    ])
    expect(formatFindings(await findings(to))).toContain(
      `neurons/new.md:1: The seqId ${seq(77)} was never given: leave it out, and the server gives one.`,
    )
  })

  test('a document id that another Neuron has is refused, in whatever case', async () => {
    const id = '0199a5c2-abcd-7000-8000-000000000000'
    const { put, commit, judge } = await pushing({ 'a.md': page(`seqId: ${seq(1)}\nid: ${id}\ntitle: Alpha\n`) })
    put('neurons/b.md', page(`id: ${id.toUpperCase()}\ntitle: Beta\n`))
    expect(await judge(commit())).toEqual(['error neurons/b.md:1 duplicate-id'])
  })

  test('bad front matter and bytes that are no text are refused with file and line', async () => {
    const { put, commit, judge, findings } = await pushing(two)
    put('neurons/a.md', `---\nseqId: ${seq(1)}\ntitle: Alpha\ntags: {a: b}\n---\n\nText.\n`)
    put('neurons/latin1.md', Buffer.concat([Buffer.from(page('title: Latin\n', 'One.')), Buffer.from([0xe9])]))
    put('neurons/open.md', '---\ntitle: Open\n')
    const second = '---\ntags: [internal]\n---\n\nText.'
    put('neurons/second.md', page('title: Second\n', second))
    put('neurons/toml.md', page('title: Toml\n', '+++\naudience = ["student"]\n+++\n'))
    put('neurons/hidden.md', page('tags: [internal]\n', second))
    put('neurons/other.md', page('title: Other\n', '---\ntags: [b]\n---\n'))
    const to = commit()
    expect((await judge(to)).filter((line) => line.startsWith('error'))).toEqual([
      'error neurons/a.md:4 invalid-front-matter',
      'error neurons/latin1.md:6 encoding',
      'error neurons/open.md:1 front-matter-unclosed',
      'error neurons/second.md:5 front-matter-unread',
      'error neurons/toml.md:5 front-matter-unread',
    ])
    expect(formatFindings(await findings(to))[0]).toMatch(/^neurons\/a\.md:4: /)
  })

  test('what is wrong with a page that the push does not touch is not its business', async () => {
    const { put, commit, judge } = await pushing({ ...two, 'bad.md': '---\n: [\n---\n' })
    put('neurons/a.md', neuronText(1, { title: 'Alpha', tags: ['x'] }))
    expect(await judge(commit())).toEqual([])
  })
})

test.each(['neurons/new.md', 'map.txt'])(
  'an object that goes missing while a push is checked is a failure of the check, not a fault of the push: %s',
  async (path) => {
    const { kb } = await pushing(two)
    const changes = [{ path, after: 'e'.repeat(40) }]
    await expect(checkTip(kb, { repository: kb.repository, changes })).rejects.toMatchObject({
      code: 'missing-object',
    })
  },
)

test('a page that is renamed and moved warns of no link that its alias keeps', async () => {
  const { move, put, commit, judge } = await pushing({
    'a.md': neuronText(1, { title: 'Alpha' }),
    'plain.md': `---\nseqId: ${seq(2)}\n---\nText.\n`,
    'b.md': neuronText(3, { title: 'Beta' }, 'See [[Alpha]], [[a]], [[neurons/a.md]] and [[plain]].\n'),
  })
  move('neurons/a.md', 'neurons/sub/first.md')
  move('neurons/plain.md', 'neurons/sub/other.md')
  put('neurons/sub/first.md', neuronText(1, { title: 'First' }))
  put('neurons/b.md', neuronText(3, { title: 'Beta' }, 'Edited: [[Alpha]], [[a]], [[neurons/a.md]] and [[plain]].\n'))
  expect((await judge(commit())).filter((line) => line.includes('neurons/b.md'))).toEqual([])
})

test('a page that is moved warns of no Markdown link that its alias keeps', async () => {
  const { move, put, commit, judge } = await pushing({
    'x/a.md': neuronText(1, { title: 'Alpha' }, '## H\n'),
    'x/b.md': neuronText(2, { title: 'Beta' }, 'See [a](a.md), [a](./a.md#h) and [a](/x/a.md).\n'),
  })
  move('neurons/x/a.md', 'neurons/y/first.md')
  put('neurons/x/b.md', neuronText(2, { title: 'Beta' }, 'Edited: [a](a.md), [a](./a.md#h) and [a](/x/a.md).\n'))
  expect((await judge(commit())).filter((line) => line.includes('b.md'))).toEqual([])
})

test('a page that opens a folder of hidden pages to readers tells of the files that links name there', async () => {
  const { clone, put, commit, findings } = await pushing({
    'open.md': neuronText(1, { title: 'Open' }, '![[deal.png]] ![[map.png]] ![[own.png]]\n'),
    'deal/plan.md': neuronText(2, { title: 'Plan', tags: ['internal'] }, '![[deal.png]]\n'),
    'deal/deal.png': 'PNG',
    'deal/other.png': 'PNG',
    'deal/im/map.png': 'PNG',
    'deal/own/hidden.md': neuronText(3, { title: 'Hidden', tags: ['internal'] }, '![[own.png]]\n'),
    'deal/own/own.png': 'PNG',
  })
  put('neurons/deal/more.md', page('title: More\ntags: [internal]\n'))
  expect(await findings(commit())).toEqual([])
  const told = (path: string, files: string) => [
    { rule: 'shown-files', path, message: expect.stringMatching(new RegExp(` files: ${files}\\.$`)) },
  ]
  put('neurons/deal/note.md', page('title: Note\n'))
  put('neurons/deal/second.md', page('title: Second\n'))
  expect(await findings(commit())).toMatchObject(
    told('neurons/deal/note.md', 'neurons/deal/deal.png, neurons/deal/im/map.png'),
  )
  rmSync(join(clone, 'neurons/deal/note.md'))
  rmSync(join(clone, 'neurons/deal/second.md'))
  put('neurons/deal/new/note.md', page('title: Note\n'))
  expect(await findings(commit())).toMatchObject(told('neurons/deal/new/note.md', 'neurons/deal/im/map.png'))
})

test('an image that moves or goes tells of the pages that show it, and one that takes its place, too', async () => {
  const { clone, put, move, commit, findings } = await pushing({
    'pic.md': neuronText(1, { title: 'Pic' }, '![k](im/k.png) ![[map.png]]\n'),
    'im/k.png': 'PNG',
    'im/map.png': 'map',
  })
  const told = async () => (await findings(commit())).map(({ rule, path, message }) => `${rule} ${path}: ${message}`)
  const lost = (path: string) =>
    `shown-files ${path}: 1 Neuron that shows a file by this name would show none: neurons/pic.md.`
  move('neurons/im', 'neurons/moved')
  expect(await told()).toEqual([lost('neurons/im/k.png')])
  rmSync(join(clone, 'neurons/moved'), { recursive: true })
  expect(await told()).toEqual([lost('neurons/im/k.png'), lost('neurons/im/map.png')])
  put('neurons/map.png', 'another')
  expect(await told()).toContain(
    'shown-files neurons/im/map.png: 1 Neuron that shows a file by this name would show neurons/map.png instead: neurons/pic.md.',
  )
})

test('a page that takes the name of a file tells of the pages that show it, and no other change of the two does', async () => {
  const { clone, put, move, commit, findings } = await pushing({
    'pic.md': neuronText(1, { title: 'Pic' }, '![[map.png]] ![[plan.png]]\n'),
    'map.png': 'map',
    'plan.md': neuronText(2, { title: 'plan.png' }),
    'plan.png': 'plan',
  })
  put('neurons/map.md', page('title: map.png\n'))
  expect(formatFindings(await findings(commit()))).toEqual([
    'neurons/map.md:1: warning: 1 Neuron that shows a file by this name would show neurons/map.md instead: neurons/pic.md.',
  ])
  rmSync(join(clone, 'neurons/map.md'))
  move('neurons/plan.png', 'other/plan.gif')
  expect(await findings(commit())).toEqual([])
})

test('an alias that a rename takes away on purpose leaves its links broken, and that is told', async () => {
  const { put, commit, judge } = await pushing({
    'a.md': neuronText(1, { title: 'Alpha', aliases: ['One'] }),
    'b.md': neuronText(2, { title: 'Beta' }, 'See [[One]].\n'),
  })
  put('neurons/a.md', neuronText(1, { title: 'First' }))
  put('neurons/b.md', neuronText(2, { title: 'Beta' }, 'Still [[One]].\n'))
  expect(await judge(commit())).toEqual(['warning neurons/b.md:5 broken-link'])
})

describe('headings', () => {
  const body = '# Alpha\n\n## Old *heading*\n\nText.\n\nAnother\n-------\n\n## Kept\n'

  test('that others link to and a push renames or takes out are a warning; those that nobody links to are not', async () => {
    const { put, commit, findings } = await pushing({
      'a.md': neuronText(1, { title: 'Alpha' }, body),
      'b.md': neuronText(
        2,
        { title: 'Beta' },
        'See [[Alpha#Old heading]], [[Alpha#another|that]] and [[Alpha#Kept]].\n',
      ),
      'c.md': neuronText(3, { title: 'Gamma' }, 'See [[Alpha#Alpha#Old heading]] and [[Alpha#^block]].\n'),
      'd.md': neuronText(4, { title: 'Delta' }, 'See [[Beta#Old heading]].\n'),
    })
    put(
      'neurons/a.md',
      neuronText(1, { title: 'Alpha' }, body.replace('Old *', 'New *').replace('# Alpha', '# Alpha page')),
    )
    put('neurons/c.md', neuronText(3, { title: 'Gamma' }, 'See [[Alpha#New heading]].\n'))
    expect(formatFindings(await findings(commit()))).toEqual([
      'neurons/a.md:1: warning: Others link to headings or blocks that it no longer has: neurons/b.md (#Old heading).',
    ])
    put('neurons/a.md', neuronText(1, { title: 'Alpha' }, 'Nothing left.\n'))
    expect(formatFindings(await findings(commit()))).toEqual([
      'neurons/a.md:1: warning: Others link to headings or blocks that it no longer has: neurons/b.md (#Kept), neurons/b.md (#Old heading), neurons/b.md (#another).',
      'neurons/c.md:5: warning: The page of [[Alpha#New heading]] has no such heading.',
    ])
  })

  test('of a page that moves go with it', async () => {
    const { move, put, commit, judge } = await pushing({
      'a.md': neuronText(1, { title: 'Alpha' }, body),
      'b.md': neuronText(2, { title: 'Beta' }, 'See [[Alpha#Old heading]].\n'),
    })
    move('neurons/a.md', 'neurons/sub/a.md')
    expect(await judge(commit())).toEqual([])
    put('neurons/sub/a.md', neuronText(1, { title: 'Alpha' }, '## Other\n'))
    expect(await judge(commit())).toEqual(['warning neurons/sub/a.md:1 lost-heading'])
  })
})

describe('kb.yaml', () => {
  const edited = (pushed: Pushing, change: (text: string) => string) => {
    pushed.put('kb.yaml', change(`${nativeGit(pushed.clone, ['show', 'HEAD:kb.yaml'])}\n`))
    return pushed.findings(pushed.commit())
  }

  test('its settings may change, its identity may not', async () => {
    const pushed = await pushing(two)
    expect(await edited(pushed, (text) => text.replace(/^title: .*$/m, 'title: Renamed'))).toEqual([])
    for (const key of ['id', 'slug', 'prefix']) {
      const other = key === 'id' ? '0199a5c2-0000-7000-8000-000000000000' : 'other'
      const found = await edited(pushed, (text) => text.replace(new RegExp(`^${key}: .*$`, 'm'), `${key}: ${other}`))
      expect(found).toMatchObject([
        { rule: 'settings', severity: 'error', path: 'kb.yaml', message: expect.stringContaining(`${key} must stay `) },
      ])
      nativeGit(pushed.clone, ['reset', '--quiet', '--hard', pushed.from])
    }
    expect(await edited(pushed, () => 'id: [\n')).toContainEqual(expect.objectContaining({ severity: 'error' }))
  })

  test('it stays', async () => {
    const { clone, put, commit, findings } = await pushing(two)
    rmSync(join(clone, 'kb.yaml'))
    put('kb.yaml/x', 'x')
    expect(await findings(commit())).toMatchObject([
      { rule: 'settings', severity: 'error', path: 'kb.yaml', message: 'kb.yaml must not be removed' },
    ])
  })
})

describe('links', () => {
  test('those of changed pages are warnings where they lead nowhere', async () => {
    const { put, commit, judge } = await pushing({
      ...two,
      'c.md': neuronText(3, { title: 'Gamma', aliases: ['Bee'] }),
      'map.png': 'png',
    })
    put(
      'neurons/a.md',
      neuronText(
        1,
        { title: 'Alpha', edges: [['cites', 'gone']] },
        '[[Beta]] [[neurons/b.md]] ![[map.png]]\n[[Bee]]\n[[No]]\n[x](./gone/) [x](/)\n',
      ),
    )
    expect(await judge(commit())).toEqual([
      'warning neurons/a.md:1 broken-edge',
      'warning neurons/a.md:8 ambiguous-link',
      ...['9', '10', '10'].map((line) => `warning neurons/a.md:${line} broken-link`),
    ])
  })

  test('a Neuron that is removed tells who links to it; one that is renamed keeps its names', async () => {
    const { clone, put, move, commit, findings } = await pushing({
      ...two,
      'c.md': neuronText(3, { title: 'Gamma' }, '[[Alpha]] [[a]] [[Bee]]\n'),
      'd.md': neuronText(4, { title: 'Delta' }, '[[neurons/b.md]]\n'),
    })
    const messages = async () => (await findings(commit())).map(({ path, message }) => `${path}: ${message}`)
    put('neurons/a.md', neuronText(1, { title: 'Omega' }, 'See [[Beta]].\n'))
    expect(await messages()).toEqual([])
    put('neurons/a.md', neuronText(1, { title: 'Omega', aliases: ['Alpha'] }, 'See [[Beta]].\n'))
    move('neurons/b.md', 'neurons/sub/beta.md')
    expect(await messages()).toEqual([])
    rmSync(join(clone, 'neurons/sub/beta.md'))
    rmSync(join(clone, 'neurons/d.md'))
    expect(await messages()).toEqual([
      'neurons/a.md: No Neuron answers to [[Beta]].',
      'neurons/b.md: 1 Neuron links to it: neurons/c.md.',
    ])
  })
})

describe('hostile trees', () => {
  type Hostile = { mode?: string; path: string | Buffer; oid?: string; reason: RegExp }
  const cases: Record<string, Hostile> = {
    'a symbolic link': { mode: '120000', path: 'neurons/link.md', reason: /neurons\/link\.md:1: Symbolic links/ },
    'an executable': { mode: '100755', path: 'run.sh', reason: /run\.sh:1: Executable files/ },
    'a group-writable file': { mode: '100664', path: 'x', reason: /The mode 100664/ },
    'a submodule': { mode: '160000', path: 'sub', oid: '1'.repeat(40), reason: /sub:1: Submodules/ },
    'a submodule as a page': { mode: '160000', path: 'neurons/x.md', oid: '1'.repeat(40), reason: /Submodules/ },
    '.gitmodules': { path: '.gitmodules', reason: /git gives a meaning/ },
    'a hook': { path: 'neurons/.git/hooks/post-checkout', reason: /^neurons\/\.git:1: .*\.git,/ },
    '.GIT': { path: '.GIT/config', reason: /git gives a meaning/ },
    'git~1': { path: 'git~1/config', reason: /git gives a meaning/ },
    'an HFS disguise': { path: '.g\u200cit/config', reason: /^\.g\\u\{200C\}it:1: .*U\+200C/ },
    'an NTFS disguise': { path: '.git::$INDEX_ALLOCATION/config', reason: /character :/ },
    'a device': { path: 'neurons/CON.md', reason: /Windows reserves/ },
    'a control character': { path: 'neurons/a\x1b[31m.md', reason: /^neurons\/a\\u\{1B\}\[31m\.md:1: .*U\+001B/ },
    'a line break': { path: 'neurons/a\nb.md', reason: /^neurons\/a\\u\{A\}b\.md:1: .*U\+000A/ },
    'a bidi override': { path: 'neurons/a\u202egnp.md', reason: /^neurons\/a\\u\{202E\}gnp\.md:1: .*U\+202E/ },
    'bytes that are no UTF-8': { path: Buffer.from('neurons/caf\xe9.md', 'latin1'), reason: /not UTF-8/ },
    'a decomposed name': { path: 'neurons/cafe\u0301.md', reason: /normalisation form C/ },
    'another case': { path: 'neurons/A.md', reason: /^neurons\/A\.md:1: The path and neurons\/a\.md are one/ },
    'another case of a folder': { path: 'Neurons/x.md', reason: /^Neurons:1: The path and neurons are one/ },
    'another variation': { path: 'neurons/a\ufe0f.md', reason: /are one where case is ignored/ },
    'parent folder': { path: 'neurons/../x.md', reason: /relative name \.\./ },
    'an empty folder': { mode: folder, path: 'neurons/empty', oid: emptyTree, reason: /The folder is empty/ },
    'a path that is too deep': { path: `${'d/'.repeat(16)}x.md`, reason: /more than 16 levels deep/ },
    'a path that is too long': { path: `${`${'a'.repeat(200)}/`.repeat(6)}x`, reason: /longer than 1024 bytes/ },
  }

  test.each(Object.entries(cases))(
    '%s is refused with its path, also where a later commit removes it',
    async (_, hostile) => {
      const { from, hostile: write, findings } = await pushing(two)
      const { mode = file, path, reason } = hostile
      const oid = hostile.oid ?? write.blob('Hostile.\n')
      const bad = write.commit(write.with(write.treeOf(from), path, { mode, oid }), from)
      const [first = ''] = formatFindings(await findings(bad))
      expect(first).toMatch(reason)
      expect(first).not.toMatch(/warning/)
      const mended = write.commit(write.treeOf(from), bad)
      const [later = ''] = formatFindings(await findings(mended))
      expect(later).toMatch(reason)
      expect(later).toContain(`(commit ${bad.slice(0, 7)})`)
    },
  )

  test('a name with a slash is refused', async () => {
    const { from, hostile: write, findings } = await pushing(two)
    const entries = write.entries(write.treeOf(from))
    const bad = write.tree([...entries, { mode: file, name: 'a/b', oid: write.blob('x') }])
    expect(formatFindings(await findings(write.commit(bad, from)))).toEqual([
      'a/b:1: The path has a name with a slash.',
    ])
  })

  test('two good commits are refused where their merge holds names that collide', async () => {
    const { from, hostile: write, judge } = await pushing(two)
    const oid = write.blob(page('title: X\n'))
    const upper = write.with(write.treeOf(from), 'neurons/X.md', { mode: file, oid })
    const lower = write.with(write.treeOf(from), 'neurons/x.md', { mode: file, oid })
    const parents = [write.commit(upper, from), write.commit(lower, from)]
    const both = write.with(upper, 'neurons/x.md', { mode: file, oid })
    expect(await judge(write.commit(both, ...parents))).toEqual([
      'error neurons/x.md:1 path-collision',
      'warning neurons/x.md:1 same-name',
    ])
  })

  test('a large file is refused with its path, also where a later commit removes it; a page holds less', async () => {
    const { clone, put, commit, judge, findings } = await pushing(two)
    put('big.bin', Buffer.alloc(2 * mb + 1))
    put('neurons/big.md', page('title: Big\n', 'x'.repeat(mb)))
    put('fine.bin', Buffer.alloc(2 * mb))
    const bad = commit()
    expect(await judge(bad)).toEqual(['error big.bin:1 file-size', 'error neurons/big.md:1 file-size'])
    rmSync(join(clone, 'big.bin'))
    rmSync(join(clone, 'neurons/big.md'))
    expect(formatFindings(await findings(commit()))).toEqual([
      `big.bin:1: The file is larger than 2 MB. (commit ${bad.slice(0, 7)})`,
    ])
  })

  test.each([
    ['of files', (write: Pushing['hostile']) => write.blob('x'), file],
    ['of folders', (write: Pushing['hostile']) => write.tree([]), folder],
  ])('a tree that would expand to a billion %s is refused in bounded time', async (_, leaf, leafMode) => {
    const { from, hostile: write, findings } = await pushing(two)
    let [oid, mode] = [leaf(write), leafMode]
    for (let depth = 0; depth < 9; depth++) {
      oid = write.tree(Array.from({ length: 10 }, (_, index) => ({ mode, name: `n${index}`, oid })))
      mode = folder
    }
    const bad = write.commit(write.with(write.treeOf(from), 'bomb', { mode, oid }), from)
    for (const to of [bad, write.commit(write.treeOf(from), bad)]) {
      expect(formatFindings(await findings(to))).toEqual([expect.stringMatching(/would hold too many files/)])
    }
  })

  test('a folder of main that is put into a commit thousands of times is refused', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m/${index}.txt`, 'x']))
    const { from, hostile: write, findings } = await pushing(many)
    const oid = nativeGit(write.dir, ['rev-parse', `${from}:neurons/m`])
    const copies = write.tree(Array.from({ length: 1000 }, (_, index) => ({ mode: folder, name: `c${index}`, oid })))
    const bad = write.commit(write.with(write.treeOf(from), 'copies', { mode: folder, oid: copies }), from)
    expect(formatFindings(await findings(bad))).toEqual([expect.stringMatching(/would hold too many files/)])
  })

  test('more than 50 changed files of answer tests are refused, of which each takes its time', async () => {
    const { from, hostile: write, findings } = await pushing(two)
    const oid = write.blob('- question: Who?\n  refuses: true\n')
    const tests = Array.from({ length: 51 }, (_, index) => ({ mode: file, name: `t${index}.yaml`, oid }))
    const bad = write.commit(write.with(write.treeOf(from), 'tests', { mode: folder, oid: write.tree(tests) }), from)
    expect(formatFindings(await findings(bad))).toEqual([expect.stringMatching(/more than 50 files of answer tests/)])
  })

  test('more than 20,000 changed files are refused', async () => {
    const { kb, clone, from, hostile: write, findings } = await pushing(two)
    const oid = write.blob('x')
    const files = (count: number) =>
      write.tree(Array.from({ length: count }, (_, index) => ({ mode: file, name: `f${index}`, oid })))
    const commitOf = (count: number) =>
      write.commit(write.with(write.treeOf(from), 'many', { mode: folder, oid: files(count) }), from)
    expect(formatFindings(await findings(commitOf(20_000)))).toEqual([])
    const bad = commitOf(20_001)
    expect(formatFindings(await findings(bad))).toEqual(['The push changes more than 20000 files: push it in parts.'])
    const repository = new Repository(kb.repository.gitDir, { quarantine: join(clone, '.git', 'objects') })
    await expect(pushedChanges(repository, from, bad)).rejects.toThrow(PushTooLarge)
    repository.close()
  })
})

describe('what the terminal shows', () => {
  test('errors come first, and at most 50 lines', () => {
    const at = (severity: 'error' | 'warning', path: string, line = 1) => ({
      rule: 'x',
      severity,
      path,
      line,
      message: 'No.',
    })
    const many = Array.from({ length: 60 }, (_, index) => at('warning', `${index}.md`))
    const lines = formatFindings([...many, at('error', 'z.md', 12), at('error', '')])
    expect(lines.slice(0, 3)).toEqual(['No.', 'z.md:12: No.', '0.md:1: warning: No.'])
    expect(lines).toHaveLength(51)
    expect(lines.at(-1)).toBe('… and 12 more.')
  })
})
