import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repositoryLoad } from '../../../src/git/maintenance.ts'
import { commitToMain } from '../../../src/kb/writing/commits.ts'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { checkDirectory } from '../../../src/push/clone-check/check-directory.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import {
  candidatesOf,
  commitCount,
  expectSound,
  fileOf,
  filesOf,
  type Importing,
  importing,
  neuronOf,
  put,
} from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'

async function errorsOf({ gitDir }: Importing): Promise<string[]> {
  const clone = tempDir()
  nativeGit(clone, ['clone', '--quiet', gitDir, '.'])
  const { findings } = await checkDirectory(clone, {})
  return findings.filter(({ severity }) => severity === 'error').map(({ path, message }) => `${path}: ${message}`)
}

test('pictures in the texts of notes become files, however large they make the notes', async () => {
  const link = (byte: string) => `data:image/png;base64,${byte.repeat(1_100_000)}`
  const note = (text: string) =>
    `---\ntitle: Plans\n---\n\n${text}\n\n![One](${link('A')})\n\n![][two]\n\n[two]: <${link('B')}>\n`
  const large = 'x '.repeat(600_000)
  const given = await importing({
    'a/Plans.md': note('First.'),
    'Code.md': `\`\`\`\n![](${link('A')})\n\`\`\`\n\n![](${link('A')})`,
    'Large.md': `![](${link('A')}) ${large}`,
  })
  const { created, skipped, unresolved } = await given.run()
  expect({ created, skipped, unresolved }).toEqual({
    ...{ created: 1, unresolved: [] },
    skipped: [
      { path: 'Code.md', reason: expect.stringContaining('those in code, or of more than 2 MB, become no files') },
      { path: 'Large.md', reason: 'is larger than 1008 KB' },
    ],
  })
  const pictures = filesOf(given, 'main').filter((path) => path.endsWith('.png'))
  expect(pictures).toEqual([
    expect.stringMatching(/^neurons\/a\/attachments\/one-/),
    expect.stringMatching(/\/picture-/),
  ])
  const [one = '', two = ''] = pictures.map((path) => path.slice('neurons/a/'.length))
  const content = `First.\n\n![One](${one})\n\n![][two]\n\n[two]: <${two}>`
  expect((await neuronOf(given, 'neurons/a/Plans.md')).content).toBe(content)
  expect(candidatesOf(given).map((candidate) => candidate.content.trim())).toEqual([content])

  put(given.vault, 'a/Plans.md', note('Second.'))
  expect(await given.run()).toMatchObject({ created: 0, updated: 1, unresolved: [] })
  expect((await neuronOf(given, 'neurons/a/Plans.md')).content).toBe(content.replace('First', 'Second'))
  expectSound(given)
})

