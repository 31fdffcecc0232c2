import { expect, test } from 'vitest'
import { CheckError } from '../../../src/push/clone-check/check-error.ts'
import { type DirectoryReview, reviewDirectory } from '../../../src/push/clone-check/review-directory.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { put, remove } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'

const settings = `id: 0199a5c2-0000-7000-8000-000000000000
slug: notes
prefix: notes
title: Notes
zones:
  kinds: { ingest-summary: green, chat: red }
  connectors: { feed: green }
`
const seqId = (number: number) => `notes_${String(number).padStart(8, '0')}`
const neuron = (number: number, content = 'Text.', title = `Note ${number}`) =>
  `---\nseqId: ${seqId(number)}\ntitle: ${title}\n---\n\n${content}\n`

type Files = Record<string, string | null>

/** A checkout whose first commit, tagged `base`, has these files. */
function checkoutOf(files: Files): string {
  const dir = tempDir()
  nativeGit(dir, ['init', '--quiet', '--initial-branch=main'])
  change(dir, { 'kb.yaml': settings, ...files })
  nativeGit(dir, ['tag', 'base'])
  return dir
}

function change(dir: string, files: Files, message = 'Change'): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) remove(dir, path)
    else put(dir, path, content)
  }
  nativeGit(dir, ['add', '--all'])
  nativeGit(dir, ['commit', '--quiet', '--allow-empty', '--message', message])
}

async function review(dir: string): Promise<DirectoryReview> {
  return (await reviewDirectory(dir, { base: 'base' })).review
}

test('Neurons are added, changed, moved and removed, and nothing else is told', async () => {
  const dir = checkoutOf({
    'neurons/a.md': neuron(1),
    'neurons/b.md': neuron(2),
    'neurons/c.md': neuron(3),
    'neurons/d.md': neuron(4),
    'README.md': 'Old',
    'map.png': 'png',
  })
  change(dir, {
    'neurons/a.md': neuron(1, 'Edited.'),
    'neurons/b.md': null,
    'neurons/sub/b.md': neuron(2, 'Moved and edited.'),
    'neurons/c.md': null,
    'neurons/new.md': '---\ntitle: New\n---\n\nText.\n',
    'README.md': 'New',
    'kb.yaml': `${settings}language: de\n`,
  })
  const { neurons, otherFiles } = await review(dir)
  expect(
    neurons.map(({ action, before, after, textBefore, textAfter }) => [
      action,
      before?.path,
      after?.path,
      textBefore !== '',
      textAfter !== '',
    ]),
  ).toEqual([
    ['changed', 'neurons/a.md', 'neurons/a.md', true, true],
    ['removed', 'neurons/c.md', undefined, true, false],
    ['added', undefined, 'neurons/new.md', false, true],
    ['moved', 'neurons/b.md', 'neurons/sub/b.md', true, true],
  ])
  expect(otherFiles).toEqual(['README.md', 'kb.yaml'])
})

test('links and edges that are gained, lost and broken are told', async () => {
  const dir = checkoutOf({
    'neurons/a.md': neuron(1, '[[Note 2]] and [[cites:Note 3]]'),
    'neurons/b.md': neuron(2),
    'neurons/c.md': neuron(3, 'See [[Note 2]] and [[Nowhere]].'),
  })
  change(dir, {
    'neurons/a.md': neuron(1, '[[cites:Note 3]] [[kb:other/Page]]').replace(
      'title:',
      'edges: [{ type: is-a, target: Note 3 }]\ntitle:',
    ),
    'neurons/b.md': null,
  })
  const { neurons, broken } = await review(dir)
  expect(neurons[0]).toMatchObject({
    linksGained: ['[[kb:other/Page]]', 'edge is-a: Note 3'],
    linksLost: ['[[Note 2]]'],
  })
  expect(broken).toMatchObject([
    { path: 'neurons/c.md', rule: 'broken-link', message: 'No Neuron answers to [[Note 2]].' },
  ])
})

