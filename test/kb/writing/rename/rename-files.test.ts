import { expect, test } from 'vitest'
import { pushedChanges } from '../../../../src/git/pushed-objects.ts'
import { pushToMain } from '../../../../src/kb/writing/push-main.ts'
import { openPage } from '../../../../src/pages/write/open-page.ts'
import { writePage } from '../../../../src/pages/write/write-page.ts'
import { candidateHeads } from '../../../../src/queue/heads/candidate-refs.ts'
import { readCandidate } from '../../../../src/queue/read-candidate.ts'
import { candidateIdFor } from '../../../../src/rules/candidates/candidate-id.ts'
import { nativeGit } from '../../../git/support/native-git.ts'
import { approveCandidate } from '../../../support/approve-candidate.ts'
import { type Pushing, pushing } from '../../support/push-support.ts'
import { neuronText, seq, writtenBed } from '../../support/written-neurons.ts'

/** A page that shows files of its folder in every way, and the same after a move to `c/d/`. */
const shown = [
  ['![](img/a.png)', '![](../../a/img/a.png)'],
  ['![pic](<./img/my b.png> "t")', '![pic](<../../a/img/my%20b.png> "t")'],
  ['[doc](../spec.pdf#page=2)', '[doc](../../spec.pdf#page=2)'],
  ['![[./img/a.png|300]]', '![[../../a/img/a.png|300]]'],
  ['![ref][r]', '![ref][r]'],
  // Still leads there, by its name.
  ['![[a.png]] and ![[img/a.png]]', '![[a.png]] and ![[img/a.png]]'],
  ['![](/a/img/a.png)', '![](/a/img/a.png)'],
  // Elsewhere, or no link.
  ['![](https://example.org/img/a.png) ![](data:image/png;base64,AA==)', undefined],
  ['`![](img/a.png)`', undefined],
  ['```\n![](img/a.png)\n```', undefined],
  // Led nowhere before.
  ['![](img/gone.png) ![[./gone.png]]', undefined],
  ['[r]: img/a.png', '[r]: ../../a/img/a.png'],
] as const
const before = shown.map(([text]) => `${text}\n`).join('\n')
const after = shown.map(([text, moved]) => `${moved ?? text}\n`).join('\n')

const page = (body: string) => neuronText(1, { title: 'Page' }, body)
const files = { 'a/img/a.png': 'a', 'a/img/my b.png': 'b', 'spec.pdf': 'c' }

const contentOf = (text: string) => text.slice(text.indexOf('\n---\n') + '\n---\n'.length)

test('a page that is moved by an edit of its path shows the same files, and so does what is proposed', async () => {
  const bed = await writtenBed({ ...files, 'a/b.md': page(before) })
  const { commit } = await openPage(bed.ctx, bed.curator, { kb: 'handbook', seqId: seq(1) })
  const target = { seqId: seq(1), base: commit }
  const { candidateId } = await writePage(
    bed.ctx,
    bed.curator,
    { target, path: 'neurons/c/d/b.md', changes: {} },
    { kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: false },
  )
  const { after: proposed } = await readCandidate(bed.ctx, bed.curator, candidateId)
  expect(contentOf(proposed ?? '')).toBe(after)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  await candidateHeads(kb, bed.ctx).follow()
  const head = `refs/candidates/${candidateId}/head`
  expect(contentOf(bed.native.read(head, 'neurons/c/d/b.md'))).toBe(after)

  await approveCandidate(bed.ctx, bed.curator, candidateId, {})
  expect(contentOf(bed.native.read('refs/heads/main', 'neurons/c/d/b.md'))).toBe(after)
  const { files: open = [] } = (await bed.read(1)) ?? {}
  expect([...new Set(open.map(({ path }) => path))]).toEqual([
    'neurons/a/img/a.png',
    'neurons/a/img/my b.png',
    'neurons/spec.pdf',
  ])
})

/** Takes the clone's commit onto main, as the server takes a push. @returns the page's content then. */
async function pushed({ bed, kb, from, commit, clone }: Pushing, path: string): Promise<string> {
  const to = commit()
  nativeGit(bed.gitDir, ['fetch', '--quiet', clone, to])
  await kb.sync()
  const actor = { id: 'key:c', name: 'Cleo' }
  await pushToMain(
    kb,
    {
      ...{ from, to, changes: await pushedChanges(kb.repository, from, to), behind: 'refuse' },
      ...{ approver: actor, proposer: actor, origin: { door: 'main', by: actor.id } },
    },
    bed.ctx.now,
  )
  return contentOf(bed.native.read('refs/heads/main', path))
}

test('a push that moves a page lets its links to files follow, and does not warn of them', async () => {
  const given = await pushing({ ...files, 'a/b.md': page(before) })
  given.move('neurons/a/b.md', 'neurons/c/d/b.md')
  // Those that led nowhere before.
  expect(await given.judge(given.commit())).toEqual([
    'warning neurons/c/d/b.md:27 broken-link',
    'warning neurons/c/d/b.md:27 broken-link',
  ])
  expect(await pushed(given, 'neurons/c/d/b.md')).toBe(after)
})

test('a push that moves the files with the page, or writes others in their place, is left as it is', async () => {
  const text = '![](img/a.png) ![[./img/b.png]]\n'
  const given = await pushing({ 'a/img/a.png': 'a', 'a/img/b.png': 'b', 'a/b.md': page(text) })
  given.move('neurons/a/b.md', 'neurons/c/b.md')
  given.move('neurons/a/img/a.png', 'neurons/c/img/a.png')
  given.put('neurons/c/img/b.png', 'another')
  expect(await pushed(given, 'neurons/c/b.md')).toBe(text)
})

test('a push whose pusher has adapted the links already is left as it is', async () => {
  const given = await pushing({ 'a/b/x.png': '1', 'a/b/b/x.png': '2', 'a/b/p.md': page('![](x.png) ![](b/x.png)\n') })
  given.move('neurons/a/b/p.md', 'neurons/a/p.md')
  given.put('neurons/a/p.md', page('![](b/x.png) ![](b/b/x.png)\n'))
  expect(await pushed(given, 'neurons/a/p.md')).toBe('![](b/x.png) ![](b/b/x.png)\n')
})

test('where a pusher has changed links and path together, only links that lead nowhere follow', async () => {
  const given = await pushing({
    'a/x.png': '1',
    'a/y.png': '2',
    'c/x.png': '3',
    'a/p.md': page('![](./x.png) ![](./y.png)\n'),
  })
  given.move('neurons/a/p.md', 'neurons/c/p.md')
  given.put('neurons/c/p.md', page('![](./x.png) twice ![](./x.png) ![](./y.png)\n'))
  expect(await pushed(given, 'neurons/c/p.md')).toBe('![](./x.png) twice ![](./x.png) ![](../a/y.png)\n')
})

test('a link that would show another file of the same name follows its own', async () => {
  const given = await pushing({ 'a/x.png': '1', 'c/x.png': '2', 'a/p.md': page('![](x.png) ![[x.png]]\n') })
  given.move('neurons/a/p.md', 'neurons/c/p.md')
  expect(await pushed(given, 'neurons/c/p.md')).toBe('![](../a/x.png) ![[../a/x.png]]\n')
})
