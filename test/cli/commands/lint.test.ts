import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { neuronText, seq } from '../../kb/support/written-neurons.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson, serve } from '../support.ts'

/** Each command is a process, which takes a while to start on a busy machine. */

/** A data directory whose knowledge base `handbook` has a link that leads nowhere, and a Neuron of a name like it. */
async function troubled(): Promise<string> {
  const data = join(tempDir(), 'data')
  const { json } = await ganglionJson(['kb', 'create', 'handbook', '--data', data, '--tenant', 'acme'])
  const { gitDir } = json as { gitDir: string }
  const files = {
    'neurons/a.md': neuronText(1, { title: 'A' }, '[[On-call rotaton]]\n'),
    'neurons/b.md': neuronText(2, { title: 'On-call rotation' }, '[[A]]\n'),
  }
  new NativeWriter(gitDir).commit('refs/heads/main', new Map(Object.entries(files)))
  return data
}

const shown = (proposed: number, before: number, open: number, status: string) =>
  `handbook: 1 finding; ${proposed} proposed, ${before} proposed before, ${open} open.\n` +
  `RULE            NEURONS  ${'STATUS'.padEnd(status.length)}  FINDING\n` +
  `missing-target  1        ${status.padEnd(6)}  Broken link: On-call rotaton\n`

test('lint says what it finds, and what it proposed, once', async () => {
  const data = await troubled()
  expect(await ganglion(['lint', '--data', data, '--dry-run'])).toMatchObject({
    ...{ code: 0, stderr: '', stdout: shown(0, 0, 1, 'open') },
  })
  expect(await ganglion(['lint', '--data', data])).toMatchObject({ code: 0, stdout: shown(1, 0, 0, 'proposed') })
  expect(await ganglion(['lint', '--data', data])).toMatchObject({ code: 0, stdout: shown(0, 1, 0, 'proposed before') })
  expect(await ganglionJson(['lint', '--data', data, '--tenant', 'acme', '--kb', 'handbook'])).toEqual({
    code: 0,
    json: {
      kbs: [
        {
          ...{ id: expect.any(String), slug: 'handbook' },
          findings: [
            {
              ...{
                rule: 'missing-target',
                title: 'Broken link: On-call rotaton',
                impact: 1,
                status: 'proposed before',
              },
              ...{ fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/), candidateId: expect.any(String) },
            },
          ],
        },
      ],
    },
  })
  expect(await ganglionJson(['lint', '--data', data, '--kb', 'atlas'])).toEqual({
    code: 1,
    json: { error: 'There is no knowledge base atlas. Known: handbook.' },
  })
})

test('beside a server, what lint proposes is in the queue at once', async () => {
  const data = await troubled()
  const { json } = await ganglionJson(['key', 'create', '--data', data, '--tenant', 'acme', '--role', 'curator'])
  const { token } = json as { token: string }
  const { child, line } = await serve(data)
  const headers = { authorization: `Bearer ${token}` }
  const waiting = async () => {
    const response = await fetch(`${line.url}/api/v1/queue/candidates?kb=handbook&connector=lint`, { headers })
    return response.json()
  }
  expect(await waiting()).toMatchObject({ candidates: [] })
  expect(await ganglionJson(['lint', '--data', data])).toMatchObject({ code: 0 })
  expect(await waiting()).toMatchObject({ candidates: [{ connector: 'lint', status: 'pending', createdBy: 'Lint' }] })
  const neuron = await fetch(`${line.url}/api/v1/neurons/handbook/${seq(1)}`, { headers })
  expect(neuron.status).toBe(200)
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
})
