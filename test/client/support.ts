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

/** Makes a key of an administrator of the tenant `acme`. */
export async function adminKey({ ctx }: Product): Promise<string> {
  const { id: tenantId } = await ctx.tenants.ensure('acme', ctx.now())
  const key = { tenantId, name: 'root', role: 'curator' as const, isAdmin: true, connectors: [], expiresAt: null }
  return (await ctx.apiKeys.create(key, ctx.now())).token
}
