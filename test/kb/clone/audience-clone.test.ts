import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { audienceClone } from '../../../src/kb/clone/audience-clone.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { restore } from '../../../src/operate/backup/restore.ts'
import { rebuild } from '../../../src/operate/rebuild.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { fc, runs } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { addSource } from '../support/ingest-support.ts'
import { correction } from '../support/test-bed.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../support/written-neurons.ts'

const main = 'refs/heads/main'

async function cloneOf({ ctx, curator }: WrittenBed, audience: 'public' | 'tool' | 'student' = 'public') {
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const dir = await audienceClone(ctx, kb, audience)
  const git = (...args: string[]) => nativeGit(dir, args)
  return { dir, git }
}

/** The files of a clone, and of every commit of it. */
function filesIn(git: (...args: string[]) => string, commit = main): string[] {
  return git('for-each-ref', main) === '' ? [] : git('ls-tree', '-r', '--name-only', commit).split('\n')
}

/** All that any object of a clone says. */
function bytesIn(git: (...args: string[]) => string): string {
  return git('cat-file', '--batch', '--batch-all-objects', '--unordered')
}

test('a clone shows what its audience sees, and follows main', async () => {
  const bed = await writtenBed({
    'a.md': neuronText(1, { title: 'A', audience: ['public'] }, 'Open ![](pic.svg)\n'),
    'b.md': neuronText(2, { title: 'B', audience: ['tool'] }, 'For tools\n'),
    'c.md': neuronText(3, { title: 'C', audience: ['public'], tags: ['internal'] }, 'Closed ![](closed.svg)\n'),
    'pic.svg': '<svg/>',
    'closed.svg': '<svg>closed</svg>',
  })
  const { git } = await cloneOf(bed)
  expect(filesIn(git)).toEqual(['neurons/a.md', 'neurons/pic.svg'])
  expect(git('show', `${main}:neurons/a.md`)).toBe('---\nseqId: handbook_00000001\ntitle: A\n---\n\nOpen ![](pic.svg)')
  expect(git('log', '-1', '--format=%B', main)).toContain(`Main-Commit: ${bed.native.git('rev-parse', main)}`)
  expect(filesIn((await cloneOf(bed, 'tool')).git)).toEqual(['neurons/a.md', 'neurons/b.md', 'neurons/pic.svg'])
  expect(filesIn((await cloneOf(bed, 'student')).git)).toEqual([])

  const first = git('rev-parse', main)
  bed.write({
    'a.md': null,
    'moved/a.md': neuronText(1, { title: 'A "2"', audience: ['public'] }, '![](../pic.svg)\n'),
  })
  bed.write({ 'c.md': neuronText(3, { title: 'C', tags: ['internal'] }, 'Still closed\n') })
  const { git: later } = await cloneOf(bed)
  expect(filesIn(later)).toEqual(['neurons/moved/a.md', 'neurons/pic.svg'])
  expect(later('log', '--format=%s', main)).toMatch(/^Change A "2"\n/)
  expect(later('rev-parse', `${main}^`)).toBe(first)
  later('fsck', '--strict')
})

test('what is hidden is in no object of a clone, and what was hidden then is not in its past', async () => {
  const shown = { title: 'Secret', audience: ['public'] }
  const bed = await writtenBed({
    'other.md': neuronText(2, { title: 'Other', audience: ['public'] }, 'Plain\n'),
    'page.md': neuronText(1, shown, 'first words\n'),
  })
  await cloneOf(bed)
  bed.write({ 'page.md': neuronText(1, { ...shown, tags: ['internal'] }, 'second words\n') })
  const hidden = await cloneOf(bed)
  expect(filesIn(hidden.git)).toEqual(['neurons/other.md'])
  expect(bytesIn(hidden.git)).not.toMatch(/Secret|words/)
  bed.write({ 'page.md': neuronText(1, shown, 'third words\n') })
  const { git } = await cloneOf(bed)
  expect(bytesIn(git)).toContain('first words')
  expect(bytesIn(git)).not.toContain('second words')
  expect(bytesIn(git)).toContain('third words')
})

