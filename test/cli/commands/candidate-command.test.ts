import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProduct } from '../../e2e/support.ts'
import { finished, startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, main } from '../support.ts'

/** A real server; `candidate` on this side of the socket has no data directory. */
async function startApi() {
  const { url, tokens, request } = await startProduct()
  const candidate = { knowledgeBaseId: 'handbook', kind: 'external-feed', title: 'Note', content: 'Text.' }
  return {
    env: (key: string = tokens.app) => ({ GANGLION_URL: url, GANGLION_KEY: key }),
    tokens,
    submit: async (as = tokens.app) => {
      const { body } = await request('POST', '/api/v1/queue/candidates', { as, body: candidate })
      return String(body.candidateId)
    },
    read: async (id: string) => (await request('GET', `/api/v1/queue/candidates/${id}`, { as: tokens.curator })).body,
  }
}

test('revises a candidate from a file or standard input, with the key that sent it', async () => {
  const { env, tokens, submit, read } = await startApi()
  const id = await submit()
  const file = join(tempDir(), 'note.md')
  await writeFile(file, 'Grüße, in full.\n')
  const run = (...args: string[]) => ganglion(['candidate', 'revise', `refs/candidates/${id}/head`, ...args], env())
  const revised = { code: 0, stdout: `Revised ${id}, which is pending.\n`, stderr: '' }
  expect(await run(file, '--title', 'A note', '--read', '1')).toEqual(revised)
  expect(await read(id)).toMatchObject({ version: 2, title: 'A note', content: 'Grüße, in full.\n' })
  const late = await run(file, '--title', 'Another note', '--read', '1')
  expect(late).toMatchObject({ code: 1, stdout: `${id}: The candidate has changed since it was reviewed.\n` })

  const child = startNode([main, 'candidate', 'revise', id, '-', '--json'], { env: env() })
  child.stdin?.end('From a pipe.\n')
  const { code, stdout } = await finished(child)
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { results: [{ candidate: { candidateId: id } }] }])
  expect(await read(id)).toMatchObject({ version: 3, title: 'A note', content: 'From a pipe.\n' })

  await writeFile(file, '')
  expect(await run(file)).toMatchObject({ code: 2, stderr: expect.stringContaining('note.md: must') })
  expect(await run(`${file}.gone`)).toMatchObject({ code: 1, stderr: expect.stringContaining('note.md.gone') })
  expect(await ganglion(['candidate', 'revise', id, file], env(`${tokens.app}x`))).toMatchObject({ code: 2 })
  expect(await read(id)).toMatchObject({ version: 3 })
})

test('withdraws several candidates at once, and says which it may not', async () => {
  const { env, tokens, submit, read } = await startApi()
  const [first, second, other] = [await submit(), await submit(), await submit(tokens.curator)]
  const { code, stdout, stderr } = await ganglion(['candidate', 'withdraw', first, other, second], env())
  expect([code, stdout.split('\n'), stderr]).toEqual([
    1,
    [
      `Withdrew ${first}, which is dismissed.`,
      `${other}: There is no such candidate that this key may change.`,
      `Withdrew ${second}, which is dismissed.`,
      '',
    ],
    '',
  ])
  expect(await read(first)).toMatchObject({ decisions: [{ action: 'dismiss', reason: 'withdrawn by its sender' }] })
  expect(await read(other)).toMatchObject({ status: 'pending' })
  expect(await ganglion(['candidate', 'withdraw', second], env())).toMatchObject({ code: 0 })
  expect(await ganglion(['candidate', 'withdraw', 'x'], env())).toMatchObject({ code: 2 })
})
