import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProduct } from '../../e2e/support.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion } from '../support.ts'

test('says who said each sentence of a page, by its seqId or its file', async () => {
  const { url, tokens, request } = await startProduct()
  const body = { kb: 'handbook', kind: 'external-feed', title: 'Hours', content: 'Nine to five. Not on Sundays.' }
  const { body: sent } = await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })
  await request('POST', `/api/v1/queue/candidates/${sent.candidateId}/approve`, { as: tokens.curator })
  const blame = (page: string, ...more: string[]) =>
    ganglion(['blame', page, '--kb', 'handbook', ...more], { GANGLION_URL: url, GANGLION_KEY: tokens.curator })
  const found = await blame('handbook_00000001')
  expect([found.code, found.stderr]).toEqual([0, ''])
  expect(found.stdout).toMatch(
    /^v1 [\d-]+ \(app, approved by curator\)\tNine to five\.\nv1 [\d-]+ \(app, approved by curator\)\tNot on Sundays\.\n$/,
  )
  const file = join(tempDir(), 'hours.md')
  writeFileSync(file, '---\nseqId: handbook_00000001\n---\nAny.\n')
  const { sentences } = JSON.parse((await blame(file, '--json')).stdout)
  expect(sentences).toMatchObject([{ connector: 'api', version: 1 }, { candidateId: sent.candidateId }])
  expect((await blame('nowhere.md')).code).toBe(2)
  const unknown = await blame('handbook_00000002')
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no such page')])
})
