import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { startGithub } from '../../forge/support/emulated-github.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { ganglion, ganglionJson } from '../support.ts'

const named = ['--tenant', 'acme', '--kb', 'handbook']

async function dataWithKb(): Promise<string> {
  const data = tempDir()
  const opened = await openContext({ dataDir: data, threads })
  await createKnowledgeBase(opened, { tenant: 'acme', slug: 'handbook' })
  await opened.close()
  return data
}

test('a knowledge base is linked, compared, told of and unlinked, and no secret is stored or shown', async () => {
  const data = await dataWithKb()
  vi.stubEnv('GANGLION_FORGE_HOOK', 'hush')
  onTestFinished(() => void vi.unstubAllEnvs())
  const github = await startGithub()
  const key = join(tempDir(), 'app.pem')
  writeFileSync(key, github.app.privateKey)
  const where = ['--app', github.app.appId, '--key', `file:${key}`, '--webhook-secret', 'env:GANGLION_FORGE_HOOK']
  const link = ['forge', 'link', github.url, '--kind', 'github', '--api-url', github.apiUrl, ...named, ...where]
  const linked = await ganglionJson([...link, '--data', data])
  expect(linked).toMatchObject({ code: 0, json: { account: 'Ganglion', url: github.url } })
  const { id } = linked.json as { id: string }
  expect(linked.json).toMatchObject({ events: `/forge/${id}/events` })
  expect(await ganglionJson([...link, '--data', data])).toMatchObject({
    json: { error: 'The knowledge base handbook is linked already: unlink it first.' },
  })

  expect((await ganglion(['forge', 'status', '--data', data])).stdout).not.toContain('ganglion mirror')

  const synced = await ganglion(['forge', 'sync', ...named, '--data', data])
  expect(synced).toMatchObject({ code: 0, stdout: `handbook and ${github.url} are the same.\n` })
  expect(github.git.branches()).toEqual(['main'])
  const { stdout } = await ganglion(['forge', 'status', '--data', data])
  expect(stdout).toMatch(/^KB +FORGE +URL +OPEN +SYNCED +STATE\nhandbook +github +\S+ +0 of 50 +\S+ +well\n$/)

  expect(await ganglion(['forge', 'sync', ...named, '--branch', 'ganglion/x', '--data', data])).toMatchObject({
    code: 2,
  })
  expect(await ganglion(['forge', 'sync', ...named, '--branch', 'trunk', '--data', data])).toMatchObject({
    stdout: expect.stringContaining('no branch trunk, and its default branch is main'),
  })
  await ganglion(['forge', 'sync', ...named, '--branch', 'main', '--data', data])
  github.fail(/pulls/, { status: 500 })
  expect(await ganglion(['forge', 'sync', ...named, '--data', data])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('500'),
  })
  expect(await ganglion(['forge', 'status', '--data', data])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('fails since'),
  })
  expect(await ganglionJson(['forge', 'unlink', ...named, '--data', data])).toMatchObject({
    json: { id, unlinked: true },
  })
  github.show('public')
  const warned = (await ganglion([...link, '--data', data])).stdout
  expect(warned).toMatch(/Linked handbook.*\nOthers can read that repository .*: ganglion mirror\n$/s)
  expect(await ganglion(['forge', 'status', '--data', data])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nhandbook: Others can read that repository .*: ganglion mirror\n$/),
  })
  github.show('private')
  await ganglion(['forge', 'sync', ...named, '--data', data])
  expect((await ganglion(['forge', 'status', '--data', data])).stdout).not.toContain('Others can read')
  await ganglion(['forge', 'unlink', ...named, '--data', data])
  expect(await ganglion(['forge', 'status', '--data', data])).toMatchObject({
    stdout: 'No knowledge base is linked to a forge.\n',
  })
})

test('what cannot be a link is refused, and says how to put it right', async () => {
  const data = await dataWithKb()
  const github = await startGithub()
  const link = (...more: string[]) =>
    ganglion(['forge', 'link', github.url, '--api-url', github.apiUrl, ...named, ...more, '--data', data])
  const told = async (...more: string[]) => (await link(...more)).stderr
  expect(await told('--kind', 'github')).toContain('give either --token, or --app and --key')
  expect(await told('--token', 'env:TOKEN')).toContain('Say which forge 127.0.0.1 is')
  expect(await told('--kind', 'github', '--token', 'ghp_secret')).toContain('must be env:NAME or file:/path')
  expect(await told('--kind', 'github', '--token', 'env:NO_SUCH_TOKEN')).toContain('no secret at env:NO_SUCH_TOKEN')
  expect(await told('--kind', 'github', '--token', 'file:/no/such/file')).toContain('no secret at file:/no/such/file')
  const other = [
    'forge',
    'link',
    github.url,
    '--kind',
    'github',
    '--tenant',
    'acme',
    '--kb',
    'none',
    '--token',
    'env:HOME',
  ]
  expect((await ganglion([...other, '--data', data])).stderr).toContain('acme has no knowledge base none.')
  expect((await ganglion(['forge', 'sync', ...named, '--data', data])).stderr).toContain('no linked knowledge base')
})
