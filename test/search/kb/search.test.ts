import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { ValidationError } from '../../../src/contract/errors.ts'
import { RetrieveInput } from '../../../src/contract/search.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { searchTenant } from '../../../src/search/kb/search-pages.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { happen, history } from '../../kb/support/random-history.ts'
import { candidate, correction, newTestBed, type TestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { eventually } from '../../support/eventually.ts'
import { fc, runs } from '../../support/properties.ts'

const main = 'refs/heads/main'

async function approved({ ctx, app, curator }: TestBed, title: string, content: string): Promise<string> {
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title, content }))
  return (await approveCandidate(ctx, curator, candidateId, {})).seqId
}

async function titles(ctx: OpenContext, caller: Caller, q: string): Promise<(string | null)[]> {
  const { documents } = await search(ctx, caller, 'handbook', { q, kind: 'all', limit: 50 })
  return documents.map(({ title }) => title).sort()
}

const ask = (query: string, changes: Partial<RetrieveInput> = {}) => ({ ...RetrieveInput.parse({ query }), ...changes })

test('an approval, a correction and a removal are found at once', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const seqId = await approved(bed, 'VIP policy', 'Page the lead.')
  expect(await titles(ctx, app, 'paging')).toEqual(['VIP policy'])
  const { candidateId } = await submitCandidate(ctx, app, correction(seqId, 'Call the deputy.'))
  await approveCandidate(ctx, curator, candidateId, { title: 'VIP rule' })
  expect(await titles(ctx, app, 'paging')).toEqual([])
  expect(await titles(ctx, app, 'deputy rule')).toEqual(['VIP rule'])
  const native = new NativeWriter(bed.gitDir)
  const [path = ''] = native.paths(main, 'neurons').filter((name) => name.includes('vip'))
  native.commit(main, new Map([[path, null]]))
  expect(await titles(ctx, app, 'deputy')).toEqual([])
})

test('the same question is answered from memory, for each audience, until main changes', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  await approved(bed, 'VIP policy', 'Page the lead.')
  const find = (caller: Caller) => search(ctx, caller, 'handbook', { q: 'lead', kind: 'all', limit: 50 })
  // Nothing is kept while events of the approval, or of the candidate below, are on their way.
  await eventually(async () => expect(await find(app)).toBe(await find(app)))
  const known = await find(app)
  expect(await find(curator)).not.toBe(known)
  await submitCandidate(ctx, app, candidate({ title: 'Waits', content: 'Lead.' }))
  await eventually(async () => expect(await find(app)).toBe(known))
  await approved(bed, 'Other', 'No word of it.')
  expect(await find(app)).not.toBe(known)
})

test('a push, a rename and a rewritten main are found as they are', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  await approved(bed, 'One', 'Alpha.')
  const before = native.git('rev-parse', main)
  native.commit(main, new Map([['neurons/Pushed-page.md', '---\nseqId: handbook_00000009\n---\nBeta gamma.\n']]))
  expect(await titles(bed.ctx, bed.app, 'beta')).toEqual(['Pushed-page'])
  native.commit(main, new Map([['neurons/Renamed.md', { renamedFrom: 'neurons/Pushed-page.md' }]]))
  expect(await titles(bed.ctx, bed.app, 'pushed')).toEqual([])
  expect(await titles(bed.ctx, bed.app, 'renamed')).toEqual(['Renamed'])
  native.git('update-ref', main, before)
  expect(await titles(bed.ctx, bed.app, 'renamed OR alpha')).toEqual(['One'])
})

test('a page is found by the name of its file, but not by the part of an id that the server put behind it', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  await approved(bed, 'Escalation', 'Alpha.')
  const [path = ''] = native.paths(main, 'neurons').filter((name) => name.includes('escalation'))
  const [, tail = ''] = /-([0-9a-f]{6})\.md$/.exec(path) ?? []
  expect(tail).not.toBe('')
  expect(await titles(bed.ctx, bed.app, tail)).toEqual([])
  const page = '---\nseqId: handbook_00000009\ntitle: Other\n---\nBeta.\n'
  native.commit(main, new Map([['neurons/runbook-2024ab.md', page]]))
  expect(await titles(bed.ctx, bed.app, 'runbook-2024ab')).toEqual(['Other'])
})

test('a change of the language or the engine in kb.yaml makes the index anew', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  await approved(bed, 'Bücher', 'Die Häuser stehen still.')
  expect(await titles(bed.ctx, bed.app, '"haus"')).toEqual([])
  const settings = native.read(main, 'kb.yaml')
  native.commit(
    main,
    new Map([['kb.yaml', `${settings.replace('language: en', 'language: de')}\nsearch:\n  engine: segments\n`]]),
  )
  expect(await titles(bed.ctx, bed.app, '"haus"')).toEqual(['Bücher'])
})

