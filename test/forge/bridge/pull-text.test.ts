import { expect, test } from 'vitest'
import { pullText } from '../../../src/forge/bridge/pull-text.ts'
import { type CandidateRow, findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { commitSource } from '../../../src/sources/ingest/commit-source.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { candidate, newTestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const limits = { title: 256, body: 65_536, remark: 65_536, findings: 50 }

async function desk() {
  const { ctx, kbId, app, curator } = await newTestBed()
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const submit = async (title: string, content: string) =>
    (await submitCandidate(ctx, app, candidate({ title, content, confidence: 0.4 }))).candidateId
  return {
    ...{ ctx, kbId, kb, submit },
    approved: async (title: string, content: string) =>
      approveCandidate(ctx, curator, await submit(title, content), {}),
    text: async (id: string, isPublic = false) => {
      const row = findCandidate(kb.projection.read, id) as CandidateRow
      return (await pullText(ctx, curator, [row], { limits, whole: undefined, needed: undefined, isPublic })).body
    },
  }
}

test('a pull request says who proposes, why it waits, and which Neurons are like it', async () => {
  const { approved, submit, text } = await desk()
  const lunch =
    'The canteen in the large hall of the main building serves lunch to everybody on every weekday from one to two.'
  const { seqId } = await approved('Canteen', lunch)
  const body = await text(await submit('Meals', `${lunch} Bring a tray.`))
  expect(body).toMatch(
    /^Proposed by `[^`]+` on \d{4}-\d\d-\d\d as `external-feed`, by the connector `\w+`, confidence 0\.4\.$/m,
  )
  expect(body).toContain('**Policy:** it waits for a curator (`confidence 0.4 is below every threshold`).')
  expect(body).toMatch(new RegExp(`\\*\\*Similar Neurons\\*\\*\n- \`Canteen\` \`${seqId}\`: `))
})

test('a pull request of a page that ingest made has the passage of its Source', async () => {
  const { ctx, kb, kbId, text } = await desk()
  const source = await addSource(ctx, { kbId, filename: 'guide <1>.pdf', fileType: 'pdf' })
  const markdown = '# Guide\n\nPage one.\n\n## Escalation\n\nPage the lead. @everyone\n\n## Rest\n\nPage three.'
  const anchors = [1, 5, 9].map((line, at) => ({ line, page: at + 1 }))
  await sourceTexts(ctx).keep(source, { title: 'Guide', markdown, warnings: [], anchors })
  const { id, editionOf, filename, contentHash: sha256 } = source
  const origin = { id, editionOf, filename, sha256, sourceUrl: null, isWanted: async () => true }
  const page = {
    ...{
      kind: 'part' as const,
      key: 'escalation',
      title: 'Escalation',
      tags: [],
      content: 'Page the lead.',
      edges: [],
    },
    ...{ place: { pages: [2, 2] as [number, number] }, doubts: [] },
  }
  await commitSource(ctx, kb, origin, [page])
  const [row] = kb.projection.read.all`SELECT id FROM candidates`
  const body = await text(String(row?.id))
  expect(body).toContain('<summary>Source: <code>guide &#60;1&#62;.pdf, page 2</code></summary>')
  expect(body).toContain('```\n## Escalation\n\nPage the lead. @everyone\n```')
  expect(body).not.toContain('Page three.')
  const shown = await text(String(row?.id), true)
  expect(shown).not.toContain('<details>')
  expect(shown).toContain('+Page the lead.')
})