test('comments of curators are in no object of a clone', async () => {
  const page = (body: string) => neuronText(1, { title: 'A', audience: ['public'] }, body)
  const bed = await writtenBed({ 'a.md': page('One %%a quiet word%% line.\n\n%%\nanother word\n%%\n\nLast.\n') })
  await cloneOf(bed)
  bed.write({ 'a.md': page('One line.\n\n%% a third word') })
  const { git } = await cloneOf(bed)
  expect(bytesIn(git)).not.toContain('word')
  expect(git('show', `${main}^:neurons/a.md`)).toBe(
    '---\nseqId: handbook_00000001\ntitle: A\n---\n\nOne  line.\n\n\n\n\n\nLast.',
  )
  git('fsck', '--strict')
})

test('of the front matter of a page a clone holds what the API shows, and keys that kb.yaml publishes', async () => {
  const front = [
    `seqId: ${seq(1)}`,
    'title: A # quiet comment',
    'audience: [public]',
    'aliases: [Former]',
    `metadata: '{"model":"quiet"}'`,
    'connector: quiet',
    'status: draft',
    'owner: ann@example.com',
    'x-private: quiet',
  ]
  const bed = await writtenBed({ 'a.md': `---\n${front.join('\n')}\n---\n\nText.\n` })
  const shownBy = ({ git }: Awaited<ReturnType<typeof cloneOf>>) => git('show', `${main}:neurons/a.md`).split('\n')
  const [first, ...rest] = ['---', `seqId: ${seq(1)}`, 'title: A', 'owner: ann@example.com', '---', '', 'Text.']
  expect(shownBy(await cloneOf(bed))).toEqual([first, ...rest])
  expect(await bed.read(1, bed.reader)).not.toHaveProperty('properties')

  const settings = bed.native.read(main, 'kb.yaml')
  bed.native.commit(main, new Map([['kb.yaml', `${settings}\npublish:\n  keys: [status, aliases, none]\n`]]))
  const published = [...rest.slice(0, 3), 'status: draft', 'aliases: [Former]', ...rest.slice(3)]
  expect(shownBy(await cloneOf(bed))).toEqual([first, ...published])
  expect(await bed.read(1, bed.reader)).toHaveProperty('properties', { status: 'draft', aliases: ['Former'] })
  bed.native.commit(main, new Map([['kb.yaml', settings]]))
  const { git } = await cloneOf(bed)
  expect(bytesIn(git)).not.toMatch(/draft|Former|quiet/)
})

test('a clone names a Source only while its audience may know of it', async () => {
  const bed = await writtenBed()
  const source = await addSource(bed.ctx, { kbId: bed.kbId, filename: 'plan.pdf' })
  const other = await addSource(bed.ctx, { kbId: bed.kbId, filename: 'other.pdf' })
  const read = async (id: string, tags: string, minute: number) =>
    bed.ctx.sources.change(id, ['ready'], { tags, extractedAt: `2026-01-01T00:0${minute}:00.000Z` })
  await read(source.id, '', 0)
  const front = `seqId: ${seq(1)}\nsources:\n  - { id: ${source.id}, filename: plan.pdf, page: "3" }\n`
  bed.write({ 'a.md': `---\n${front}verified: { at: 2026-01-01, edition: ${source.id} }\n---\n\nText.\n` })
  const named = async () => {
    const shown = await bed.read(1, bed.reader)
    const bytes = bytesIn((await cloneOf(bed)).git)
    expect(bytes.includes('plan.pdf')).toBe(shown?.sources !== undefined)
    expect(bytes.includes(source.id)).toBe(shown?.verified?.edition !== undefined)
    return shown?.sources?.map(({ filename }) => filename)
  }
  expect(await named()).toEqual(['plan.pdf'])
  await read(other.id, 'internal', 1)
  expect(await named()).toEqual(['plan.pdf'])
  await read(source.id, 'internal', 2)
  expect(await named()).toBeUndefined()
  await read(source.id, '', 3)
  expect(await named()).toEqual(['plan.pdf'])
  // The server forgets an archived Source after a while, and cannot tell then whether it was internal.
  await bed.ctx.sources.remove(source)
  expect(await named()).toBeUndefined()
  expect((await bed.read(1, bed.curator))?.sources).toHaveLength(1)
})

test('a clone that was made by an earlier rule is rebuilt', async () => {
  const bed = await writtenBed({ 'a.md': open(1, 'First\n') })
  const { dir } = await cloneOf(bed)
  const [state, madeAt] = [join(dir, 'ganglion.json'), statSync(dir).ino]
  writeFileSync(state, readFileSync(state, 'utf8').replace('from the fields', 'from the bytes'))
  expect(statSync((await cloneOf(bed)).dir).ino).not.toBe(madeAt)
})

