import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../support/temp.ts'
import { dataWithTenants, ganglion, serve } from '../support.ts'

const link = expect.stringMatching(/^http:\/\/127\.0\.0\.1:4870\/set-up\?link=[\w-]{43}$/)

test('a user is made with a link, listed, changed, disabled and enabled', async () => {
  const data = await dataWithTenants('acme', 'umbrella')
  const user = async (...args: string[]) => {
    const { code, stdout } = await ganglion(['user', ...args, '--data', data, '--json'])
    return { code, json: JSON.parse(stdout) }
  }
  expect(await user('create', 'Ada@Example.com', '--tenant', 'acme', '--role', 'admin', '--name', 'Ada')).toEqual({
    code: 0,
    json: { email: 'ada@example.com', role: 'admin', tenant: 'acme', link },
  })
  expect(await user('disable', 'ada@example.com')).toEqual({
    code: 1,
    json: { error: 'A tenant needs an administrator. Make another person an administrator first.' },
  })
  await user('create', 'bob@example.com', '--tenant', 'acme')
  expect(
    (await user('set', 'bob@example.com', '--tenant', 'umbrella', '--role', 'reader', '--name', 'Robert')).code,
  ).toBe(0)
  expect((await user('disable', 'bob@example.com')).json).toEqual({ email: 'bob@example.com', disabled: true })
  expect((await user('list')).json).toMatchObject({
    users: [
      { email: 'ada@example.com', name: 'Ada', disabledAt: null, roles: { acme: 'admin' } },
      {
        email: 'bob@example.com',
        name: 'Robert',
        disabledAt: expect.any(String),
        roles: { acme: 'curator', umbrella: 'reader' },
      },
    ],
  })
  expect((await user('enable', 'bob@example.com')).json).toEqual({ email: 'bob@example.com', enabled: true })
  expect((await user('reset-link', 'bob@example.com')).json).toEqual({ email: 'bob@example.com', link })
  const { stdout } = await ganglion(['user', 'list', '--data', data, '--tenant', 'umbrella'])
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['E-MAIL', 'STATE', 'ROLES', 'NAME'],
    ['bob@example.com', 'enabled', 'acme:curator,umbrella:reader', 'Robert'],
    [''],
  ])
})

test('beside a server the link works, names its address, and says what it opens', async () => {
  const data = join(tempDir(), 'data')
  const { line } = await serve(data)
  const made = await ganglion(['user', 'create', 'ada@example.com', '--tenant', 'default', '--data', data])
  expect(made.stdout).toContain('This link opens the page on which they choose a password and are signed in.')
  const url = made.stdout.trim().split('\n').at(-1) ?? ''
  expect(url.startsWith(`${line.url}/set-up?link=`)).toBe(true)
  const page = await fetch(url)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('ada@example.com')])
})

test.each([
  [['create', 'nobody', '--tenant', 'acme'], 'error: <email>: must be an e-mail address\n'],
  [
    ['set', 'ada@example.com', '--tenant', 'acme', '--role', 'boss'],
    'error: --role: must be one of reader, curator, admin, none\n',
  ],
  [['set', 'ada@example.com', '--role', 'reader'], 'error: --tenant and --role go together\n'],
])('user %j is refused in the words of the command line', async (args, stderr) => {
  expect((await ganglion(['user', ...args, '--data', await dataWithTenants('acme')])).stderr).toBe(stderr)
})

test.each([
  ['create', 'nobody', '--tenant', 'acme'],
  ['create', 'ada@example.com', '--tenant', 'acme', '--role', 'app'],
  ['create', 'ada@example.com', '--tenant', 'acme', '--name', 'Ada <user:1>'],
  ['create', 'ada@example.com'],
  ['set', 'ada@example.com'],
  ['set', 'ada@example.com', '--role', 'reader'],
])('user %s %s %s %s %s %s is wrong usage', async (...args) => {
  const given = args.filter((arg) => typeof arg === 'string')
  expect((await ganglion(['user', ...given, '--json', '--data', await dataWithTenants('acme')])).code).toBe(2)
})
