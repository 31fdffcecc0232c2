import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import type { Product } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approve, approved, candidates, correctionOf, neuron, soundProduct, submitted } from './git-support.ts'

const main = 'refs/heads/main'
const submit = ['-o', 'submit', 'HEAD:refs/for/main']
const seq = (number: number) => `handbook_${String(number).padStart(8, '0')}`
const body = 'One.\n\nTwo.\n\nThree.'

/** A Neuron, a clone that has it, and a second clone of the same curator. */
async function behind(): Promise<{ product: Product; path: string; ours: Clone; theirs: Clone }> {
  const product = await soundProduct()
  await approved(product, 'Policy', body)
  const ours = await Clone.of(product, product.tokens.curator)
  const theirs = await Clone.of(product, await product.newKey('acme', 'curator'))
  return { product, path: await ours.git('ls-files', 'neurons'), ours, theirs }
}

/** The titles and texts of every Neuron, by path in the repository. */
function pagesOf({ gitDir }: Product): Record<string, string> {
  const paths = nativeGit(gitDir, ['ls-tree', '-r', '--name-only', main, 'neurons']).split('\n').filter(Boolean)
  return Object.fromEntries(
    paths.map((path) => {
      const { fields, content } = parseNeuronFile(`${nativeGit(gitDir, ['show', `${main}:${path}`])}\n`)
      return [path, `${fields.seqId} ${fields.title}: ${content}`]
    }),
  )
}

test('what is submitted is merged with what main has got meanwhile, and approved by the pusher', async () => {
  const { product, path, ours, theirs } = await behind()
  await theirs.commit({ [path]: theirs.read(path).replace('Three.', 'Three!').replace('title:', 'tags: [hr]\ntitle:') })
  expect((await theirs.push('main')).code).toBe(0)
  const added = await approved(product, 'By the API', 'Meanwhile.')
  const pushed = await ours.commit({
    [path]: ours.read(path).replace('One.', 'One!').replace('title: Policy', 'title: Policies'),
    'neurons/mine.md': page('Mine', 'New.'),
    'assets/logo.txt': 'A logo.\n',
  })

  const { code, stderr } = await ours.push(...submit)

  expect([code, stderr]).toEqual([0, expect.stringMatching(/updated handbook_00000001 "Policies"[\s\S]*git pull/)])
  expect((await neuron(product, seq(1))).body).toMatchObject({
    title: 'Policies',
    content: 'One!\n\nTwo.\n\nThree!',
    tags: ['hr'],
    version: 3,
  })
  expect((await neuron(product, added)).status).toBe(200)
  expect((await neuron(product, seq(3))).body).toMatchObject({ title: 'Mine', version: 1 })
  expect(nativeGit(product.gitDir, ['show', `${main}:assets/logo.txt`])).toBe('A logo.')
  expect(
    nativeGit(product.gitDir, ['log', '-1', '--format=%an|%P|%(trailers:key=Approved-By,valueonly)', main]),
  ).toMatch(new RegExp(`^curator\\|[0-9a-f]{40} ${pushed}\\|curator <key:`))
  expect(await candidates(product, 'pending')).toEqual([])
  expect(await candidates(product, 'approved')).toHaveLength(5)
  expect((await ours.run('pull', '--ff-only', '--quiet')).code).toBe(0)
  expect(ours.read('neurons/mine.md')).toContain(`seqId: ${seq(3)}`)
})

test('a second push without a pull goes on from the first, whatever main made of it', async () => {
  const { product, path, ours, theirs } = await behind()
  await theirs.commit({ 'neurons/new.md': page('Theirs', 'First there.') })
  expect((await theirs.push('main')).code).toBe(0)
  await ours.commit({ 'neurons/new.md': page('Ours', 'Text.\n\nMore.'), 'neurons/gone.md': page('Gone', 'Soon.') })
  expect((await ours.push(...submit)).stderr).toContain(
    'neurons/new.md was taken meanwhile: the page is neurons/new-2.md',
  )

  await ours.commit({ 'neurons/new.md': page('Ours', 'Text!\n\nMore.') })
  expect((await ours.push(...submit)).stderr).toContain(`updated ${seq(4)} "Ours"`)
  await theirs.git('pull', '--quiet')
  await theirs.commit({ 'neurons/new-2.md': theirs.read('neurons/new-2.md').replace('More.', 'More!') })
  expect((await theirs.push('main')).code).toBe(0)
  ours.remove('neurons/gone.md')
  await ours.commit({
    [path]: ours.read(path).replace('One.', 'One!'),
    'neurons/new.md': page('Our page', 'Text!\n\nMore.'),
  })
  expect((await ours.push(...submit)).stderr).toContain(`removed ${seq(3)} "Gone"`)
  expect((await ours.push(...submit)).stderr).toContain('main holds it already')

  expect(pagesOf(product)).toEqual({
    [path]: `${seq(1)} Policy: One!\n\nTwo.\n\nThree.`,
    'neurons/new.md': `${seq(2)} Theirs: First there.`,
    'neurons/new-2.md': `${seq(4)} Our page: Text!\n\nMore!`,
  })
  expect((await neuron(product, seq(4))).body).toMatchObject({ version: 4 })
  expect((await ours.run('pull', '--ff-only', '--quiet')).code).toBe(0)
})