test('a picture that a page shows later is in the clone since it came', async () => {
  const page = (body: string) => neuronText(1, { title: 'A', audience: ['public'] }, body)
  const bed = await writtenBed({ 'a.md': page('Plain\n'), 'pic.svg': '<svg/>' })
  expect(filesIn((await cloneOf(bed)).git)).toEqual(['neurons/a.md'])
  bed.write({ 'a.md': page('![](pic.svg)\n') })
  const { git } = await cloneOf(bed)
  expect(filesIn(git)).toEqual(['neurons/a.md', 'neurons/pic.svg'])
  bed.write({ 'pic.svg': '<svg>other</svg>' })
  const replaced = await cloneOf(bed)
  expect(replaced.git('show', `${main}:neurons/pic.svg`)).toContain('other')
  expect(bytesIn(replaced.git)).not.toContain('<svg/>')
})

const open = (number: number, body: string) => neuronText(number, { title: `T${number}`, audience: ['public'] }, body)
const hidden = (number: number, body: string) => neuronText(number, { title: `T${number}`, tags: ['internal'] }, body)

/** Damages to a clone's folder. */
const damages: Record<string, (dir: string) => void> = {
  'a state that is garbage': (dir) => writeFileSync(join(dir, 'ganglion.json'), '{"main": "'),
  'a state that was not written whole': (dir) => writeFileSync(join(dir, 'ganglion.json.new'), ''),
  'a pack that is gone': (dir) => packs(dir).forEach((pack) => void rmSync(pack)),
  'a pack that is cut off': (dir) => packs(dir).forEach((pack) => void truncateSync(pack, 40)),
  'packs that say something else': (dir) => {
    for (const pack of packs(dir)) writeFileSync(pack, readFileSync(pack).fill(0), { flag: 'r+' })
  },
  'no folder': (dir) => rmSync(dir, { recursive: true }),
  'no head': (dir) => rmSync(join(dir, 'refs/heads/main')),
  'what a killed process left': (dir) => {
    mkdirSync(`${dir}-import-x/objects`, { recursive: true })
    mkdirSync(`${dir}-x`)
    writeFileSync(join(dir, 'objects/pack/tmp_pack_x'), 'x')
  },
}

function packs(dir: string): string[] {
  const folder = join(dir, 'objects/pack')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(folder, name))
}

test.each(Object.keys(damages))('a clone with %s is made anew', async (damage) => {
  const bed = await writtenBed({ 'a.md': open(1, 'First\n') })
  const { dir } = await cloneOf(bed)
  for (const path of packs(dir)) chmodSync(path, 0o600)
  damages[damage]?.(dir)
  bed.write({ 'b.md': open(2, 'Second\n') })
  const { git } = await cloneOf(bed)
  expect(filesIn(git)).toEqual(['neurons/a.md', 'neurons/b.md'])
  git('fsck', '--strict')
  expect(readdirSync(dirname(dir)).sort()).toEqual(['public.git', 'public.git.lock'])
})

test('a clone that a crash left with more than it knows of holds nothing that was hidden since', async () => {
  const bed = await writtenBed({ 'a.md': open(1, 'First\n') })
  const { dir } = await cloneOf(bed)
  const before = readFileSync(join(dir, 'ganglion.json'))
  bed.write({ 'b.md': open(2, 'Open for now\n') })
  await cloneOf(bed)
  writeFileSync(join(dir, 'ganglion.json'), before)
  bed.write({ 'b.md': hidden(2, 'Closed\n') })
  expect(bytesIn((await cloneOf(bed)).git)).not.toContain('Open for now')
})

test('a knowledge base without a visible page has an empty clone', async () => {
  const bed = await writtenBed({ 'a.md': hidden(1, 'Closed\n') })
  const { dir, git } = await cloneOf(bed)
  expect([git('for-each-ref'), bytesIn(git)]).toEqual(['', ''])
  nativeGit(dir, ['clone', '--quiet', dir, `${dir}-copy`])
  bed.write({ 'a.md': open(1, 'Open\n') })
  expect(filesIn((await cloneOf(bed)).git)).toEqual(['neurons/a.md'])
  bed.write({ 'a.md': hidden(1, 'Closed again\n') })
  expect(bytesIn((await cloneOf(bed)).git)).toBe('')
})

