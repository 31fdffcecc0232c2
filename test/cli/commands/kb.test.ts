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

test('tenants and knowledge bases are renamed, disabled and deleted beside no server, and the audit says so', async () => {
  const data = join(tempDir(), 'data')
  const run = (...args: string[]) => ganglionJson([...args, '--data', data])
  const made = await run('kb', 'create', 'handbook', '--tenant', 'acme')
  const { id, gitDir } = made.json as { id: string; gitDir: string }
  await run('kb', 'create', 'theirs', '--tenant', 'umbrella')
  expect(await run('kb', 'rename', 'handbook', 'guide', '--tenant', 'acme')).toMatchObject({
    json: { id, slug: 'guide' },
  })
  expect(await run('kb', 'rename', 'guide', 'A b', '--tenant', 'acme')).toMatchObject({ code: 2 })
  expect(await run('tenant', 'rename', 'acme', 'umbrella')).toMatchObject({ code: 1 })
  expect(await run('tenant', 'rename', 'acme', 'corp')).toMatchObject({ code: 0 })
  expect(await run('kb', 'disable', 'handbook', '--tenant', 'acme')).toMatchObject({ code: 0 })
  expect(await run('kb', 'list', '--tenant', 'corp')).toMatchObject({
    json: { knowledgeBases: [{ slug: 'guide', disabledAt: expect.any(String) }] },
  })
  expect(await run('tenant', 'quota', 'corp', '--source-bytes', '5', '--kbs', '1')).toMatchObject({ code: 0 })
  expect(await run('kb', 'create', 'more', '--tenant', 'corp')).toMatchObject({ code: 1 })
  expect(await run('tenant', 'list')).toMatchObject({
    json: {
      tenants: [
        { slug: 'corp', quotas: { sourceBytes: 5, knowledgeBases: 1 }, usage: { knowledgeBases: [{ slug: 'guide' }] } },
        { slug: 'umbrella', usage: { sources: 0 } },
      ],
    },
  })
  const { stdout } = await ganglion(['tenant', 'audit', 'corp', '--data', data])
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action),
  ).toEqual(['tenant.bounded', 'kb.disabled', 'tenant.renamed', 'kb.renamed', 'kb.created'])

  expect(await run('kb', 'delete', 'guide', '--tenant', 'corp')).toMatchObject({ code: 2 })
  const exported = join(tempDir(), 'export')
  expect(await run('kb', 'delete', 'guide', '--tenant', 'corp', '--export', exported)).toEqual({
    code: 0,
    json: { id, slug: 'guide', export: exported, isRemoved: true },
  })
  expect([existsSync(join(exported, 'manifest.json')), existsSync(gitDir)]).toEqual([true, false])
  expect(await run('tenant', 'delete', 'corp', '--no-export')).toMatchObject({ code: 0, json: { isRemoved: true } })
  expect(await run('tenant', 'list')).toMatchObject({ json: { tenants: [{ slug: 'umbrella' }] } })
  expect(await run('verify')).toMatchObject({ code: 0, json: { kbs: [{ slug: 'theirs' }] } })
})

test('a slug is taken within its tenant only', async () => {
  const data = join(tempDir(), 'data')
  const create = (tenant: string) => ganglionJson(['kb', 'create', 'handbook', '--data', data, '--tenant', tenant])
  expect(await create('acme')).toMatchObject({ code: 0 })
  expect(await create('acme')).toEqual({
    code: 1,
    json: { error: 'The tenant has a knowledge base handbook already: choose another slug.' },
  })
  expect(await create('umbrella')).toMatchObject({ code: 0, json: { tenant: 'umbrella' } })
})
