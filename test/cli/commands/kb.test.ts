import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson } from '../support.ts'

test('a knowledge base is made with its tenant, and listed', async () => {
  const data = join(tempDir(), 'data')
  const made = await ganglionJson(['kb', 'create', 'handbook', '--data', data, '--tenant', 'acme', '--prefix', 'hb'])
  const { id } = made.json as { id: string }
  const gitDir = join(data, 'repos', `${id}.git`)
  expect(made).toEqual({ code: 0, json: { id, slug: 'handbook', prefix: 'hb', tenant: 'acme', gitDir } })
  expect(existsSync(join(gitDir, 'HEAD'))).toBe(true)

  expect((await ganglionJson(['kb', 'list', '--data', data, '--tenant', 'acme'])).json).toEqual({
    knowledgeBases: [{ id, slug: 'handbook', prefix: 'hb', tenant: 'acme', gitDir, createdAt: expect.any(String) }],
  })
  const { stdout } = await ganglion(['kb', 'list', '--data', data])
  expect(stdout).toMatch(/^ID +TENANT +SLUG +PREFIX +REPOSITORY\n\S{36} {2}acme +handbook +hb +\//)
})

test('a slug is taken within its tenant only', async () => {
  const data = join(tempDir(), 'data')
  const create = (tenant: string) => ganglionJson(['kb', 'create', 'handbook', '--data', data, '--tenant', tenant])
  expect(await create('acme')).toMatchObject({ code: 0 })
  expect(await create('acme')).toEqual({
    code: 1,
    json: { error: 'The tenant has a knowledge base handbook already.' },
  })
  expect(await create('umbrella')).toMatchObject({ code: 0, json: { tenant: 'umbrella' } })
})