test('names of any kind, links and executables come as they are, or not at all', async () => {
  const names = [
    'it\'s "quoted" \\ here',
    'tab\there',
    'line\nbreak',
    'naïve ünïcödé 🎉',
    '-dash',
    'a%0Ab',
    'trailing ',
    'D x',
  ]
  const files = names.map(
    (name, at) =>
      [
        `${name}.md`,
        neuronText(at + 1, { title: `${name}\nMain-Commit: x`, audience: ['public'] }, `![[${at}.svg]]\n`),
      ] as const,
  )
  const bed = await writtenBed()
  const blob = (text: string) => nativeGit(bed.gitDir, ['hash-object', '-w', '--stdin'], text)
  const entries = [
    ...files.map(([path, text]) => `100755 ${blob(text)}\tneurons/${path}`),
    ...names.map(
      (_, at) => `${at % 2 === 0 ? '100755' : '120000'} ${blob(`../../../etc/passwd${at}`)}\tneurons/${at}.svg`,
    ),
  ]
  bed.native.git('read-tree', main)
  nativeGit(bed.gitDir, ['update-index', '-z', '--index-info'], entries.map((entry) => `${entry}\0`).join(''))
  bed.native.git('update-ref', main, bed.native.git('commit-tree', bed.native.git('write-tree'), '-p', main, '-m', 'x'))
  const { git } = await cloneOf(bed)
  const listed = git('ls-tree', '-r', '-z', main)
    .split('\0')
    .flatMap((entry) => (entry === '' ? [] : [entry.replace(/ blob [0-9a-f]+\t/, ' ')]))
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const pages = kb.projection.read.all`SELECT path FROM neurons`.map(({ path }) => String(path))
  expect(pages.length).toBeGreaterThan(5)
  expect(listed.sort()).toEqual(
    [...pages, ...[0, 2, 4, 6].map((at) => `neurons/${at}.svg`)].map((path) => `100644 ${path}`).sort(),
  )
  expect(git('log', '--format=%(trailers:key=Main-Commit,valueonly)', main)).toMatch(/^[0-9a-f]{40}$/)
})

test('a rename and a rebuild give the same clone, a backup has none, and what is restored gives the same', async () => {
  const bed = await writtenBed({ 'a.md': open(1, 'First\n'), 'b.md': hidden(2, 'Closed\n') })
  const { dir, git } = await cloneOf(bed)
  const head = git('rev-parse', main)
  const madeAt = statSync(dir).ino
  await bed.ctx.knowledgeBases.setSlug({ id: bed.kbId }, 'manual', async () => undefined)
  expect([(await cloneOf(bed)).dir, statSync(dir).ino]).toEqual([dir, madeAt])

  const copy = join(tempDir(), 'monday')
  await backup(bed.ctx, copy, { version: '1' })
  expect(
    readdirSync(copy, { recursive: true })
      .map(String)
      .filter((name) => name.includes('public')),
  ).toEqual([])
  const headIn = async (ctx: OpenContext) => {
    const kb = await ctx.kb(bed.curator.tenantId, bed.kbId)
    return nativeGit(await audienceClone(ctx, kb, 'public'), ['rev-parse', main])
  }
  const dataDir = join(tempDir(), 'data')
  await restore(copy, { dataDir })
  const restored = await openContext({ dataDir, threads })
  onTestFinished(() => restored.close())
  expect(await headIn(restored)).toBe(head)

  const reopened = await bed.reopen()
  await rebuild(reopened, await reopened.knowledgeBases.list())
  expect(existsSync(dir)).toBe(false)
  expect(await headIn(reopened)).toBe(head)
})

const places = { 1: ['a.md', 'x/a.md', 'c.md'], 2: ['b.md', 'x/b.md', 'c.md'], 3: ['x/y.md', 'a.md', 'c.md'] } as const
const pictures = ['p.svg', 'x/q.svg']
const aStep = fc.record({
  number: fc.constantFrom(1, 2, 3),
  place: fc.constantFrom(0, 0, 1, 2),
  audience: fc.constantFrom('public', 'public', 'curator', 'default'),
  hiding: fc.constantFrom('', '', '', 'tag', 'text'),
  picture: fc.constantFrom('', 'p.svg', 'x/q.svg', 'q.svg'),
  put: fc.constantFrom('', ...pictures),
  act: fc.constantFrom('write', 'write', 'write', 'write', 'remove', 'settings', 'approve', 'reopen'),
  isLooked: fc.constantFrom(true, true, false),
})