test('a page that was submitted, and is moved and edited before a pull, is the same Neuron', async () => {
  const { product, path, ours } = await behind()
  const text = 'When a very important customer calls about a broken thing, page the lead at once.'
  await ours.commit({ 'neurons/a.md': page('A', text), 'neurons/b.md': page('B', 'Short.') })
  expect((await ours.push(...submit)).code).toBe(0)
  await ours.git('mv', 'neurons/b.md', 'neurons/moved-b.md')
  await ours.git('mv', 'neurons/a.md', 'neurons/moved-a.md')
  await ours.commit({ 'neurons/moved-a.md': page('A', `${text} Then write it down.`) })

  expect((await ours.push(...submit)).code).toBe(0)

  expect(pagesOf(product)).toEqual({
    [path]: `${seq(1)} Policy: ${body}`,
    'neurons/moved-a.md': `${seq(2)} A: ${text} Then write it down.`,
    'neurons/moved-b.md': `${seq(3)} B: Short.`,
  })
})

test('what main has already is recognised, in whatever form: proposed and approved, amended, or taken by another', async () => {
  const { product, path, ours, theirs } = await behind()
  await ours.commit({ 'neurons/new.md': page('New', 'Text.\n\nMore.') })
  expect((await ours.push('HEAD:refs/for/main')).code).toBe(0)
  const [proposal] = await candidates(product, 'pending')
  expect((await approve(product, String(proposal?.candidateId))).status).toBe(200)
  const head = nativeGit(product.gitDir, ['rev-parse', main])
  expect((await ours.push(...submit)).stderr).toContain('main has all of it already')
  expect(nativeGit(product.gitDir, ['rev-parse', main])).toBe(head)

  await ours.commit({ 'neurons/new.md': page('New', 'Text!\n\nMore.') })
  await ours.git('reset', '--quiet', '--soft', 'origin/main')
  await ours.git('commit', '--quiet', '-m', 'Squashed')
  expect((await ours.push(...submit)).stderr).toContain(`updated ${seq(2)} "New"`)
  await theirs.commit({ 'neurons/new.md': page('New', 'Text!\n\nMore.') }, 'The same, as a patch')
  expect((await theirs.push(...submit)).stderr).toContain('main has all of it already')
  await ours.git('commit', '--quiet', '--amend', '-m', 'Another message')
  await ours.commit({ 'neurons/new.md': page('New', 'Text!\n\nMore!') }, 'More')
  expect((await ours.push(...submit)).code).toBe(0)

  expect(pagesOf(product)).toEqual({
    [path]: `${seq(1)} Policy: ${body}`,
    'neurons/new.md': `${seq(2)} New: Text!\n\nMore!`,
  })
})

test('the head of a candidate that the API has approved meanwhile is merged into what it became', async () => {
  const { product, ours } = await behind()
  const id = await submitted(product, 'Fresh', 'One.\n\nTwo.')
  await ours.git('fetch', '--quiet', 'origin', `refs/candidates/${id}/head`)
  await ours.git('merge', '--quiet', 'FETCH_HEAD')
  const path = await ours.git('ls-files', 'neurons/*fresh*')
  await ours.commit({ [path]: ours.read(path).replace('Two.', 'Two!') })
  expect((await approve(product, id)).status).toBe(200)

  expect((await ours.push(...submit)).stderr).toContain(`updated ${seq(2)} "Fresh"`)

  expect(Object.keys(pagesOf(product))).toHaveLength(2)
  expect((await neuron(product, seq(2))).body).toMatchObject({ content: 'One.\n\nTwo!', version: 2 })
})

test('real conflicts are refused with file and reason, and change nothing', async () => {
  const { product, path, ours, theirs } = await behind()
  const other = await approved(product, 'Other', 'Text.')
  const third = await approved(product, 'Third', 'Text.')
  for (const clone of [ours, theirs]) await clone.git('pull', '--quiet')
  const [otherPath, thirdPath] = [await ours.git('ls-files', '*other*'), await ours.git('ls-files', '*third*')]
  await theirs.git('mv', thirdPath, 'neurons/their-third.md')
  theirs.write('notes.txt', 'theirs\n')
  theirs.remove(otherPath)
  await theirs.commit({ [path]: theirs.read(path).replace('Two.', 'Two, theirs.') })
  expect((await theirs.push('main')).code).toBe(0)
  await ours.git('mv', thirdPath, 'neurons/our-third.md')
  ours.write('notes.txt', 'ours\n')
  await ours.commit({
    [path]: ours.read(path).replace('Two.', 'Two, ours.'),
    [otherPath]: ours.read(otherPath).replace('Text.', 'Edited.'),
    'neurons/fine.md': page('Fine', 'Fine.'),
  })
  const refs = nativeGit(product.gitDir, ['for-each-ref'])

  const { code, stderr } = await ours.push(...submit)

  expect(code).toBe(1)
  expect(stderr).toMatch(
    new RegExp(`remote: ${path}:\\d+: It conflicts with main, which has "Two, theirs." there, and you "Two, ours.".`),
  )
  expect(stderr).toContain(`${otherPath}:1: Main has removed the page since.`)
  expect(stderr).toContain('neurons/our-third.md:1: Main has moved the page to neurons/their-third.md since.')
  expect(stderr).toContain('notes.txt:1: Main has changed the file since, in the same place.')
  expect(nativeGit(product.gitDir, ['for-each-ref'])).toBe(refs)
  expect(await candidates(product, 'pending')).toEqual([])
  expect([(await neuron(product, other)).status, (await neuron(product, third)).status]).toEqual([404, 200])

  await ours.git('reset', '--quiet', '--hard', 'origin/main')
  ours.remove(path)
  await ours.commit({})
  expect((await ours.push(...submit)).stderr).toContain(
    `${path}:1: You remove the page, and main has changed it since.`,
  )
})

