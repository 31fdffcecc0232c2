import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { nativeGit } from '../git/support/native-git.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { ganglionProcess, serve } from './support.ts'

test('without a git all is served but clones and pushes, which say what is missing', async () => {
  const empty = join(tempDir(), 'bin')
  mkdirSync(empty)
  const data = join(tempDir(), 'data')
  const { line, child, log } = await serve(data, { PATH: empty, GANGLION_LOG_LEVEL: 'warn' })
  const { url = '', kb = '', curatorToken = '' } = line
  const headers = { authorization: `Bearer ${curatorToken}`, 'content-type': 'application/json' }
  const call = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/v1${path}`, { headers, ...init })
    return { status: answer.status, body: z.looseObject({}).parse(await answer.json()) }
  }
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready', git: null, notes: [] })
  await eventually(() => expect(log.join('')).toContain('No git is installed: all is served but clones and pushes.'))

  const proposal = {
    kb,
    kind: 'external-feed',
    title: 'Without git',
    content: 'A quokka smiles.',
    connector: 'test',
  }
  const submitted = await call('/queue/candidates', proposal)
  expect(submitted).toMatchObject({ status: 201, body: { status: 'pending' } })
  const approved = await call(`/queue/candidates/${submitted.body.candidateId}/approve`, {})
  expect(approved).toMatchObject({ status: 200, body: { status: 'approved' } })
  expect(await call(`/search?kb=${kb}&q=quokka`)).toMatchObject({ body: { hits: [{ title: 'Without git' }] } })

  const remote = `http://x:${curatorToken}@${new URL(url).host}/git/default/${kb}.git`
  const clone = () => nativeGit(tempDir(), ['clone', '--quiet', remote])
  expect(clone).toThrow('This server has no git, which clones and pushes need')

  const verified = await ganglionProcess(['verify', '--data', data, '--json'], { PATH: empty })
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, git: null })
  const copy = join(tempDir(), 'backup')
  expect(await ganglionProcess(['backup', copy, '--data', data], { PATH: empty })).toMatchObject({ code: 0 })
  child.kill('SIGTERM')
  const restored = join(tempDir(), 'restored')
  expect(await ganglionProcess(['restore', copy, '--data', restored], { PATH: empty })).toMatchObject({ code: 0 })
  expect(existsSync(join(restored, 'repos'))).toBe(true)
  expect((await ganglionProcess(['verify', '--data', restored])).stdout).not.toContain('No git')
})
