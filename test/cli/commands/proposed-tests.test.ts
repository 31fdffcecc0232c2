import { expect, test } from 'vitest'
import { startProduct } from '../../e2e/support.ts'
import { ganglion } from '../support.ts'

test('lists proposed tests, accepts one as it is listed, and dismisses one', async () => {
  const { url, tokens, request } = await startProduct()
  const run = (args: string[], key = tokens.curator) =>
    ganglion(['proposed-tests', '--kb', 'handbook', ...args], { GANGLION_URL: url, GANGLION_KEY: key })
  expect(await run([])).toEqual({ code: 0, stdout: 'There are no proposed tests.\n', stderr: '' })

  const body = { kb: 'handbook', kind: 'external-feed', title: 'Warden', content: 'At night the warden is paged.' }
  const { body: sent } = await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })
  const approval = await request('POST', `/api/v1/queue/candidates/${sent.candidateId}/approve`, { as: tokens.curator })
  const { seqId } = approval.body
  const [wrong, liked] = ['Who is paged "at night"?', 'Who is it?']
  const vote = (more: object) =>
    request('POST', '/api/v1/knowledge-bases/handbook/reader-feedback', {
      ...{ as: tokens.curator, body: { question: wrong, answer: 'Nobody.', ...more } },
    })
  await vote({ vote: 'down', reason: 'Old\u001b[2J.', shouldCite: seqId })
  await vote({ vote: 'up', question: liked })
  expect((await run([])).stdout).toBe(
    [
      wrong,
      `  test: the answer cites ${seqId}`,
      `  vote down: Old [2J.: It should cite ${seqId}.`,
      liked,
      '  test: it is answered as today',
      '  vote up\n',
    ].join('\n'),
  )
  expect(await run(['--accept', 'Who?'])).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('No test of this question is proposed: Who?') },
  })
  const { test: added, file } = JSON.parse((await run(['--accept', wrong, '--json'])).stdout)
  expect([added, file]).toEqual([{ question: wrong, audience: 'tool', top: 5, cites: [seqId] }, 'tests/answers.yaml'])
  expect(await run(['--dismiss', liked])).toMatchObject({ code: 0, stdout: `Dismissed: ${liked}\n` })
  expect(JSON.parse((await run(['--json'])).stdout)).toEqual([])
  const gone = { error: `No test of this question is proposed: ${liked}` }
  const again = await run(['--dismiss', liked, '--json'])
  expect(again).toMatchObject({ code: 1, stdout: `${JSON.stringify(gone)}\n` })
  expect((await run(['--accept', wrong, '--dismiss', liked])).code).toBe(2)
  expect((await run([], tokens.app)).stderr).toContain('not that of a curator')
})
