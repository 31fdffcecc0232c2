import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Health } from '../../src/services/health.ts'
import { submitCandidate } from '../../src/services/queue/submit-candidate.ts'
import { tempDir } from '../support/temp.ts'
import { candidate, newTestBed } from './support.ts'

const problemsOf = (...args: ConstructorParameters<typeof Health>) => new Health(...args).problems()

test('a deployment that can do what it promises has no problems', async () => {
  const { ganglion, app } = await newTestBed()
  await submitCandidate(ganglion, app, candidate())
  expect(await problemsOf(ganglion)).toEqual([])
})

test('without git', async () => {
  const { ganglion } = await newTestBed()
  vi.stubEnv('PATH', tempDir())
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await problemsOf(ganglion)).toEqual([{ part: 'git', reason: 'git cannot be started' }])
})

test('parts of the data directory that are not there are named, without paths', async () => {
  const { ganglion, dataDir, gitDir } = await newTestBed()
  await ganglion.kb((await ganglion.tenants.find('acme'))?.id ?? '', 'handbook')
  const missing = 'the data directory, or a part of it, is missing'
  await rename(join(gitDir, 'refs'), join(gitDir, 'refs.away'))
  expect(await problemsOf(ganglion)).toEqual([{ part: 'repositories', reason: missing }])
  await rename(join(gitDir, 'refs.away'), join(gitDir, 'refs'))
  await rm(join(dataDir, 'blobs'), { recursive: true })
  await rm(join(dataDir, 'tmp'), { recursive: true })
  await writeFile(join(dataDir, 'tmp'), '')
  expect(await problemsOf(ganglion)).toEqual([{ part: 'files', reason: missing }])
})

test('what was found holds for a few seconds', async () => {
  const { ganglion, dataDir } = await newTestBed()
  const health = new Health(ganglion)
  expect(await health.problems()).toEqual([])
  await rm(join(dataDir, 'blobs'), { recursive: true })
  expect(await health.problems()).toEqual([])
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 4_000)
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await health.problems()).toHaveLength(1)
})
