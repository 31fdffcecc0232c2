import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addAnswerTest } from '../../src/answer-tests/add-test.ts'
import { AnswerTestInput } from '../../src/contract/answer-tests.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { createApiKey } from '../../src/people/manage-api-keys.ts'
import { newTestBed } from './support/test-bed.ts'

const lost = () => Promise.reject(new Error('The answer of the database was lost.'))

test('a knowledge base whose entry is committed keeps its repository, though the answer to the commit is lost', async () => {
  const { ctx, curator } = await newTestBed()
  const { knowledgeBases } = ctx
  const create = knowledgeBases.create.bind(knowledgeBases)
  knowledgeBases.create = (...entry) => create(...entry).then(lost)
  const { id, gitDir } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })
  expect(existsSync(gitDir)).toBe(true)
  expect((await ctx.kb(curator.tenantId, 'other')).identity.id).toBe(id)
})

test('a knowledge base of which nobody knows whether it is committed keeps its repository, and another one leaves none', async () => {
  const { ctx, curator } = await newTestBed()
  const { knowledgeBases } = ctx
  const create = knowledgeBases.create.bind(knowledgeBases)
  const find = knowledgeBases.find.bind(knowledgeBases)
  knowledgeBases.create = (...entry) => {
    knowledgeBases.find = lost
    return create(...entry).then(lost)
  }
  await expect(createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })).rejects.toThrow('lost')
  Object.assign(knowledgeBases, { create, find })
  const made = await ctx.kb(curator.tenantId, 'other')
  expect(existsSync(made.repository.gitDir)).toBe(true)

  let gitDir = ''
  knowledgeBases.create = async ({ id }) => {
    gitDir = ctx.directory.repository(id)
    throw new Error('EIO')
  }
  await expect(createKnowledgeBase(ctx, { tenant: 'acme', slug: 'third' })).rejects.toThrow('EIO')
  expect([gitDir === '', existsSync(gitDir)]).toEqual([false, false])
})

test('an act whose record in the audit log fails is done, and answers so', async () => {
  const bed = await newTestBed()
  const errors: unknown[] = []
  const ctx = { ...bed.ctx, onError: (error: unknown) => void errors.push(error) }
  ctx.audit.record = lost
  const input = { name: 'CI', role: 'app' as const, connectors: [], expiresAt: null }
  const { token } = await createApiKey(ctx, { ...bed.curator, isAdmin: true }, input)
  expect(await ctx.apiKeys.authenticate(token, ctx.now())).toMatchObject({ name: 'CI' })
  expect(errors).toHaveLength(1)
})

test('an answer test that is on main is the answer, though what proposed it cannot be dismissed', async () => {
  const { ctx, curator } = await newTestBed()
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  ctx.askedQuestions.remove = lost
  const input = AnswerTestInput.parse({ question: 'Who is paged?', refuses: true })
  const added = await addAnswerTest(ctx, curator, 'handbook', input)
  expect(added.commit).toBe(await kb.repository.readRef('refs/heads/main'))
})
