import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { offeredRepository, readOfferedCredentials } from '../../../src/forge/bridge/offered-credentials.ts'
import { tempDir } from '../../support/temp.ts'

const whole = {
  ...{ name: 'GitHub', tenant: 'acme', repositories: 'https://github.com/acme/' },
  ...{ app: '12345', key: 'file:/etc/ganglion/app.pem', webhookSecret: 'env:GANGLION_FORGE_HOOK' },
}

function fileOf(text: string): string {
  const file = join(tempDir(), 'forges.json')
  writeFileSync(file, text)
  return file
}

test('the file of credentials is read with an App, or a token', async () => {
  const token = { name: 'Docs', tenant: 'acme', repositories: 'https://git.example.org/acme/docs', kind: 'forgejo' }
  const read = await readOfferedCredentials(fileOf(JSON.stringify([whole, { ...token, token: 'env:TOKEN' }])))
  expect(read).toMatchObject([
    { name: 'GitHub', credential: { appId: '12345', privateKey: 'file:/etc/ganglion/app.pem' } },
    { name: 'Docs', kind: 'forgejo', credential: { token: 'env:TOKEN' }, webhookSecret: undefined },
  ])
})

test.each([
  ['{', 'JSON'],
  ['{}', 'array'],
  [JSON.stringify([{ ...whole, key: 'the key itself' }]), 'must be env:NAME or file:/path'],
  [JSON.stringify([{ ...whole, key: 'file:app.pem' }]), 'must be env:NAME or file:/path'],
  [JSON.stringify([{ ...whole, repositories: 'ftp://github.com/acme/' }]), 'must be an http or https URL'],
  [JSON.stringify([{ ...whole, repositories: 'https://github.com/acme/../' }]), 'must be a plain address'],
  [JSON.stringify([{ ...whole, tokn: 'env:TOKEN' }]), 'tokn'],
  [JSON.stringify([{ ...whole, token: 'env:TOKEN' }]), 'must have either a token, or an app and its key'],
  [JSON.stringify([{ ...whole, key: undefined }]), 'must have either a token, or an app and its key'],
  [JSON.stringify([whole, whole]), 'acme GitHub is there twice'],
])('%s is refused', async (text, message) => {
  await expect(readOfferedCredentials(fileOf(text))).rejects.toThrow(message)
})

test('an offer for one repository is for that one alone', () => {
  const one = { repositories: 'https://git.example.org/acme/docs' }
  expect(offeredRepository(one, 'https://git.example.org/acme/docs.git')).toBe('https://git.example.org/acme/docs')
  expect(offeredRepository(one, 'https://git.example.org/acme/docs2')).toBeUndefined()
  expect(offeredRepository(one, 'https://git.example.org/acme/docs/more')).toBeUndefined()
})

test('the example of the document is read', async () => {
  const document = readFileSync(new URL('../../../docs/forges.md', import.meta.url), 'utf8')
  const [, example = ''] = /```json\n(.*?)```/s.exec(document) ?? []
  const names = (await readOfferedCredentials(fileOf(example))).map(({ name }) => name)
  expect(names).toEqual(['GitHub App of Acme', 'Codeberg'])
})