test('a clone that is set to submit does so with a plain git push', async () => {
  const { product, path, ours, theirs } = await behind()
  await ours.git('config', '--add', 'remote.origin.push', 'HEAD:refs/for/main')
  await ours.git('config', '--add', 'push.pushOption', 'submit')
  await theirs.commit({ 'neurons/theirs.md': page('Theirs', 'Text.') })
  expect((await theirs.push('main')).code).toBe(0)
  for (const number of [1, 2]) {
    await ours.commit({ [path]: ours.read(path).replace(/One.*/, `One, ${number}.`) })
    expect((await ours.run('push')).code).toBe(0)
  }
  expect((await neuron(product, seq(1))).body).toMatchObject({ content: 'One, 2.\n\nTwo.\n\nThree.', version: 3 })
  await ours.commit({ [path]: ours.read(path).replace('Two.', 'Two, proposed.') })
  expect((await ours.run('-c', 'push.pushOption=', 'push')).stderr).toContain('new "Policy"')
  expect((await neuron(product, seq(1))).body).toMatchObject({ version: 3 })
})

test('a protected main takes no submission, nor a topic with one, and an app key none at all', async () => {
  const { product, path, ours } = await behind()
  await ours.commit({ [path]: ours.read(path).replace('One.', 'One!') })
  expect((await ours.push('-o', 'topic=x', ...submit)).stderr).toContain('with submit or with a topic')
  const reader = await Clone.of(product, await product.newKey('acme', 'app', [], null, 'all'))
  expect((await reader.push(...submit)).stderr).toContain('403')
  const other = await Clone.of(product, product.tokens.curator)
  await other.commit({ 'kb.yaml': other.read('kb.yaml').replace('protectMain: false', 'protectMain: true') })
  expect((await other.push(...submit)).code).toBe(0)
  expect((await ours.push(...submit)).stderr).toContain('takes no direct pushes')
})

test('pushes from clones that never pull all get in while the API writes without a pause', async () => {
  const product = await soundProduct()
  const pages = 'abc'.split('').map((name) => [`neurons/${name}.md`, page(name, 'One.\n\nTwo.\n\nThree.')])
  const first = await Clone.of(product, product.tokens.curator)
  await first.commit(Object.fromEntries(pages))
  expect((await first.push('main')).code).toBe(0)
  const clones = await Promise.all([0, 1, 2].map(() => Clone.of(product, product.tokens.curator)))
  const shared = 'neurons/a.md'

  let writing = true
  let written = 0
  const writer = (async () => {
    while (writing) {
      const content = `One, ${written}.\n\nTwo.\n\nThree.`
      const id = await submitted(product, 'b', content, correctionOf(seq(2)))
      expect((await approve(product, id)).status).toBe(200)
      await approved(product, `By the API ${written}`, 'Text.')
      written++
    }
  })()
  const rounds = 3
  const failures: string[] = []
  await Promise.all(
    clones.map(async (clone, who) => {
      for (let round = 0; round < rounds; round++) {
        const line = ['One', 'Two', 'Three'][who] ?? ''
        const text = clone.read(shared).replace(new RegExp(`${line}.*`), `${line}, by ${who} in ${round}.`)
        await clone.commit({
          [shared]: text,
          [`neurons/${who}-${round}.md`]: page(`${who} ${round}`, `Text ${round}.`),
        })
        const { code, stderr } = await clone.push(...submit)
        if (code !== 0) failures.push(stderr)
      }
    }),
  )
  writing = false
  await writer

  expect(failures).toEqual([])
  expect(written).toBeGreaterThan(0)
  expect((await neuron(product, seq(1))).body).toMatchObject({
    version: 1 + 3 * rounds,
    content: 'One, by 0 in 2.\n\nTwo, by 1 in 2.\n\nThree, by 2 in 2.',
  })
  const titles = Object.values(pagesOf(product)).map((text) => text.replace(/^\S+ (.*?): [\s\S]*$/, '$1'))
  expect(new Set(titles).size).toBe(titles.length)
  expect(titles).toHaveLength(3 + 3 * rounds + written)
  expect(await candidates(product, 'pending')).toEqual([])
})
