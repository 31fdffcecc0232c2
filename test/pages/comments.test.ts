import { expect, test } from 'vitest'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import { search } from '../../src/search/kb/search-kb.ts'
import { importing, neuronOf } from '../kb/support/import-support.ts'

const page = [
  'Pigeons carry letters.',
  '%%The zebra budget is [[Zebra plan]].%%',
  '',
  '%%',
  'zebra block',
  '%%',
  '',
  'See [[nowhere]].',
].join('\n')

test('a comment is not shown to readers, not searched and not quoted, and its links are none; curators see it', async () => {
  const given = await importing({ 'Pigeons.md': page, 'Zebra plan.md': 'Stripes.\n' })
  expect((await given.run()).unresolved.map(({ target }) => target)).toEqual(['nowhere'])
  const { ctx, curator, reader } = given
  const { seqId, content, commit, links } = await neuronOf(given, 'neurons/Pigeons.md')
  expect([content, links]).toEqual([page, []])
  for (const at of [{}, { at: commit }]) {
    const shown = await readNeuron(ctx, reader, { kb: 'notes', seqId, ...at })
    expect(shown.content.toLowerCase()).not.toContain('zebra')
    expect(shown).toMatchObject({ links: [], unresolved: [{ target: 'nowhere', line: 8 }] })
    expect(shown.content.split('\n')[7]).toBe('See [[nowhere]].')
  }
  const plan = await neuronOf(given, 'neurons/Zebra plan.md')
  expect(plan.backlinks).toEqual([])
  for (const caller of [reader, curator]) {
    const found = await search(ctx, caller, 'notes', { q: 'zebra', kind: 'all', limit: 10 })
    expect(found.documents.map((hit) => hit.seqId)).toEqual([plan.seqId])
    const answer = await retrieve(ctx, caller, 'notes', {
      query: 'pigeons zebra budget',
      audience: 'tool',
      maxChars: 2000,
      topK: 5,
    })
    expect(answer.chunks.map((chunk) => chunk.content).join('\n')).not.toMatch(/zebra (?:budget|block)/i)
  }
})

test('what takes a comment away or changes it waits for a curator, since its author may not have seen it', async () => {
  const given = await importing({ 'Pigeons.md': page })
  await given.run()
  const { ctx, curator } = given
  const { seqId } = await neuronOf(given, 'neurons/Pigeons.md')
  const app: Caller = { ...curator, id: 'key:a', role: 'app' }
  const { content } = await readNeuron(ctx, app, { kb: 'notes', seqId })
  const correct = (text: string) =>
    submitCandidate(ctx, app, {
      ...{ knowledgeBaseId: 'notes', kind: 'user-correction', title: 'Pigeons', confidence: 1, impactEstimate: null },
      ...{ content: text, metadata: JSON.stringify({ targetNeuron: seqId }) },
    })
  expect(await correct(`${content}\nMore.`)).toMatchObject({ status: 'pending' })
  for (const other of [
    page.replace('budget', 'bodget'),
    page.replace('zebra block', 'xxxxxxxxxxxxx'),
    `${content}\n%%${'x'.repeat(99)}%%`,
  ])
    expect(await correct(other)).toMatchObject({ status: 'pending' })
  expect((await neuronOf(given, 'neurons/Pigeons.md')).content).toBe(page)
  expect(await correct(`${page}\nMore.`)).toMatchObject({ status: 'approved' })
})
