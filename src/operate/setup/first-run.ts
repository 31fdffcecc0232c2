import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CandidateInput } from '../../contract/candidates.ts'
import type { Context } from '../../kb/context.ts'
import { createKnowledgeBase, operator, templateDir } from '../../kb/create-kb.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { blobAtPath, seqIdAtPath } from '../../kb/projection/file-queries.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { submitCandidate } from '../../queue/submit-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { importDirectory } from '../import/import-directory.ts'

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

/** Connector of the demo's pending candidates for its first curator. */
export const exampleConnector = 'example'

type Example = Pick<CandidateInput, 'kind' | 'title' | 'content' | 'impactEstimate'> & {
  /** Path of the page that the example corrects. */
  path?: string
  metadata?: Record<string, unknown>
}

const examples: readonly Example[] = [
  {
    kind: 'external-feed',
    title: 'How a curator reviews',
    impactEstimate: 3,
    content: `A [[Curator]] decides what becomes knowledge. Each decision takes three looks:

1. **Is it true?** Open the [[Sources|source]] that the [[Candidate]] names.
2. **Is it new?** The queue shows Neurons that resemble it.
3. **Is it clear?** Change the text before you approve it: the original stays in the record.

What is approved can be corrected later, like this page.
`,
  },
  {
    kind: 'user-correction',
    title: 'Start here: say where to begin as a curator',
    impactEstimate: 2,
    path: 'neurons/start-here.md',
    content: '- To decide on what waits: [[How a curator reviews]].\n',
  },
  {
    kind: 'reader-feedback',
    title: 'A reader asks: how long does a candidate wait?',
    impactEstimate: 1,
    metadata: { actionZone: 'red' },
    content: `> How long does a candidate wait in the queue?

The pages do not say. If there is a rule in your team, approve this with an answer; if there is none, dismiss it and say so.
`,
  },
]

export async function submitExamples(ctx: Context, kb: KnowledgeBase): Promise<void> {
  const caller: Caller = { ...operator, tenantId: kb.identity.tenantId, role: 'curator', connectors: [] }
  for (const { path, metadata, ...example } of examples) {
    const target = path === undefined ? undefined : await targetOf(kb, path)
    if (path !== undefined && target === undefined) continue
    const fingerprint = example.title
    const all = { connector: exampleConnector, fingerprint, ...metadata, ...(target && { targetNeuron: target.seqId }) }
    const input = {
      ...example,
      knowledgeBaseId: kb.identity.id,
      content: `${target?.content ?? ''}${example.content}`,
      metadata: JSON.stringify(all),
      confidence: null,
    }
    await submitCandidate(ctx, caller, input, { service: { actor: operator, fingerprint }, isSubject: true })
  }
}

/** Returns a page of main to which a line can be added. */
async function targetOf(kb: KnowledgeBase, path: string): Promise<{ seqId: string; content: string } | undefined> {
  const { read: sql } = kb.projection
  const seqId = seqIdAtPath(sql, path)
  const blob = blobAtPath(sql, path)
  if (seqId === undefined || blob === undefined) return undefined
  const { content } = parseNeuronFile(await kb.repository.readText(blob))
  return { seqId, content: `${content.trimEnd()}\n\n` }
}