test('a change of the synonyms in kb.yaml changes the answers at once', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  await approved(bed, 'Clusters', 'Kubernetes runs in three zones.')
  const settings = native.read(main, 'kb.yaml')
  const withSynonyms = (groups: string) =>
    native.commit(main, new Map([['kb.yaml', `${settings}\nsearch:\n  synonyms: ${groups}\n`]]))
  expect(await titles(bed.ctx, bed.app, 'k8s')).toEqual([])
  withSynonyms('[[k8s, Kubernetes]]')
  expect(await titles(bed.ctx, bed.app, 'k8s')).toEqual(['Clusters'])
  withSynonyms('[[k8s, Docker]]')
  expect(await titles(bed.ctx, bed.app, 'k8s')).toEqual([])
})

test('the hidden is neither found nor retrieved, whatever is asked for', async () => {
  const bed = await newTestBed()
  const { ctx, app, reader, curator } = bed
  const native = new NativeWriter(bed.gitDir)
  const front = (number: number, fields: string) =>
    `---\nseqId: handbook_0000000${number}\n${fields}\n---\nThe ticket.\n`
  native.commit(
    main,
    new Map([
      ['neurons/open.md', front(1, 'title: Open')],
      ['neurons/secret.md', front(2, 'title: Secret\ntags: [internal]')],
      ['neurons/public.md', front(3, 'title: Public\naudience: [public]')],
      ['neurons/student.md', front(4, 'title: Student\naudience: [student]')],
    ]),
  )
  expect(await titles(ctx, curator, 'ticket')).toEqual(['Open', 'Public', 'Secret', 'Student'])
  for (const caller of [app, reader]) {
    expect(await titles(ctx, caller, 'ticket')).toEqual(['Open', 'Public'])
    expect(await titles(ctx, caller, 'secret')).toEqual([])
    expect(await searchTenant(ctx, caller, { kb: 'handbook', q: 'ticket', kind: 'all', limit: 1 })).toMatchObject({
      total: 2,
    })
    for (const [audience, seen] of [
      ['curator', ['Open', 'Public']],
      ['tool', ['Open', 'Public']],
      ['public', ['Open', 'Public']],
      // A reader key asks for students only if it was made for them.
      ['student', caller === app ? ['Student'] : ['Open', 'Public']],
    ] as const) {
      const { chunks } = await retrieve(ctx, caller, 'handbook', ask('the ticket', { audience }))
      expect(chunks.map(({ title }) => title).sort()).toEqual(seen)
    }
  }
  const all = await retrieve(ctx, curator, 'handbook', ask('the ticket', { audience: 'curator' }))
  expect(all.hitCount).toBe(4)
})

test('retrieve takes the filters of a search as fields', async () => {
  const bed = await newTestBed()
  const [seqId, other] = [await approved(bed, 'VIP rule', 'Page the lead.'), await approved(bed, 'Rule', 'Lead them.')]
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate({ title: 'Third', content: 'Lead us.' }))
  await approveCandidate(bed.ctx, bed.curator, candidateId, { tags: ['Team/Sales'] })
  const found = async (changes: Partial<RetrieveInput>) => {
    const { chunks } = await retrieve(bed.ctx, bed.app, 'handbook', ask('the lead', changes))
    return chunks.map(({ title }) => title).sort()
  }
  expect(await found({})).toEqual(['Rule', 'Third', 'VIP rule'])
  expect(await found({ neurons: [seqId, other], path: 'vip' })).toEqual(['VIP rule'])
  expect(await found({ tags: ['team', '#SALES'] })).toEqual([])
  expect(await found({ tags: ['team', 'team/sales'], kind: 'wiki' })).toEqual(['Third'])
  expect(await found({ kind: 'source' })).toEqual([])
  expect(await found({ updatedAfter: '2000', kind: 'all' })).toHaveLength(3)
  expect(await found({ updatedAfter: '2999-12-31T23:59:59+01:00' })).toEqual([])
  await expect(found({ tags: ['#'] })).rejects.toThrow(ValidationError)
})