type Version = { number: number; marker: string; isTagged: boolean; isHidden: boolean; audience: string }

test('over any history a clone holds what is shown and was then, no hidden byte, and is the same made anew', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 12 }), async (steps) => {
      const bed = await writtenBed()
      let ctx = bed.ctx
      const own = bed.native.read(main, 'kb.yaml').replace('rewriteLinks: false', 'rewriteLinks: true')
      const settings = own.replace(/^(defaultAudience:.*\n|defaultAudience:\n(?: *- .*\n)*)/m, 'inlineTags: true\n')
      const openTo = (audience: string) =>
        bed.native.commit(main, new Map([['kb.yaml', `${settings}defaultAudience: [${audience}]\n`]]))
      openTo('curator')
      const versions: Version[] = []
      /** Path of each page. */
      const paths = new Map<number, string>()
      let isOpen = false
      for (const [at, { place, number, audience, hiding, picture, put, act, isLooked }] of steps.entries()) {
        const path = places[number as 1 | 2 | 3][place]
        const known = paths.get(number)
        const marker = `marker-${at}-end`
        if (act === 'settings') {
          isOpen = !isOpen
          openTo(isOpen ? 'public' : 'curator')
        } else if (act === 'reopen') ctx = await bed.reopen()
        else if (act === 'remove' && known !== undefined) {
          bed.write({ [known]: null })
          paths.delete(number)
        } else if (act === 'approve' && known !== undefined) {
          // A new title, which the links of other pages follow, and whose comments and audience stay.
          const input = correction(seq(number), `${marker} #plain [[T${number}]]\n`, { title: `T${number} ${at}` })
          const { candidateId } = await submitCandidate(ctx, bed.app, input)
          await approveCandidate(ctx, bed.curator, candidateId, {})
          const before = versions.findLast((version) => version.number === number)
          if (before) versions.push({ ...before, marker, isHidden: before.isTagged })
        } else {
          const [isTagged, isInText] = [hiding === 'tag', hiding === 'text']
          const tags = isTagged ? ['internal'] : []
          const others = [...paths].filter(([other, taken]) => other !== number && taken === path)
          for (const [other] of others) paths.delete(other)
          const links = `${picture === '' ? '' : `![](${picture})`} [[T1]] [[T2]]`
          const body = `${marker} ${links} %%quiet-${at}%%${isInText ? ' #internal/desk' : ''}\n`
          const fields = { title: `T${number}`, ...(audience !== 'default' && { audience: [audience] }), tags }
          bed.write({
            ...(known !== undefined && known !== path && { [known]: null }),
            [path]: neuronText(number, fields, body),
            ...(put === '' ? {} : { [put]: `<svg>${marker}-${put}</svg>` }),
            [`../tests/t${at}.yaml`]: `- question: quiet-${at}\n  refuses: true\n`,
          })
          paths.set(number, path)
          versions.push({ number, marker, isTagged, isHidden: isTagged || isInText, audience })
        }
        if (isLooked) await cloneOf({ ...bed, ctx })
      }
      const { dir, git } = await cloneOf({ ...bed, ctx })
      const head = git('for-each-ref', '--format=%(objectname)')
      const said = bytesIn(git)
      const isShown = ({ isHidden, audience }: Version) =>
        !isHidden && (audience === 'public' || (audience === 'default' && isOpen))
      const nowOf = (number: number) => versions.findLast((version) => version.number === number)
      for (const version of versions) {
        const now = nowOf(version.number)
        const marker = expect.stringMatching(new RegExp(`${version.marker} `))
        if (now && isShown(now) && isShown(version)) expect(said).toEqual(marker)
        else expect(said).not.toEqual(marker)
      }
      expect(said).not.toContain('quiet')
      const shown = [...paths]
        .filter(([number]) => isShown(nowOf(number) as Version))
        .map(([, path]) => `neurons/${path}`)
      expect(filesIn(git).filter((path) => path.endsWith('.md'))).toEqual(shown.sort())
      if (head !== '') git('fsck', '--strict', '--no-dangling')
      rmSync(dir, { recursive: true })
      const anew = await cloneOf({ ...bed, ctx })
      expect(anew.git('for-each-ref', '--format=%(objectname)')).toBe(head)
      await ctx.close()
    }),
    { numRuns: runs(30, 8) },
  )
})
