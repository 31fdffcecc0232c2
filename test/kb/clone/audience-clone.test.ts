import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { audienceClone } from '../../../src/kb/clone/audience-clone.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { fc } from '../../support/properties.ts'
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
  expect(git('rev-parse', `${main}:neurons/a.md`)).toBe(bed.native.git('rev-parse', `${main}:neurons/a.md`))
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

const places = { 1: ['a.md', 'x/a.md'], 2: ['b.md', 'x/b.md'] } as const
const pictures = ['p.svg', 'x/q.svg']
const aStep = fc.record({
  number: fc.constantFrom(1, 2),
  place: fc.constantFrom(0, 0, 1),
  audience: fc.constantFrom('public', 'public', 'curator', 'default'),
  isInternal: fc.constantFrom(false, false, true),
  picture: fc.constantFrom('', 'p.svg', 'x/q.svg', 'q.svg'),
  put: fc.constantFrom('', ...pictures),
  act: fc.constantFrom('write', 'write', 'write', 'remove', 'settings'),
  isLooked: fc.constantFrom(true, true, false),
})

test('over any history a clone holds no hidden byte, and is the same made anew', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 10 }), async (steps) => {
      const bed = await writtenBed()
      const texts: { number: number; marker: string; isShown: boolean }[] = []
      let isOpen = false
      for (const [at, { place, number, audience, isInternal, picture, put, act, isLooked }] of steps.entries()) {
        const [path, elsewhere] = [places[number][place], places[number][place === 0 ? 1 : 0]]
        const marker = `marker-${at}-end`
        const tags = isInternal ? ['internal'] : []
        const body = `${marker} ${picture === '' ? '' : `![](${picture})`}\n`
        if (act === 'settings') {
          isOpen = !isOpen
          const settings = bed.native
            .read(main, 'kb.yaml')
            .replace(/^(defaultAudience:.*\n|defaultAudience:\n(?: *- .*\n)*)/m, '')
          bed.native.commit(
            main,
            new Map([['kb.yaml', `${settings}defaultAudience: [${isOpen ? 'public' : 'curator'}]\n`]]),
          )
        } else if (act === 'remove') bed.write({ [path]: null, [elsewhere]: null })
        else {
          bed.write({
            [elsewhere]: null,
            [path]: neuronText(
              number,
              { title: `T${number}`, ...(audience !== 'default' && { audience: [audience] }), tags },
              body,
            ),
            ...(put === '' ? {} : { [put]: `<svg>${marker}-${put}</svg>` }),
          })
          texts.push({ number, marker, isShown: !isInternal && audience !== 'curator' })
        }
        if (isLooked) await cloneOf(bed)
      }
      const { dir, git } = await cloneOf(bed)
      const head = git('for-each-ref', '--format=%(objectname)')
      const said = bytesIn(git)
      for (const { number, marker, isShown } of texts) {
        if (!isShown) expect(said).not.toContain(`${marker} `)
        const isSeen = (await bed.read(number, { ...bed.app, role: 'reader' })) !== undefined
        const isThere = bed.native
          .paths(main, 'neurons')
          .some((path) => bed.native.read(main, path).includes(seq(number)))
        if (isThere && !isSeen) expect(said).not.toContain(`${marker} `)
      }
      if (head !== '') git('fsck', '--strict', '--no-dangling')
      rmSync(dir, { recursive: true })
      const anew = await cloneOf(bed)
      expect(anew.git('for-each-ref', '--format=%(objectname)')).toBe(head)
      await bed.ctx.close()
    }),
    { numRuns: 30 },
  )
})
