import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isToken } from '../../../src/state/accounts/secret.ts'
import { tempDir } from '../../support/temp.ts'
import { dataWithTenants, ganglion, ganglionJson } from '../support.ts'

const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)

test('a reader key is made for students, a key of another role is refused with an audience', async () => {
  const data = await dataWithTenants('acme')
  const make = (role: string) =>
    ganglion([...['key', 'create', '--data', data, '--tenant', 'acme'], ...['--role', role, '--audience', 'student']])
  expect((await make('reader')).code).toBe(0)
  for (const role of ['app', 'curator'])
    expect(await make(role)).toMatchObject({ code: 1, stderr: expect.stringContaining('is for reader keys only') })
  expect((await ganglionJson(['key', 'list', '--data', data])).json).toMatchObject({
    keys: [{ role: 'reader', audience: 'student' }],
  })
})

test('a key is made, listed and revoked', async () => {
  const data = await dataWithTenants('acme')
  const made = await ganglionJson([
    ...['key', 'create', '--data', data, '--tenant', 'acme', '--role', 'app', '--name', 'website'],
    ...['--connector', 'site-chat', '--connector', 'feed', '--expires', '90d'],
  ])
  expect(made).toEqual({ code: 0, json: { id: uuid, token: expect.toSatisfy(isToken), role: 'app' } })
  const { id } = made.json as { id: string }

  const listed = await ganglionJson(['key', 'list', '--data', data])
  const [key] = (listed.json as { keys: Record<string, string>[] }).keys
  expect(key).toEqual({
    id,
    tenant: 'acme',
    name: 'website',
    role: 'app',
    connectors: ['site-chat', 'feed'],
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
    revokedAt: null,
    lastUsedAt: null,
    createdBy: 'Operator',
    git: 'shown',
    audience: null,
    limits: null,
    isAgent: false,
  })
  // The command asks for the time before the key is made.
  const lifetime = Date.parse(key?.expiresAt ?? '') - Date.parse(key?.createdAt ?? '')
  expect(Math.abs(lifetime - 90 * 86_400_000)).toBeLessThan(60_000)

  expect(await ganglionJson(['key', 'revoke', id, '--data', data])).toEqual({ code: 0, json: { id, revoked: true } })
  expect((await ganglionJson(['key', 'list', '--data', data])).json).toMatchObject({
    keys: [{ id, revokedAt: expect.any(String) }],
  })
})

test('a key is limited, and let propose anything again', async () => {
  const data = await dataWithTenants('acme')
  const create = [
    'key',
    'create',
    '--data',
    data,
    '--tenant',
    'acme',
    '--role',
    'app',
    '--max-pending',
    '5',
    '--tag',
    'vip',
  ]
  const { id } = (await ganglionJson(create)).json as { id: string }
  const limitsOf = async () => {
    const { keys } = (await ganglionJson(['key', 'list', '--data', data])).json as { keys: { limits: unknown }[] }
    return keys[0]?.limits
  }
  expect(await limitsOf()).toEqual({ pending: 5, approved: null, paths: [], tags: ['vip'] })
  const limit = ['key', 'limit', id, '--data', data]
  await ganglionJson([...limit, '--max-approved', '0', '--path', 'guides', '--path', 'a/b'])
  expect(await limitsOf()).toEqual({ pending: null, approved: 0, paths: ['guides', 'a/b'], tags: [] })
  expect((await ganglion([...limit, '--max-pending', '-1'])).code).toBe(2)
  expect(await ganglionJson(limit)).toEqual({ code: 0, json: { id, limits: null } })
  expect(await limitsOf()).toBeNull()
})

test('for a person, the token stands on a line of its own and the list is a table', async () => {
  const data = await dataWithTenants('acme', 'umbrella')
  const create = (tenant: string) =>
    ganglion(['key', 'create', '--data', data, '--tenant', tenant, '--role', 'reader', '--name', `for ${tenant}`])
  const [made] = [await create('acme'), await create('umbrella')]
  expect(made.stdout.split('\n')[1]).toSatisfy(isToken)
  expect(made.stdout).toContain('It clones with git what it may see.')
  const { stdout } = await ganglion(['key', 'list', '--data', data, '--tenant', 'acme'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^ID +TENANT +ROLE +GIT +STATE +LAST USED +EXPIRES +CONNECTORS +NAME$/)
  expect(lines[1]).toMatch(/^\S{36} {2}acme +reader +fetch shown +valid +never +never +- +for acme$/)
  expect(lines[1]?.indexOf('reader')).toBe(lines[0]?.indexOf('ROLE'))
})

test('GANGLION_DATA says where, and --data says it louder', async () => {
  const [data, other] = [await dataWithTenants('acme'), await dataWithTenants('umbrella')]
  const create = (args: string[]) => ganglion(['key', 'create', '--role', 'app', ...args], { GANGLION_DATA: data })
  expect(await create(['--tenant', 'acme'])).toMatchObject({ code: 0 })
  expect(await create(['--tenant', 'umbrella', '--data', other])).toMatchObject({ code: 0 })
})

test('a tenant that is not there is refused, with those that are', async () => {
  const data = await dataWithTenants('acme', 'umbrella')
  const args = ['key', 'create', '--data', data, '--tenant', 'acmé', '--role', 'app']
  expect(await ganglionJson(args)).toEqual({
    code: 1,
    json: { error: 'There is no tenant acmé. Known tenants: acme, umbrella.' },
  })
  expect(await ganglion(args)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: There is no tenant acmé. Known tenants: acme, umbrella.\n',
  })
})

test('a key that is not there cannot be revoked', async () => {
  const data = await dataWithTenants()
  const { code, json } = await ganglionJson(['key', 'revoke', 'nothing', '--data', data])
  expect({ code, json }).toEqual({ code: 1, json: { error: 'There is no API key nothing.' } })
})

test.each(['90', '0d', 'soon'])('--expires %s is wrong usage', async (expires) => {
  const data = await dataWithTenants('acme')
  const create = ['key', 'create', '--data', data, '--tenant', 'acme', '--role', 'app']
  expect(await ganglion([...create, '--expires', expires])).toMatchObject({ code: 2, stdout: '' })
  expect((await ganglionJson(['key', 'list', '--data', data])).json).toEqual({ keys: [] })
})

test('listing makes no data directory', async () => {
  const data = join(tempDir(), 'nowhere')
  const { code, stderr } = await ganglion(['key', 'list', '--data', data])
  expect(code).toBe(1)
  expect(stderr).toContain(`There is no data directory ${data}`)
  expect(existsSync(data)).toBe(false)
})
