import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { leftOut, reportLeftOut } from '../../../src/sources/compile/left-out.ts'
import { extractPlainText } from '../../../src/sources/extract/plain-text-file.ts'
import { extractMarkdown } from '../../../src/sources/extract/text/markdown.ts'
import type { Extracted } from '../../../src/sources/extracted.ts'
import { ingestSteps } from '../../../src/sources/ingest/ingest-steps.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { addSource, ingest, statusOf } from '../../kb/support/ingest-support.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { tempDir } from '../../support/temp.ts'

/** Ingests a document whose text was read like this. */
async function ingested(extracted: Partial<Extracted> & { markdown: string }, status = 'success') {
  const test = await newTestBed()
  const { ctx, curator, kbId } = test
  const text = { title: undefined, anchors: [], warnings: [], ...extracted }
  const source = await addSource(ctx, { kbId, filename: 'scan.md' })
  const stop = await ingest(ctx, { ...ingestSteps(ctx), extract: async () => text })
  await expect.poll(async () => (await statusOf(ctx, source)).status).toBe(status)
  await stop()
  const { candidates } = await listCandidates(ctx, curator, { limit: 10 })
  return { ...test, source: await ctx.sources.get(source.id), candidates }
}

test('a text that was recognised badly waits for a curator, who sees why', async () => {
  const doubt = 'The text was recognised with a confidence of only 41 %.'
  const { candidates, source, ctx, curator } = await ingested({
    markdown: 'Tbe harb0ur oflice opens at eigbt.',
    recognised: { words: 6, confidence: 0.41 },
  })
  expect(candidates).toMatchObject([{ status: 'pending', zone: 'yellow', warnings: [doubt] }])
  expect(source?.warnings).toEqual([doubt])
  const approval = await approveCandidate(ctx, curator, candidates[0]?.candidateId ?? '', {})
  expect(approval).toMatchObject({ status: 'approved', seqId: 'handbook_00000001' })
})

test.each(['# Harbour rules', '[office]: https://example.com'])(
  'a Neuron without text is no success: %s',
  async (markdown) => {
    const { source, candidates } = await ingested({ markdown }, 'failed')
    expect([source?.errorMessage, candidates]).toEqual(['The document holds no text but its title.', []])
  },
)

test('every page of a document that its reader doubts waits', async () => {
  const section = (name: string) =>
    `## ${name} desk\n\n${Array.from({ length: 90 }, (_, at) => `${name}${at} post${name}${at}`).join(' ')}`
  const markdown = `# Desks\n\n${['Day', 'Evening', 'Night', 'Harbour', 'Customs', 'Mail'].map(section).join('\n\n')}`
  const { candidates } = await ingested({ markdown, doubts: ['Its encoding was guessed.'] })
  expect(candidates.length).toBeGreaterThan(3)
  for (const { status, zone, warnings } of candidates) {
    expect({ status, zone, warnings }).toEqual({
      status: 'pending',
      zone: 'yellow',
      warnings: ['Its encoding was guessed.'],
    })
  }
})

test('a text that says what it should is approved by the policy', async () => {
  const { candidates, source } = await ingested({ markdown: 'The harbour office opens at eight.' })
  expect(candidates).toMatchObject([{ status: 'approved', zone: 'green', warnings: [] }])
  expect(source?.warnings).toEqual([])
})

test('tags and audience of an uploaded Markdown file hold for all of its pages', async () => {
  const files: [string, object][] = [
    ['---\ntags: [internal]\n---\n# Pay\n\nThe bands of all pay.\n', { tags: ['internal'] }],
    ['---\naudience: [student, admin]\n---\n# Pay\n\nThe bands of all pay.\n', { audience: ['student'] }],
    [
      '---\ntags: [internal\n---\n# Pay\n\nThe bands of all pay.\n',
      { doubts: [expect.stringContaining('cannot be read')] },
    ],
    [';;;\n{"tags":["internal"]}\n;;;\n# Pay\n\nThe bands of all pay.\n', { tags: ['internal'] }],
  ]
  for (const [text, { doubts, ...fields }] of files as [string, { doubts?: string[] }][]) {
    const path = join(tempDir(), 'pay.md')
    writeFileSync(path, text)
    const read = await extractMarkdown(
      { file: path, filename: 'pay.md', fileType: 'md', transcriber: undefined },
      () => {},
    )
    const { candidates, gitDir } = await ingested(read)
    expect(candidates).toMatchObject([{ status: doubts ? 'pending' : 'approved', warnings: doubts ?? [] }])
    const plain = await extractPlainText(
      { file: path, filename: 'pay.txt', fileType: 'txt', transcriber: undefined },
      () => {},
    )
    expect([plain.audience, plain.tags, plain.doubts]).toEqual([read.audience, read.tags, read.doubts])
    if (doubts) continue
    const file = nativeGit(gitDir, ['ls-tree', '-r', '--name-only', 'HEAD', 'neurons/']).trim()
    expect(parseNeuronFile(nativeGit(gitDir, ['show', `HEAD:${file}`])).fields).toMatchObject({
      ...fields,
      ...('tags' in fields && { tags: expect.arrayContaining(['internal']) }),
    })
  }
})

test('what was left out is told, and lost words make a curator decide', async () => {
  const pages = [
    { key: 'summary', kind: 'summary', title: 'Desks', content: 'The first desk', tags: [], place: {} },
  ] as const
  const markdown = `# Desks\n\nThe first desk\n\n${'%%open a remark%%\n\n'.repeat(9)}${'lost words '.repeat(9)}`
  const out = await leftOut({ title: undefined, markdown, anchors: [], warnings: [] }, [{ ...pages[0], tags: [] }])
  const told =
    'Of the 40 words of the document, 36 are on none of its pages: 18 in comments, 18 lost for no known reason.'
  expect(reportLeftOut(out)).toEqual({ warnings: [told], doubts: [told] })
  expect(reportLeftOut({ ...out, lost: [] })).toMatchObject({ doubts: [] })
  expect(reportLeftOut({ ...out, all: 2000 })).toEqual({ warnings: [], doubts: [] })
})