test('retrieve names each chunk, keeps within its bounds, and is empty where nothing matches', async () => {
  const bed = await newTestBed()
  const content = '# On call\n\nThe lead is paged.\n\n## At night\n\nThe deputy of the lead is paged at night, too.\n'
  const seqId = await approved(bed, 'Paging', content)
  const { ctx, app } = bed
  const { chunks, formattedContext, hitCount, totalChars } = await retrieve(
    ctx,
    app,
    'handbook',
    ask('who is paged at night?'),
  )
  expect(chunks).toMatchObject([{ seqId, title: 'Paging', rank: 1, headerBreadcrumb: 'On call' }])
  expect(chunks[0]?.neuronPath).toMatch(/^[^.]*\/paging-[0-9a-f]{6}$/)
  expect(formattedContext).toBe(
    `[${seqId}] Paging > On call\n> The lead is paged.\n> ## At night\n> The deputy of the lead is paged at night, too.`,
  )
  expect(hitCount).toBe(chunks.length)
  expect(totalChars).toBe(chunks.reduce((sum, chunk) => sum + chunk.content.length, 0))
  expect(await retrieve(ctx, app, 'handbook', ask('elephants'))).toEqual({
    hitCount: 0,
    totalChars: 0,
    formattedContext: '',
    chunks: [],
  })
})

test('people get a longer text than tools: what stands around under the same heading, and each piece once', async () => {
  const bed = await newTestBed()
  const sentence = (word: string) => `${`The ${word} is told of here, at length and with care. `.repeat(16).trim()}\n\n`
  await approved(bed, 'Night', `# Paging\n\n${sentence('lead')}${sentence('deputy')}# Other\n\n${sentence('lead')}`)
  const { ctx, app } = bed
  const of = async (audience: 'tool' | 'public', maxChars: number) =>
    (await retrieve(ctx, app, 'handbook', ask('the lead', { audience, maxChars }))).chunks
  const pieces = (words: string[]) => words.map((word) => sentence(word).trim())
  const [lead, deputy, other] = pieces(['lead', 'deputy', 'lead'])
  const apart = `## Paging\n\n${lead}\n\n…\n\n## Other\n\n${other}`
  const [told, shown] = [await of('tool', 1700), await of('public', 2800)]
  expect(told.map(({ content }) => content)).toEqual([apart])
  const whole = `## Paging\n\n${lead}\n\n${deputy}\n\n## Other\n\n${other}`
  expect(shown.map(({ content }) => content)).toEqual([whole])
  // What room there is is used.
  expect((await of('tool', 16_000)).map(({ content }) => content)).toEqual([whole])
})

test('the sum of the contents never exceeds maxChars, however small, and pairs of surrogates stay whole', async () => {
  const bed = await newTestBed()
  for (const n of [1, 2, 3])
    await approved(bed, `Page ${n}`, `Ticket ${'😀'.repeat(30 * n)}\n\n${'ticket words '.repeat(200 * n)}`)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 50 }), async (maxChars, topK) => {
      const answer = await retrieve(bed.ctx, bed.app, 'handbook', ask('ticket', { maxChars, topK }))
      expect(answer.totalChars).toBeLessThanOrEqual(maxChars)
      expect(answer.hitCount).toBeGreaterThan(0)
      expect(answer.hitCount).toBeLessThanOrEqual(topK)
      for (const { content } of answer.chunks) expect(content.isWellFormed()).toBe(true)
    }),
    { numRuns: runs(40, 10) },
  )
})

test('whatever happens to a knowledge base, its search index is the one that a rebuild makes', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (story) => {
      const bed = await newTestBed()
      const answers = async (ctx: OpenContext) => [
        await search(ctx, bed.curator, 'handbook', {
          q: 'page OR vip OR written OR call',
          kind: 'all',
          limit: 100,
        }),
        await retrieve(ctx, bed.curator, 'handbook', ask('page the lead, VIP?', { audience: 'curator', topK: 50 })),
      ]
      const happened = await happen(bed, story)
      // What a rewind takes from main is approved again at the next start, as after a crash.
      const ctx = story.some(({ name }) => name === 'rewind') ? await bed.reopen() : happened
      const followed = await answers(ctx)
      await ctx.close()
      rmSync(join(bed.dataDir, 'index'), { recursive: true })
      const rebuilt = await openContext({ dataDir: bed.dataDir })
      expect(await answers(rebuilt)).toEqual(followed)
      await rebuilt.close()
    }),
    { numRuns: 4 },
  )
})

test('a query beyond the limits is an error of its field', async () => {
  const { ctx, app } = await newTestBed()
  const q = Array.from({ length: 33 }, (_, n) => `w${n}`).join(' ')
  await expect(search(ctx, app, 'handbook', { q, kind: 'all', limit: 1 })).rejects.toThrow(ValidationError)
})

test('another tenant has no such knowledge base', async () => {
  const { ctx, app } = await newTestBed()
  const stranger = { ...app, tenantId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f' }
  await expect(search(ctx, stranger, 'handbook', { q: 'x', kind: 'all', limit: 1 })).rejects.toThrow(
    'There is nothing here.',
  )
  await expect(retrieve(ctx, stranger, 'handbook', ask('x'))).rejects.toThrow('There is nothing here.')
})
