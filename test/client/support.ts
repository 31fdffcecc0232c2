import { onTestFinished } from 'vitest'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../src/sources/ingest/job-runner.ts'
import { type Product, startProduct } from '../e2e/support.ts'

/** The whole product, which also ingests what is uploaded. */
export async function startIngesting(): Promise<Product> {
  const product = await startProduct()
  const { ctx } = product
  const onError = (error: unknown) => process.stderr.write(`${error}\n`)
  onTestFinished(await startIngest(ctx, ingestSteps(ctx, undefined), { onError }))
  return product
}
