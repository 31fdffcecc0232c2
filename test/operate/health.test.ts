import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { nativeGit } from '../../src/git/native/git-process.ts'
import { refusalFor } from '../../src/kb/failure.ts'
import { Health } from '../../src/operate/health.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { tempDir } from '../support/temp.ts'

const problemsOf = (...args: ConstructorParameters<typeof Health>) => new Health(...args).problems()

test('a deployment that can do what it promises has no problems', async () => {
  const { ctx, app } = await newTestBed()
  await submitCandidate(ctx, app, candidate())
  expect(await problemsOf(ctx)).toEqual([])
})

test('without git', async () => {
  const { ctx } = await newTestBed()
  await nativeGit() // as a server looks for it at its start
  vi.stubEnv('PATH', tempDir())
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await problemsOf(ctx)).toEqual([{ part: 'git', reason: 'git cannot be started' }])
})

test('parts of the data directory that are not there are named, without paths', async () => {
  const { ctx, dataDir, gitDir } = await newTestBed()
  await ctx.kb((await ctx.tenants.find('acme'))?.id ?? '', 'handbook')
  const missing = 'the data directory, or a part of it, is missing'
  await rename(join(gitDir, 'refs'), join(gitDir, 'refs.away'))
  expect(await problemsOf(ctx)).toEqual([{ part: 'repositories', reason: missing }])
  await rename(join(gitDir, 'refs.away'), join(gitDir, 'refs'))
  await rm(join(dataDir, 'blobs'), { recursive: true })
  await rm(join(dataDir, 'tmp'), { recursive: true })
  await writeFile(join(dataDir, 'tmp'), '')
  expect(await problemsOf(ctx)).toEqual([{ part: 'files', reason: missing }])
})

test('a knowledge base with a folder that cannot be written is noted', async () => {
  const { ctx, gitDir } = await newTestBed()
  expect(await new Health(ctx).notes()).toEqual([])
  await rename(join(gitDir, 'objects'), join(gitDir, 'objects.away'))
  await writeFile(join(gitDir, 'objects'), '')
  expect(await new Health(ctx).notes()).toEqual([
    'knowledge bases with a folder that the server may not write: 1; see ganglion verify',
  ])
})

test('what was found holds for a few seconds', async () => {
  const { ctx, dataDir } = await newTestBed()
  const health = new Health(ctx)
  expect(await health.problems()).toEqual([])
  await rm(join(dataDir, 'blobs'), { recursive: true })
  expect(await health.problems()).toEqual([])
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 4_000)
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await health.problems()).toHaveLength(1)
})

test('where the repositories are gone, an open knowledge base and one that is opened say so', async () => {
  const { ctx, curator, dataDir, gitDir } = await newTestBed()
  const { seqId = '' } = await submitCandidate(ctx, curator, candidate({ confidence: 1 }))
  await rm(dirname(gitDir), { recursive: true })
  const reopened = await openContext({ dataDir })
  onTestFinished(() => reopened.close())
  for (const one of [ctx, reopened]) {
    for (const ask of [
      () => readNeuron(one, curator, { kb: 'handbook', seqId }),
      () => submitCandidate(one, curator, candidate()),
    ]) {
      expect(refusalFor(await ask().catch((error: unknown) => error))).toMatchObject({
        code: 'unavailable',
        message: 'The repository of the knowledge base is damaged, or is not there.',
      })
    }
  }
})

test.each(['', 'ref: refs/heads/elsewhere\n'])('a main that holds %j is told as damage', async (held) => {
  const { ctx, curator, dataDir, gitDir } = await newTestBed()
  const { seqId = '' } = await submitCandidate(ctx, curator, candidate({ confidence: 1 }))
  await writeFile(join(gitDir, 'refs/heads/main'), held)
  const reopened = await openContext({ dataDir })
  onTestFinished(() => reopened.close())
  for (const one of [ctx, reopened]) {
    const error = await readNeuron(one, curator, { kb: 'handbook', seqId }).catch((error: unknown) => error)
    expect(refusalFor(error)).toMatchObject({ code: 'unavailable', message: expect.stringContaining('is damaged') })
  }
})
