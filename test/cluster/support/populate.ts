import { expect } from 'vitest'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { eventually } from '../../support/eventually.ts'
import { signIn } from '../../support/person.ts'
import type { Deployment } from './deployment.ts'

/** Secrets and ids that are known outside of a deployment, which must keep working. */
export type Access = {
  /** Tokens of API keys, by role. */
  keys: { curator: string; app: string; reader: string }
  /** Cookie of a person who is signed in. */
  cookie: string
  kbs: string[]
  /** The candidate that was submitted with the idempotency key `once`. */
  once: string
}

const roles = ['curator', 'app', 'reader'] as const

/** Fills a deployment with some of everything that it can hold. */
export async function populate(deployment: Deployment): Promise<Access> {
  const { ctx } = deployment
  const kbs = ['handbook', 'atlas']
  const [kbId = ''] = await Promise.all(
    kbs.map(async (slug) => (await createKnowledgeBase(ctx, { tenant: 'acme', slug })).id),
  )
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const made = await Promise.all(
    roles.map(async (role) => {
      const key = { tenantId, name: `The ${role}`, role, connectors: [], expiresAt: null }
      return [role, (await ctx.apiKeys.create(key, ctx.now())).token] as const
    }),
  )
  const { userId, headers } = await signIn(ctx, 'acme', 'admin', { email: 'ada@example.com', name: 'Ada' })
  const access = { keys: Object.fromEntries(made) as Access['keys'], cookie: headers.cookie, kbs, once: '' }
  await ctx.users.setPassword(userId, 'a hash')
  await ctx.oneTimeLinks.create({ purpose: 'reset', userId, tenantId: null }, ctx.now())
  await ctx.tours.mark(tenantId, userId, 'search')
  await ctx.webhooks.create(
    { tenantId, kbId, url: 'https://hooks.example/a', kinds: ['neuron.created'], cursor: 0 },
    ctx.now(),
  )
  await ctx.forgeLinks.create(
    {
      ...{ tenantId, kbId, kind: 'forgejo', url: 'https://git.example/acme/handbook', apiUrl: null },
      ...{ credential: { token: 'env:TOKEN' }, webhookSecret: null, maxOpen: 5 },
    },
    ctx.now(),
  )
  access.once = await submit(deployment, access, { title: 'Once' }, 'once')
  const first = await approve(deployment, access, await submit(deployment, access, { title: 'VIP — Ærø 🚀' }))
  await approve(deployment, access, await submit(deployment, access, { title: 'Links', content: '[[VIP — Ærø 🚀]]\n' }))
  const metadata = JSON.stringify({ targetNeuron: first })
  const fix = { kind: 'user-correction', content: 'Page the deputy.\n', metadata }
  await approve(deployment, access, await submit(deployment, access, fix))
  await submit(deployment, access, { ...fix, content: 'It waits.\n' })
  await post(deployment, access, `queue/candidates/${await submit(deployment, access)}/dismiss`, { reason: 'no' })
  await post(deployment, access, `queue/candidates/${await submit(deployment, access)}/comment`, { comment: 'Why?' })
  await submit(deployment, access, { knowledgeBaseId: 'atlas', title: 'Elsewhere' })
  const kept = await upload(deployment, access, 'notes.md', '# Notes\n\nSome text about pages, for the lead.\n')
  await upload(deployment, access, 'broken.pdf', '%PDF-1.7 nothing')
  const gone = await upload(deployment, access, 'old.md', '# Old\n\nOld text of a lead.\n')
  for (const id of [kept, gone]) await settled(deployment, id)
  await deployment.server.inject({
    ...{ method: 'DELETE', url: `/api/v1/documents/${gone}` },
    headers: { authorization: `Bearer ${access.keys.curator}` },
  })
  await post(deployment, access, 'knowledge-bases/handbook/documents/upload/init', {
    ...{ filename: 'chunks.md', fileSize: 10, path: '/', metadata: null },
  })
  await post(deployment, access, 'chat', { knowledgeBaseId: 'handbook', message: 'Whom do I page for a VIP?' })
  return access
}

/** Sends JSON with the curator's key. */
async function post({ server }: Deployment, { keys }: Access, path: string, payload: object, idempotencyKey?: string) {
  const { statusCode, body } = await server.inject({
    ...{ method: 'POST', url: `/api/v1/${path}`, payload },
    headers: {
      authorization: `Bearer ${keys.curator}`,
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
  })
  expect([path, statusCode, body]).toEqual([path, expect.toSatisfy((status: number) => status < 300), body])
  return JSON.parse(body)
}

/** @returns the id of the candidate */
export async function submit(
  deployment: Deployment,
  access: Access,
  changes: object = {},
  idempotencyKey?: string,
): Promise<string> {
  const candidate = {
    ...{ knowledgeBaseId: 'handbook', kind: 'external-feed', title: 'Page', content: 'Page the lead.\n' },
    ...{ metadata: null, confidence: null, impactEstimate: null, ...changes },
  }
  return (await post(deployment, access, 'queue/candidates', candidate, idempotencyKey)).candidateId
}

/** @returns the Neuron's seqId */
export async function approve(deployment: Deployment, access: Access, candidateId: string): Promise<string> {
  return (await post(deployment, access, `queue/candidates/${candidateId}/approve`, {})).seqId
}

/** @returns the id of the Source */
export async function upload({ url }: Deployment, { keys }: Access, filename: string, text: string): Promise<string> {
  const form = new FormData()
  form.set('file', new Blob([text]), filename)
  const answer = await fetch(`${url}/api/v1/knowledge-bases/handbook/documents/upload`, {
    ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${keys.curator}` } },
  })
  expect(answer.status).toBeLessThan(300)
  return ((await answer.json()) as { id: string }).id
}

/** Waits until a Source is ingested, and its text can be read. */
export async function settled({ ctx }: Deployment, id: string): Promise<void> {
  await eventually(async () => {
    const source = await ctx.sources.get(id)
    expect(source?.status).toBe('success')
    if (source !== undefined) expect(await sourceTexts(ctx).find(source)).toBeDefined()
  })
}
