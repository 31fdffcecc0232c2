import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../kb/context.ts'
import { createKnowledgeBase, operator, templateDir } from '../../kb/create-kb.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { blobAtPath } from '../../kb/projection/file-queries.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import { importDirectory } from '../import/import-directory.ts'
import { submitExamples } from './example-candidates.ts'

export type FirstRun = { kb: { id: string; slug: string }; curatorToken: string; appToken: string }

const tenant = 'default'
export const demoSlug = 'demo'

/**
 * Fills an empty data directory: a tenant, a knowledge base that explains Ganglion, with pending candidates, and two API keys.
 * Their tokens are only in the result. Does nothing on later starts.
 */
export async function firstRun(ctx: Context): Promise<FirstRun | undefined> {
  const { tenants, apiKeys, knowledgeBases, now } = ctx
  const known = await tenants.find(tenant)
  const hasKeys = (await apiKeys.list()).length > 0
  if (hasKeys || (known === undefined && (await tenants.list()).length > 0)) return undefined
  const { id: tenantId } = known ?? (await tenants.ensure(tenant, now()))
  const begun = await knowledgeBases.find(tenantId, demoSlug)
  const kb =
    begun ?? (await createKnowledgeBase(ctx, { tenant, slug: demoSlug, title: 'Ganglion, explained by itself' }))
  const demo = await ctx.kb(tenantId, demoSlug)
  await importDirectory(demo, join(templateDir, 'neurons'), {
    actor: operator,
    now,
    source: 'ganglion',
  })
  await addTests(ctx, demo)
  await submitExamples(ctx, demo)
  const key = { tenantId, connectors: [], expiresAt: null }
  const { token: curatorToken } = await apiKeys.create({ ...key, name: 'curator', role: 'curator' }, now())
  const { token: appToken } = await apiKeys.create({ ...key, name: 'app', role: 'app' }, now())
  return { kb: { id: kb.id, slug: demoSlug }, curatorToken, appToken }
}

async function addTests({ now }: Context, kb: KnowledgeBase): Promise<void> {
  const file = 'tests/answers.yaml'
  const text = await readFile(join(templateDir, file), 'utf8')
  await kb.write(async (staging) => {
    if (blobAtPath(kb.projection.write, file) !== undefined) return
    await commitToMain(kb, staging, {
      files: new Map([[file, text]]),
      subject: 'Add answer tests',
      trailers: [['Connector', 'ganglion']],
      decided: { operator },
      at: now(),
    })
  })
}
