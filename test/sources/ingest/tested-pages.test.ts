import { expect, test } from 'vitest'
import { verify } from '../../../src/operate/verify/verify.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import type { CompiledPage } from '../../../src/sources/compile/compiled.ts'
import { commitSource } from '../../../src/sources/ingest/commit-source.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'

const main = 'refs/heads/main'
const editionOf = '0199a5c1-0000-7000-8000-00000000000a'
const washing = { path: 'neurons/sources/hands-00000a/washing.md', question: 'How long do I wash my hands?' }

/** A knowledge base with an answer test, and the editions of a document with two parts. */
async function bed() {
  const test = await newTestBed()
  const { ctx, curator } = test
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const native = new NativeWriter(test.gitDir)
  const write = async (path: string, text: string) => {
    native.commit(main, new Map([[path, text]]))
    await kb.sync()
  }
  await write('tests/answers.yaml', `- question: ${washing.question}\n  contains: [twenty seconds]\n`)
  const page = (key: string, content: string): CompiledPage => {
    return { key, kind: key === 'summary' ? 'summary' : 'part', title: `Of ${key}`, content, tags: [], place: {} }
  }
  let editions = 0
  const edition = (text: string, ...more: string[]) => {
    const id = editionOf.replace(/.$/, String(editions++))
    const source = { id, filename: 'hands.md', sha256: 'ab'.repeat(32), editionOf, sourceUrl: null }
    const parts = [page('washing', text), ...more.map((one) => page('drying', one))]
    return commitSource(ctx, kb, { ...source, isWanted: async () => true }, [page('summary', 'On hands.'), ...parts])
  }
  const waiting = async () => {
    const { candidates } = await listCandidates(ctx, curator, { limit: 100, status: 'pending' })
    return candidates.map(({ title, zone, warnings }) => ({ title, zone, warnings }))
  }
  return { ...test, native, write, edition, waiting }
}

test('pages of an edition that break an answer test wait; those that break none are approved', async () => {
  const { ctx, native, write, edition, waiting } = await bed()
  expect(await edition('Wash your hands for twenty seconds.', 'Dry them.')).toMatchObject({ created: 3, pending: 0 })
  const before = native.git('rev-parse', main)

  const broken = { updated: 0, pending: 2, commit: undefined }
  expect(await edition('Wash your hands for ten minutes.', 'Dry them well.')).toMatchObject(broken)
  expect(native.git('rev-parse', main)).toBe(before)
  const warnings = [`It breaks the answer test "${washing.question}".`]
  const left = ['Of drying', 'Of washing'].map((title) => ({ title, zone: 'yellow', warnings }))
  expect((await waiting()).toSorted((a, b) => (a.title < b.title ? -1 : 1))).toEqual(left)
  expect(await edition('Wash your hands for ten minutes.', 'Dry them well.')).toMatchObject(broken)
  expect(await waiting()).toHaveLength(2)

  const outcome = await edition('Wash your hands for twenty seconds, with soap.')
  expect(outcome).toMatchObject({ updated: 1, pending: 1, commit: native.git('rev-parse', main) })
  expect(native.read(main, washing.path)).toContain('with soap')
  expect(await waiting()).toEqual([expect.objectContaining({ title: 'Of drying', warnings: [] })])

  await write('kb.yaml', native.read(main, 'kb.yaml').replace('onBreak: yellow', 'onBreak: allow'))
  expect(await edition('Wash your hands for ten minutes.')).toMatchObject({ updated: 1 })
  expect((await verify(ctx)).kbs.flatMap(({ problems }) => problems).filter(({ kind }) => kind !== 'source')).toEqual(
    [],
  )
})

test('pages are approved together as they were tested, or not at all', async () => {
  const { ctx, curator, native, edition, waiting } = await bed()
  await edition('Wash your hands for twenty seconds.', 'Dry them.')
  const before = native.git('rev-parse', main)
  const { effects } = ctx.tests
  // The part that says the answer by now is dismissed while both are tested.
  ctx.tests.effects = (...asked) =>
    effects(...asked)?.then(async (found) => {
      const { candidates } = await listCandidates(ctx, curator, { limit: 100, status: 'pending' })
      const drying = candidates.find(({ title }) => title === 'Of drying')
      if (drying) await dismissCandidate(ctx, curator, drying.candidateId, { reason: 'No.' })
      return found
    })
  const moved = ['Wash your hands.', 'How long to wash hands: wash your hands for twenty seconds.'] as const
  expect(await edition(...moved)).toMatchObject({ updated: 0, pending: 1, commit: undefined })
  expect(native.git('rev-parse', main)).toBe(before)
  expect((await waiting()).map(({ title }) => title)).toEqual(['Of washing'])
})
