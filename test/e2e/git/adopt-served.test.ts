import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { adoptKnowledgeBase } from '../../../src/operate/adopt/adopt-kb.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { candidate, correction } from '../../kb/support/test-bed.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { type Product, startProduct } from '../support.ts'

test('a knowledge base that is adopted from a running server answers as it does there', async () => {
  const origin = await startProduct()
  const as = origin.tokens.curator
  const submit = (body: object) => origin.request('POST', '/api/v1/queue/candidates', { as, body })
  const decide = (id: unknown, act: string, body = {}) =>
    origin.request('POST', `/api/v1/queue/candidates/${id}/${act}`, { as, body })
  const first = await submit(candidate({ title: 'Tea', content: 'Hot.' }))
  const { seqId, commit } = (await decide(first.body.candidateId, 'approve')).body
  const second = await submit(correction(String(seqId), 'Hot and green.', { title: 'Tea' }))
  await decide(second.body.candidateId, 'approve')
  const dismissed = await submit(candidate({ title: 'Nonsense' }))
  await decide(dismissed.body.candidateId, 'dismiss', { reason: 'No.' })
  const waiting = await submit(correction(String(seqId), 'Cold.', { title: 'Tea' }))

  const dataDir = tempDir()
  const ctx = await openContext({ dataDir, threads })
  const source = `${origin.url.replace('://', `://git:${as}@`)}/git/acme/handbook.git`
  try {
    expect(await adoptKnowledgeBase(ctx, { source, tenant: 'acme' })).toMatchObject({ id: origin.kbId, neurons: 1 })
    expect(await verify(ctx)).toMatchObject({ ok: true })
  } finally {
    await ctx.close()
  }
  const adopted = await startProduct({ restored: dataDir, shared: {} })
  const ids = [first, second, dismissed, waiting].map(({ body }) => body.candidateId)
  const page = `/api/v1/neurons/handbook/${seqId}`
  const paths = [
    ...['/api/v1/knowledge-bases/handbook/neurons', page, `${page}?at=${commit}`, `${page}/blame`],
    ...['/api/v1/queue/candidates?kb=handbook', ...ids.map((id) => `/api/v1/queue/candidates/${id}`)],
  ]
  const answers = async ({ request, tokens }: Product) =>
    Promise.all(
      paths.map(async (path) => {
        const { status, body } = await request('GET', path, { as: tokens.curator })
        return { path, status, body }
      }),
    )
  const told = await answers(origin)
  expect(told.map(({ status }) => status)).toEqual(paths.map(() => 200))
  expect(await answers(adopted)).toEqual(told)
})