test('duplicates are told by title, alias and text', async () => {
  const text = 'When a customer raises a ticket at night, page the lead and write down when you did it.'
  const dir = checkoutOf({
    'neurons/a.md': neuron(1, text, 'Escalation policy'),
    'neurons/b.md': neuron(2, 'Another.').replace('title:', 'aliases: [Éscalation-Policy]\ntitle:'),
  })
  change(dir, { 'neurons/c.md': neuron(3, `${text} Sleep.`, 'escalation policy') })
  const [added] = (await review(dir)).neurons
  expect(added?.sameTitle.map(({ path }) => path)).toEqual(['neurons/a.md', 'neurons/b.md'])
  expect(added?.sameText).toMatchObject([{ name: 'neurons/a.md', resemblance: expect.closeTo(0.93, 1) }])
})

const verdictsOf = async (dir: string) =>
  (await review(dir)).neurons.map(({ claim, verdict }) => [
    claim.kind,
    claim.connector,
    verdict.approve,
    verdict.reason,
  ])

test('the policy judges what the latest commit of a candidate claims, and without one a correction', async () => {
  const dir = checkoutOf({})
  const claim = (kind: string, connector: string, confidence: string) =>
    `Add\n\nCandidate: 0199a5c1\nKind: ${kind}\nConnector: ${connector}\nConfidence: ${confidence}`
  change(dir, { 'neurons/a.md': neuron(1) })
  change(dir, { 'neurons/b.md': neuron(2) }, claim('chat', 'web', '1.0'))
  change(dir, { 'neurons/c.md': neuron(3) }, claim('user-correction', 'web', '0.9'))
  change(dir, { 'neurons/d.md': neuron(4) }, claim('nonsense', 'web', '0.9'))
  change(dir, { 'neurons/e.md': neuron(5) }, claim('user-correction', 'web', '7'))
  change(dir, { 'neurons/c.md': neuron(3, 'x') }, claim('user-correction', 'web', '0.1'))
  expect(await verdictsOf(dir)).toEqual([
    ['user-correction', 'git', false, 'no confidence given'],
    ['chat', 'web', false, 'zone red'],
    ['user-correction', 'web', false, 'confidence 0.1 is below every threshold'],
    ['user-correction', 'git', false, 'no confidence given'],
    ['user-correction', 'web', false, 'no confidence given'],
  ])
})

test('a change earns no trust by what it says, and does not change the policy that judges it', async () => {
  const dir = checkoutOf({})
  const claims = 'Add\n\nCandidate: x\nKind: ingest-summary\nConnector: feed'
  change(dir, { 'kb.yaml': settings.replace('chat: red', 'user-correction: green'), 'neurons/a.md': neuron(1) }, claims)
  change(dir, { 'neurons/b.md': neuron(2) })
  expect(await verdictsOf(dir)).toEqual([
    ['ingest-summary', 'feed', false, 'no confidence given'],
    ['user-correction', 'git', false, 'no confidence given'],
  ])
  const trusted = 'Add\n\nCandidate: x\nKind: user-correction\nConnector: lint\nConfidence: 0.9'
  change(dir, { 'neurons/c.md': neuron(3) }, trusted)
  expect((await verdictsOf(dir)).at(-1)).toEqual(['user-correction', 'lint', true, 'confidence 0.9 >= 0.8'])
})

test('commits with odd paths, without files and with folded trailers are read right', async () => {
  const dir = checkoutOf({})
  const oid = 'a'.repeat(40)
  change(
    dir,
    { [`neurons/${oid}.md`]: neuron(1), [oid]: 'x', 'ü b.txt': 'x' },
    'Add\n\nCandidate: x\nKind: chat\nConnector: a\n b',
  )
  change(dir, {}, 'Nothing\n\nCandidate: y\nKind: lint-finding')
  expect(await verdictsOf(dir)).toEqual([['chat', 'a b', false, 'zone red']])
})

test('a folder without a commit or without the revision cannot be reviewed', async () => {
  const dir = tempDir()
  put(dir, 'kb.yaml', settings)
  await expect(reviewDirectory(dir, {})).rejects.toThrow(CheckError)
  nativeGit(dir, ['init', '--quiet'])
  await expect(reviewDirectory(dir, {})).rejects.toThrow(CheckError)
})
