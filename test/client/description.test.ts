import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../src/sources/ingest/job-runner.ts'
import { startProduct } from '../e2e/support.ts'
import { callEveryOperation } from './every-operation.ts'
import { adminKey } from './support.ts'

const Operation = z.looseObject({ responses: z.record(z.string(), z.unknown()) })
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })
const folder = import.meta.dirname
const generated = join(folder, 'generated')

/** Runs a tool of this folder, or of the project. @throws with what it printed */
async function run(tool: string, ...args: string[]): Promise<void> {
  const bin = [join(folder, '../../node_modules/.bin'), join(folder, 'node_modules/.bin')]
  const env = { ...process.env, PATH: [...bin, process.env.PATH].join(':') }
  await promisify(execFile)(tool, args, { cwd: folder, env }).catch(({ stdout, stderr }) => {
    throw new Error(`${tool} ${args.join(' ')}\n${stdout}${stderr}`)
  })
}

async function describe() {
  const product = await startProduct()
  const { body } = await product.request('GET', '/openapi.json')
  mkdirSync(generated, { recursive: true })
  const file = join(generated, 'openapi.json')
  writeFileSync(file, JSON.stringify(body))
  return { product, file, description: Description.parse(body) }
}

test('Redocly and Spectral find no error in the description', async () => {
  const { file } = await describe()
  await run('redocly', 'lint', '--extends=recommended', file)
  await run('spectral', 'lint', '--ruleset=spectral.yaml', file)
})

test('a generated client calls every operation with what is required alone', async () => {
  const { product, description } = await describe()
  const errors: unknown[] = []
  const { ctx } = product
  const stop = await startIngest(ctx, ingestSteps(ctx, undefined), { onError: (error) => errors.push(error) })
  onTestFinished(stop)
  const { url, tokens, request } = product
  const candidate = { knowledgeBaseId: 'handbook', kind: 'external-feed', title: 'Hours', content: 'Nine to five.' }
  const { body } = await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body: candidate })
  const approved = await request('POST', `/api/v1/queue/candidates/${body.candidateId}/approve`, { as: tokens.curator })
  const seqId = String(approved.body.seqId)
  const curator = { url, token: await adminKey(product), kb: 'handbook', seqId, file: 'README.md' }
  const calls = await callEveryOperation(curator)
  expect(errors).toEqual([])
  // A key has no mails.
  const refused = { operation: 'patch /api/v1/me', status: 403 }
  expect(calls.filter(({ status }) => status >= 300)).toEqual([refused])
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  expect([...new Set(calls.map(({ operation }) => operation))].sort()).toEqual(operations.sort())
})
