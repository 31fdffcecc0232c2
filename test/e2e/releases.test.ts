import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ganglion } from '../cli/support.ts'
import { tempDir } from '../support/temp.ts'
import { soundProduct } from './git/git-support.ts'

const releases = fileURLToPath(new URL('../state/releases', import.meta.url))
const archives = readdirSync(releases).filter((name) => name.endsWith('.tar.gz'))

test.each(archives)('the data directory of %s is migrated, and serves all that it held', async (archive) => {
  const dir = tempDir()
  execFileSync('tar', ['-xzf', join(releases, archive)], { cwd: dir })
  const dataDir = join(dir, 'data')
  const keys = JSON.parse(readFileSync(join(dir, 'keys.json'), 'utf8'))
  const refused = await ganglion(['kb', 'list', '--data', dataDir])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('This data directory is older') })
  const migrated = await ganglion(['migrate', '--data', dataDir])
  expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('A copy of it is kept') })
  expect(await ganglion(['verify', '--data', dataDir])).toMatchObject({ code: 0 })

  const product = await soundProduct({ restored: dataDir, shared: {} })
  const ask = async (role: string, path: string, body?: unknown) => {
    const method = body === undefined ? 'GET' : 'POST'
    return (await product.request(method, `/api/v1${path}`, { as: keys[role], ...(body !== undefined && { body }) }))
      .body
  }
  const { neurons } = Object(await ask('reader', '/knowledge-bases/handbook/neurons'))
  const titles = neurons.map(({ title }: { title: string }) => title)
  expect(titles).toEqual(expect.arrayContaining(['Escalation', 'Rotation']))
  const waiting = Object(await ask('curator', '/queue/candidates?kb=handbook&status=pending')).candidates
  expect(waiting).toMatchObject([{ title: 'Waiting' }])
  const approved = await ask('curator', `/queue/candidates/${waiting[0].id ?? waiting[0].candidateId}/approve`, {})
  expect(approved).toMatchObject({ status: 'approved' })
  const answer = await ask('reader', '/chat', {
    knowledgeBaseId: 'handbook',
    message: 'When does the rotation change?',
  })
  expect(JSON.stringify(answer)).toContain('Monday')
})