test('a vault becomes Neurons in its folders, with attachments beside and candidates behind', async () => {
  const png = Buffer.from('89504e470d0a1a0aff00', 'hex')
  const given = await importing({
    'Index.md': '# Start\n\nSee [[On-call rotation]], [[Projects/Atlas|Atlas]] and ![[map.png]].\n',
    'Ops/On-call rotation.md': '---\naliases: [Rota]\n---\n\nWho is on call.\n',
    'Projects/Atlas.md': '[[contradicts:Rota]] [[nowhere]] [home](../) [team](team/) [files](./files)\n',
    'Projects/plan.mdx': '# Plan',
    'Projects/files/map.png': png,
    '.obsidian/app.json': '{}',
  })
  const commits = commitCount(given, 'main')
  expect(await given.run()).toEqual({
    ...{ created: 3, updated: 0, unchanged: 0, pending: 0, attachments: 2 },
    files: {
      notes: 3,
      attachments: [
        { type: '.png', files: 1 },
        { type: '.mdx', files: 1 },
      ],
    },
    links: { neurons: 4, files: 1, otherKbs: 0 },
    ...{ renamed: [], conflicts: [], moved: [], vanished: [], removalsProposed: 0 },
    notices: [
      { path: given.vault, line: 1, message: '1 .mdx file became attachments, whose text is not read.' },
      { path: 'kb.yaml', line: 1, message: expect.stringContaining('inlineTags is true') },
    ],
    skipped: [{ path: '.obsidian', reason: 'is hidden' }],
    unresolved: ['nowhere', 'team/', './files'].map((target) => ({
      ...{ path: 'neurons/Projects/Atlas.md', target, reason: target === 'nowhere' ? 'missing' : 'folder' },
    })),
    partial: [],
  })
  expect(filesOf(given, 'main', 'neurons')).toEqual([
    'Index.md',
    'Ops/On-call rotation.md',
    'Projects/Atlas.md',
    'Projects/files/map.png',
    'Projects/plan.mdx',
  ])
  expect(nativeGit(given.gitDir, ['rev-parse', 'main:neurons/Projects/files/map.png'])).toBe(
    nativeGit(given.gitDir, ['hash-object', '--stdin'], png),
  )
  expect(commitCount(given, 'main')).toBe(commits + 3)
  expect(commitCount(given, 'refs/ganglion/queue')).toBe(1)
  expectSound(given)
  expect(await errorsOf(given)).toEqual([])

  const [index, rota, atlas] = await Promise.all(
    ['Index', 'Ops/On-call rotation', 'Projects/Atlas'].map((name) => neuronOf(given, `neurons/${name}.md`)),
  )
  expect(index).toMatchObject({ title: 'Start', version: 1, content: expect.stringMatching(/^# Start\n/) })
  expect(index?.links).toEqual([
    { type: 'cites', target: rota?.seqId },
    { type: 'cites', target: atlas?.seqId },
  ])
  expect(atlas?.links).toEqual([
    { type: 'contradicts', target: rota?.seqId },
    { type: 'cites', target: index?.seqId },
  ])
})

test('a title is that of the front matter, else a heading of level 1 that opens the note, else the file name', async () => {
  const given = await importing({
    'a.md': '---\ntitle: "From: front matter"\n---\n# Heading\n',
    'b.md': 'Text.\n\n## The **first** heading\n\n# Second\n',
    'c.md': '```\n# code\n```\n',
    'd.md': '',
    'e.md': '---\ntitle:\n---\n\nUnderlined\n===\n',
    '📚 Reading.markdown': 'x',
  })
  await given.run()
  const titles = await Promise.all(
    filesOf(given, 'main', 'neurons').map(async (path) => (await neuronOf(given, `neurons/${path}`)).title),
  )
  expect(titles).toEqual(['From: front matter', 'b', 'c', 'd', 'Underlined', '📚 Reading'])
  expectSound(given)
})

test('tags come as lists, as text and with #, and nested', async () => {
  const given = await importing({
    'list.md': '---\ntags: [a, b/c]\n---\n',
    'text.md': '---\ntags: "#a, #b/c"\n---\n',
    'block.md': '---\ntags:\n  - "#a"\n  - b/c\n---\n',
  })
  await given.run()
  for (const name of ['list', 'text', 'block']) {
    expect((await neuronOf(given, `neurons/${name}.md`)).tags).toEqual(['a', 'b/c'])
  }
})

test('foreign front matter stays byte for byte; what means something else here moves aside', async () => {
  const foreign =
    'cssclass:   wide   # as wide as it gets\n"quoted key": \'no\'\ncreated: 2021-01-01\nnested: {a: [1, 2]}\n'
  const given = await importing({
    'a.md': `---\n${foreign}id: 123\nseqId: other_00000001\nsources: https://example.com\nedges: none\n---\nText.\n`,
    'b.md': '---\nid: 1\nimported-id: 2\n---\n',
  })
  await given.run()
  const file = fileOf(given, 'neurons/a.md')
  expect(file.startsWith(`---\n${foreign}`)).toBe(true)
  expect(parseNeuronFile(file)).toMatchObject({
    findings: [],
    fields: {
      seqId: expect.stringMatching(/^notes_/),
      id: expect.stringMatching(/-/),
      edges: [],
      sources: [{ filename: 'vault/a.md' }],
    },
    extra: {
      'imported-id': '123',
      'imported-seqId': 'other_00000001',
      'imported-sources': 'https://example.com',
      'imported-edges': 'none',
    },
    content: 'Text.',
  })
  expect(parseNeuronFile(fileOf(given, 'neurons/b.md')).extra).toEqual({
    'imported-id': '2',
    'imported-imported-id': '1',
  })
  expect(await errorsOf(given)).toEqual([])
})

test('front matter that cannot be read, or is too long, is kept as text', async () => {
  const template = '---\ndate: {{date}}\ntitle: {{title}}\n---\n\n# Daily\n'
  const long = `---\nkeywords: ${'word '.repeat(2000)}\n---\nText.\n`
  const given = await importing({ 'template.md': template, 'unclosed.md': '---\nno end\n', 'long.md': long })
  expect(await given.run()).toMatchObject({ created: 3, skipped: [] })
  expect(await neuronOf(given, 'neurons/template.md')).toMatchObject({ title: 'Daily', content: template })
  expect(await neuronOf(given, 'neurons/unclosed.md')).toMatchObject({ title: 'unclosed', content: '---\nno end\n' })
  expect(await neuronOf(given, 'neurons/long.md')).toMatchObject({ content: long })
  expect(await given.run()).toMatchObject({ unchanged: 3 })
  expect(await errorsOf(given)).toEqual([])
  expectSound(given)
})

test('front matter that cannot be read is reported with its line, and hides the page where it may have meant to', async () => {
  const given = await importing({
    'broken.md': '---\ntitle: a\nabout: one: two\n---\n\nText.\n',
    'hidden.md': '---\ntags: [internal\ntitle: x\n---\n\nText.\n',
    'audience.md': '---\naudience: [curator\n---\n\nText.\n',
  })
  const { notices } = await given.run()
  expect(notices.map(({ path, line, message }) => [path, line, message.includes('tagged internal')])).toEqual([
    ['audience.md', expect.any(Number), true],
    ['broken.md', 3, false],
    ['hidden.md', expect.any(Number), true],
  ])
  expect((await neuronOf(given, 'neurons/hidden.md')).tags).toEqual(['internal'])
  expect((await neuronOf(given, 'neurons/audience.md')).tags).toEqual(['internal'])
  expect((await neuronOf(given, 'neurons/broken.md')).tags).toEqual([])
  expect(await given.run()).toMatchObject({ unchanged: 3 })
})

test('front matter of other tools, and what can be read of front matter with mistakes, counts', async () => {
  const given = await importing({
    'toml.md': '+++\ntitle = "Toml: a"\ndate = 2024-05-01\ntags = ["internal"]\n[menu]\nmain = 1\n+++\n\nText.\n',
    'late.md': '\n\n---\ntags: [internal]\n---\nText.\n',
    'logseq.md': 'tags:: [[internal]], y\nalias:: Kiddo\nrelated:: [[Toml: a]]\n\n- block\n',
    'mmd.md': 'Author: A\nTags: internal\n\nText.\n',
    'json.md': '---json\n{"tags":["internal"]}\n---\nText.\n',
    'bad-toml.md': '+++\ntags = ["internal"\n+++\nText.\n',
    'map.md': '---\ntags: { a: internal }\n---\nText.\n',
    'colon.md': '---\ntitle: Pay: bands\nsite: @x\ntag: internal\nalias: Wages\ndate: 2024-01-01\n---\nText.\n',
    'tabs.md': '---\ntags:\n\t- internal\n---\nText.\n',
    'words.md': '---\ntags: one two, three\ntitle: a\ntitle: b\n---\nText.\n',
    'memo.md': '---\n**Memo**\n---\n\nTags: a matter of taste.\n',
    'second.md': '---\nid: 7\ntitle: y\n---\n\n---\ntags: [internal]\n---\nText.\n',
    'second-toml.md': '+++\ntitle = "z"\n+++\n\n---\ntags: [internal\n---\nText.\n',
    'second-plain.md': '---\ntitle: w\n---\n\n---\ntags: [a]\n---\nText.\n',
  })
  const { notices } = await given.run()
  for (const name of [
    'toml',
    'late',
    'logseq',
    'mmd',
    'json',
    'bad-toml',
    'map',
    'colon',
    'tabs',
    'second',
    'second-toml',
  ]) {
    expect.soft((await neuronOf(given, `neurons/${name}.md`)).tags, name).toContain('internal')
  }
  const fileNamed = (name: string) => parseNeuronFile(fileOf(given, `neurons/${name}.md`))
  expect(fileNamed('toml')).toMatchObject({
    fields: { title: 'Toml: a' },
    extra: { date: '2024-05-01', menu: { main: '1' } },
  })
  expect(fileNamed('toml').content).toBe('Text.')
  expect(fileNamed('logseq')).toMatchObject({ fields: { aliases: ['Kiddo'] }, propertyLinks: [{ target: 'Toml: a' }] })
  expect(fileNamed('colon')).toMatchObject({
    fields: { title: 'Pay: bands', aliases: ['Wages'] },
    extra: { site: '@x', date: '2024-01-01' },
  })
  expect(fileNamed('words').fields).toMatchObject({ title: 'a', tags: ['one', 'two', 'three'] })
  expect((await neuronOf(given, 'neurons/memo.md')).tags).toEqual([])
  expect((await neuronOf(given, 'neurons/second-plain.md')).tags).toEqual([])
  expect(notices.map(({ path, line }) => `${path}:${line}`)).toEqual([
    'bad-toml.md:1',
    'colon.md:2',
    'map.md:1',
    'memo.md:2',
    'mmd.md:1',
    'second-toml.md:5',
    'second.md:6',
    'tabs.md:3',
    'words.md:4',
  ])
  expect(await given.run()).toMatchObject({ unchanged: 14 })
  expect(await errorsOf(given)).toEqual([])
})

test("another tool's audience is kept aside and reported, and hides nothing; ours hides", async () => {
  const given = await importing({
    'foreign.md': '---\ntitle: x\naudience: developers\n---\n\nText.\n',
    'map.md': '---\nAudience: {level: beginner}\n---\n\nText.\n',
    'ours.md': '---\nAudience: [curator, developers]\n---\n\nText.\n',
    'internal.md': '---\naudience: internal\n---\n\nText.\n',
    'empty.md': '---\naudience: []\n---\n\nText.\n',
  })
  const { notices } = await given.run()
  expect(notices).toEqual([
    {
      ...{ path: 'foreign.md', line: 3 },
      message:
        'The audience "developers" means nothing here and is kept as imported-audience: the default audience sees the page.',
    },
    { path: 'map.md', line: 2, message: expect.stringContaining('{"level":"beginner"}') },
  ])
  expect(parseNeuronFile(fileOf(given, 'neurons/foreign.md'))).toMatchObject({
    extra: { 'imported-audience': 'developers' },
  })
  const seenBy = async (name: string) => {
    const { seqId } = await neuronOf(given, `neurons/${name}.md`)
    const reader = { ...given.curator, role: 'reader' } as const
    return readNeuron(given.ctx, reader, { kb: 'notes', seqId }).then(
      () => true,
      () => false,
    )
  }
  const names = ['foreign', 'map', 'ours', 'internal', 'empty']
  expect(await Promise.all(names.map(seenBy))).toEqual([true, true, false, false, false])
})

test('notes in other encodings are converted to UTF-8, and said', async () => {
  const text = 'Grüße aus München, schön hier. Ça va, naïve résumé.\n'
  const given = await importing({
    'utf8-bom.md': Buffer.from(`\ufeff${text}`),
    'utf16le-bom.md': Buffer.from(`\ufeff${text}`, 'utf16le'),
    'utf16le.md': Buffer.from(text, 'utf16le'),
    'utf16be.md': Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    'latin1.md': Buffer.from(text, 'latin1'),
    'windows-1252.md': Buffer.from([...Buffer.from('It', 'latin1'), 0x92, ...Buffer.from('s a caf\xe9.\n', 'latin1')]),
    // Too large as it is, and small enough in UTF-8.
    'large.md': Buffer.from(`${'a'.repeat(600 * 1024)}\n`, 'utf16le'),
    // Twice as large in UTF-8.
    'too-large.md': Buffer.from('\xe9'.repeat(600 * 1024), 'latin1'),
  })
  const { notices, skipped, created } = await given.run()
  expect([created, skipped]).toEqual([7, [{ path: 'too-large.md', reason: 'is larger than 1008 KB' }]])
  const converted = ['large', 'latin1', 'utf16be', 'utf16le-bom', 'utf16le', 'windows-1252']
  expect(notices.map(({ path, message }) => `${path} ${message}`)).toEqual(
    converted.map((name) => `${name}.md The note was converted to UTF-8.`),
  )
  for (const name of ['utf8-bom', 'utf16le-bom', 'utf16le', 'utf16be', 'latin1']) {
    expect((await neuronOf(given, `neurons/${name}.md`)).content).toBe(text.trim())
  }
  expect((await neuronOf(given, 'neurons/windows-1252.md')).content).toBe('It’s a café.')
  expectSound(given)
})

test('links of a Dendron vault, whose label comes first, lead where they did', async () => {
  const vault = {
    'daily.md': [
      '[[The plan|proj.plan]] [[proj.plan]] [[Aim|proj.plan#aim]] `[[code|proj.plan]]` [[x|dendron://notes/proj.plan]]',
      '',
      '| a |',
      '| - |',
      '| [[In a table\\|proj.plan]] |',
      '',
      '[[proj.plan|the other way round]]',
    ].join('\n'),
    'proj.plan.md': '---\nid: abc\ntitle: Plan\n---\n\n## Aim\n',
  }
  const given = await importing({ ...vault, 'root.schema.yml': 'version: 1\n' })
  const { unresolved, notices } = await given.run()
  expect(unresolved).toEqual([])
  expect(notices).toEqual([
    { path: 'root.schema.yml', line: 1, message: 'Links are read as Dendron writes them: [[label|target]].' },
  ])
  const plan = await neuronOf(given, 'neurons/proj.plan.md')
  const { links, content } = await neuronOf(given, 'neurons/daily.md')
  expect(links).toEqual([{ type: 'cites', target: plan.seqId }])
  expect(content.split('\n')).toEqual([
    '[[proj.plan|The plan]] [[proj.plan]] [[proj.plan#aim|Aim]] `[[code|proj.plan]]` [[proj.plan|x]]',
    ...['', '| a |', '| - |', '| [[proj.plan\\|In a table]] |', '', '[[proj.plan|the other way round]]'],
  ])
  expect(await given.run()).toMatchObject({ unchanged: 2 })

  const obsidian = await importing({ ...vault, '.obsidian/app.json': '{}', 'other.schema.yml': '' })
  await obsidian.run()
  expect((await neuronOf(obsidian, 'neurons/daily.md')).content).toBe(vault['daily.md'])
})

test('blocks and names with a pipe of a Logseq graph are linked to', async () => {
  const [one, two, none] = ['1', '2', '3'].map((sign) => `6502d6b${sign}-0000-4000-8000-00000000000A`)
  const given = await importing({
    'logseq/config.edn': '{}',
    'pages/Plan.md': `- First [[Aim]] | *step*\n  id:: ${one}\n  - x`,
    'pages/Q%7CA.md': `id:: ${two}\n\n- y`,
    'pages/C# x.md': `- z\n  id:: ${none?.replace('3', '4')}\n- id:: ${none?.replace('3', '5')}\n  {{query x}}`,
    'journals/2024_01_02.md': [
      `- ((${one})) {{embed ((${one}))}} [label](((${one}))) ((${two})) ((${none})) ((${none?.replace('3', '4')})) ((${none?.replace('3', '5')}))`,
      '- [[Q|A]] [[Plan|x]] [[Plan]]',
    ].join('\n'),
  })
  const { unresolved, notices } = await given.run()
  expect(unresolved.map(({ target }) => target)).toEqual(['Aim'])
  expect(notices.map(({ path, line, message }) => `${path}:${line} ${message}`)).toEqual([
    'logseq/config.edn:1 Links are read as Logseq writes them: ((id of a block)), and names with a pipe.',
    `journals/2024_01_02.md:1 No block of the folder has the id ((${none?.toLowerCase()})).`,
  ])
  const id = one?.toLowerCase()
  const { content, links } = await neuronOf(given, 'neurons/journals/2024_01_02.md')
  expect(content.trim().split('\n')).toEqual([
    `- [[pages/Plan#^${id}|First Aim step]] ![[pages/Plan#^${id}|First Aim step]] [[pages/Plan#^${id}|label]] [[pages/Q%7CA]] ((${none})) [z](/pages/C%23%20x.md#^${none?.replace('3', '4').toLowerCase()}) [pages/C# x](/pages/C%23%20x.md#^${none?.replace('3', '5').toLowerCase()})`,
    '- [Q\\|A](/pages/Q%257CA.md) [[Plan|x]] [[Plan]]',
  ])
  expect(links.length).toBe(3)
  const plan = await neuronOf(given, 'neurons/pages/Plan.md')
  expect(plan.content.trim()).toBe(`- First [[Aim]] | *step*\n  ^${id}\n  - x`)
  expect((await neuronOf(given, 'neurons/pages/Q%7CA.md')).title).toBe('Q|A')
  expect(await errorsOf(given)).toEqual([])
  expect(await given.run()).toMatchObject({ unchanged: 4 })
  expectSound(given)
})

test('line endings stay, a byte order mark goes', async () => {
  const given = await importing({
    'crlf.md': '---\r\ncssclass: x\r\n---\r\n\r\nOne\r\nTwo\r\n',
    'bom.md': '\ufeff---\ntitle: Marked\n---\nText.\n',
    'plain-crlf.md': 'One\r\nTwo\r\n',
  })
  await given.run()
  expect(fileOf(given, 'neurons/crlf.md')).toMatch(/^---\r\ncssclass: x\r\n(?:[^\n]+\r\n)+---\r\n\r\nOne\r\nTwo$/)
  expect(fileOf(given, 'neurons/plain-crlf.md')).toMatch(/---\r\n\r\nOne\r\nTwo$/)
  expect(fileOf(given, 'neurons/bom.md').startsWith('---\n')).toBe(true)
  expect(await given.run()).toMatchObject({ created: 0, unchanged: 3 })
  expect(await neuronOf(given, 'neurons/bom.md')).toMatchObject({ title: 'Marked', content: 'Text.' })
})

test('names that some file system cannot hold are mended, reported, and still answer', async () => {
  const given = await importing({
    'Note.md': 'first',
    'note.md': 'second',
    'CON.md': 'device',
    'What: why?.md': '[[CON]] and [[Ideas: 2024/Plan]]',
    'Ideas: 2024/Plan.md': 'plan',
    'Topics/a.md': 'a',
    'topics/b.md': 'b',
    'Plain.MD': 'upper',
    'cafe\u0301.md': 'decomposed [[caf\u00e9]]',
    '🚀.md': 'launch',
  })
  const { renamed, unresolved, created } = await given.run()
  expect(created).toBe(10)
  expect(unresolved).toEqual([])
  expect(renamed.map(({ from, to }) => [from, to])).toEqual([
    ['CON.md', 'neurons/CON_.md'],
    ['Ideas: 2024/Plan.md', 'neurons/Ideas- 2024/Plan.md'],
    ['Plain.MD', 'neurons/Plain.md'],
    ['What: why?.md', 'neurons/What- why.md'],
    ['cafe\u0301.md', 'neurons/caf\u00e9.md'],
    ['note.md', 'neurons/note-2.md'],
    ['topics/b.md', 'neurons/Topics/b.md'],
  ])
  expect(filesOf(given, 'main', 'neurons')).toContain('🚀.md')
  expect(await errorsOf(given)).toEqual([])
  expectSound(given)
  const linking = await neuronOf(given, 'neurons/What- why.md')
  const [device, plan] = await Promise.all([
    neuronOf(given, 'neurons/CON_.md'),
    neuronOf(given, 'neurons/Ideas- 2024/Plan.md'),
  ])
  expect(linking.links.map(({ target }) => target)).toEqual([device.seqId, plan.seqId])
})

test('a folder without a note that can be read is an error, and leaves no attachments', async () => {
  const given = await importing({ 'a.png': 'x', 'b.PNG': 'y', 'c.mdx': '# C', '.obsidian/app.json': '{}' })
  const before = commitCount(given, 'main')
  await expect(given.run()).rejects.toThrow('The folder has no notes (.md, .markdown). Other files: 2 .png, 1 .mdx.')
  put(given.vault, 'bad.md', 'a\0b')
  rmSync(join(given.vault, '.obsidian'), { recursive: true })
  await expect(given.run()).rejects.toThrow('None of the 1 notes can be read.')
  expect(commitCount(given, 'main')).toBe(before)
})

test('what cannot be imported is skipped with the reason', async () => {
  const given = await importing({
    'good.md': 'x',
    'nul.md': 'a\0b',
    'huge.md': 'x'.repeat(1024 * 1024 + 1),
    'huge.bin': Buffer.alloc(2 * 1024 * 1024 + 1),
    '.trash/gone.md': 'x',
    'conflict.md': 'a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n',
    'lfs.png': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`,
    'node_modules/package/readme.md': 'x',
  })
  symlinkSync('/etc/hostname', join(given.vault, 'link.md'))
  const { skipped, created, notices } = await given.run()
  expect(created).toBe(2)
  expect(notices).toEqual([{ path: 'conflict.md', line: 2, message: expect.stringContaining('A conflict of a merge') }])
  expect(skipped.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
    '.trash is hidden',
    'huge.bin is larger than 2048 KB',
    'huge.md is larger than 1008 KB',
    'lfs.png is a Git LFS pointer, not the file: run git lfs pull in the folder',
    'link.md is a symbolic link',
    "node_modules is a tool's own",
    'nul.md is not text',
  ])
})

test('a name that main has already is not taken from its holder', async () => {
  const given = await importing({ 'Guide.md': 'from the folder', 'img/logo.png': 'ours', 'Docs/a.md': 'a' })
  const at = new Date()
  const files = new Map([
    ['neurons/guide.md', '---\nseqId: notes_00000001\n---\n\nfrom main\n'],
    ['neurons/img/logo.png', 'theirs'],
    ['neurons/docs/b.md', 'b'],
  ])
  await given.kb.write((staging) =>
    commitToMain(given.kb, staging, {
      files,
      subject: 'Begin',
      decided: { operator: { id: 'cli', name: 'Operator' } },
      at,
    }),
  )
  const { renamed, skipped } = await given.run()
  expect(renamed).toEqual([
    { from: 'Docs/a.md', to: 'neurons/docs/a.md' },
    { from: 'Guide.md', to: 'neurons/Guide-2.md' },
  ])
  expect(skipped).toEqual([{ path: 'img/logo.png', reason: 'has the name of another file in the knowledge base' }])
  expect(fileOf(given, 'neurons/guide.md')).toContain('from main')
  expect(fileOf(given, 'neurons/img/logo.png')).toBe('theirs')
  expect((await neuronOf(given, 'neurons/Guide-2.md')).seqId).not.toBe('notes_00000001')
})

test('a thousand notes and one take one commit a batch on each ref, with seqIds in order, and packs are rolled up', async () => {
  const given = await importing(
    Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`${String(n).padStart(4, '0')}.md`, `note ${n}`])),
  )
  const before = commitCount(given, 'main')
  const steps: [number, number][] = []
  expect(await given.run({ isAlone: true, onProgress: (...step) => steps.push(step) })).toMatchObject({
    created: 1_001,
  })
  expect(given.kb.projection.hasAllIndexes()).toBe(true)
  expect(steps).toEqual([
    [1_000, 1_001],
    [1_001, 1_001],
  ])
  expect(commitCount(given, 'main') - before).toBe(2)
  expect(commitCount(given, 'refs/ganglion/queue')).toBe(2)
  expect((await neuronOf(given, 'neurons/1000.md')).seqId).toBe('notes_00001001')
  expect((await repositoryLoad(given.gitDir)).packs).toBe(2)
  expectSound(given)
})

test('a candidate says where its note came from and who imported it', async () => {
  const given = await importing({ 'Ops/a.md': '---\ntags: [x]\n---\n\n# A\n' })
  await given.run()
  const [candidate] = candidatesOf(given)
  expect(candidate).toMatchObject({
    kind: 'external-feed',
    title: 'A',
    connector: 'import',
    target: null,
    decisions: [],
  })
  expect(candidate?.createdBy).toEqual({ id: 'cli', name: 'Operator' })
  expect(JSON.parse(candidate?.metadata ?? '')).toMatchObject({
    connector: 'import',
    filename: 'vault/Ops/a.md',
    tags: ['x'],
  })
  expect(parseNeuronFile(fileOf(given, 'neurons/Ops/a.md')).fields.candidate).toBe(candidate?.id)
})

test('a note with the name of another page is told of, with both paths', async () => {
  const given = await importing({ 'a.md': '# Plan\n', 'plan.md': '# Other\n', 'x/index.md': '', 'y/index.md': '' })
  const { notices } = await given.run()
  expect(notices).toEqual([
    {
      ...{ rule: 'same-name', severity: 'warning', path: 'neurons/plan.md', line: 1 },
      message: 'The name "plan" is also that of neurons/a.md.',
    },
  ])
})
