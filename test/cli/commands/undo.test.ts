import { expect, test } from 'vitest'
import { startProduct } from '../../e2e/support.ts'
import { ganglion } from '../support.ts'

test('proposes to take back what a writer wrote, or only says what it would propose', async () => {
  const { url, tokens, request } = await startProduct()
  const undo = (args: string, key = tokens.curator) =>
    ganglion(['undo', '--kb', 'handbook', ...args.split(' ')], { GANGLION_URL: url, GANGLION_KEY: key })
  const body = {
    kb: 'handbook',
    kind: 'external-feed',
    title: 'Spam\n\u202eof all',
    content: 'Buy.',
    metadata: { model: 'm-1', onBehalfOf: { id: 'u-17' } },
  }
  const { body: sent } = await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })
  await request('POST', `/api/v1/queue/candidates/${sent.candidateId}/approve`, { as: tokens.curator })

  const reversal = 'remove handbook_00000001  Spam of all\n'
  expect(await undo('--model m-1 --since 1h --dry-run')).toEqual({
    code: 0,
    stdout: `${reversal}In the queue, a reversal of 1 Neuron would wait.\n`,
    stderr: '',
  })
  const none = await undo('--model m-2 --since 1h')
  expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('nothing to take back')])
  const ofOther = await undo('--model m-1 --since 1h --on-behalf-of u-1')
  expect([ofOther.code, ofOther.stdout]).toEqual([0, expect.stringContaining('on behalf of u-1 since')])
  const ofOne = await undo('--model m-1 --since 1h --on-behalf-of u-17 --dry-run')
  expect(ofOne.stdout).toContain(reversal)
  const done = await undo('--key app --since 2026-01-01T00:00:00Z')
  expect(done.stdout).toContain(`${reversal}In the queue, a reversal of 1 Neuron waits.\n${url}/queue/`)
  const { reversals } = JSON.parse((await undo('--connector api --since 2d --json')).stdout)
  expect(reversals).toMatchObject([{ seqId: 'handbook_00000001', action: 'remove' }])

  for (const [args, says] of [
    ['--since 1h --key ', '--key: must not be empty'],
    ['--since 1h', 'one of --key, --person, --connector, --source, --model is needed'],
    ['--since 1h --key app --model m-1', `'--key <name>' cannot be used with option '--model <name>'`],
    ['--since 1h --person b --key a', `'--key <name>' cannot be used with option '--person <email>'`],
    ['--since yesterday --key app', 'must be a day such as 2026-11-26, a time with its zone'],
  ] as const) {
    const { code, stderr } = await undo(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
  }
  expect((await undo('--key app --since 1h', tokens.app)).stderr).toContain('not that of a curator')
  const unknown = await undo(`--source ${crypto.randomUUID()} --since 1h`)
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no such knowledge base or Source')])
})
