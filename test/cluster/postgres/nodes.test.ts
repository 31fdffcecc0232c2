import { existsSync, readdirSync, rmSync } from 'node:fs'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { evictCopies } from '../../../src/operate/evict-copies.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { migrations } from '../../../src/state/database/migrations/migrations.ts'
import { Clone, page } from '../../e2e/git/git-clone.ts'
import { approve, candidates, submitted } from '../../e2e/git/git-support.ts'
import { type Product, startProduct, stateOf } from '../../e2e/support.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { s3Server } from '../../state/s3-server.ts'
import { eventually } from '../../support/eventually.ts'
import { newDatabase } from '../../support/new-database.ts'
import { threads } from '../../support/threads.ts'

/** Nodes that share a database and a bucket, each with a data directory of its own. */
async function startNodes() {
  const s3 = await s3Server()
  const shared = { database: await newDatabase(), objects: s3.options }
  const node = () => startProduct({ shared })
  return { s3, shared, node, nodes: [await node(), await node()] as const }
}

const titles = async (node: Product, status: string) => (await candidates(node, status)).map(({ title }) => title)

async function expectSound(...nodes: Product[]): Promise<void> {
  for (const { ctx } of nodes) {
    const { kbs } = await verify(ctx)
    expect(kbs.flatMap(({ problems }) => problems)).toEqual([])
  }
}

test('what one node writes the other reads at once', async () => {
  const { nodes } = await startNodes()
  const [one, other] = nodes
  for (let n = 0; n < 5; n++) {
    const [writer, reader] = n % 2 === 0 ? [one, other] : [other, one]
    const id = await submitted(writer, `Page ${n}`, `Text ${n}`)
    expect(await titles(reader, 'pending')).toEqual([`Page ${n}`])
    const { status, body } = await approve(reader, id)
    expect(status).toBe(200)
    const read = await writer.request('GET', `/api/v1/neurons/handbook/${body.seqId}`, { as: writer.tokens.reader })
    expect(read.body.title).toBe(`Page ${n}`)
  }
  await expectSound(...nodes)
})

test('both nodes approve at the same time, each candidate once, with a seqId of its own', async () => {
  const { nodes } = await startNodes()
  const ids = await Promise.all(
    Array.from({ length: 16 }, (_, n) => submitted(nodes[(n % 2) as 0 | 1], `Page ${n}`, `Text ${n}`)),
  )
  const answers = await Promise.all(ids.flatMap((id) => nodes.map((node) => approve(node, id))))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const seqIds = new Map(answers.map(({ body }) => [body.candidateId, body.seqId]))
  expect(answers.every(({ body }) => seqIds.get(body.candidateId) === body.seqId)).toBe(true)
  expect(new Set(seqIds.values()).size).toBe(16)
  for (const node of nodes) expect(await titles(node, 'approved')).toHaveLength(16)
  await expectSound(...nodes)
})

test('native git pushes to both nodes and clones from either, and a node that lost its disk has all of it', async () => {
  const { nodes, node } = await startNodes()
  const clones = await Promise.all(nodes.map((product) => Clone.of(product, product.tokens.curator)))
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      clones.map(async (clone, who) => {
        await clone.commit({ [`neurons/page-${who}-${round}.md`]: page(`Page ${who} ${round}`, 'Pushed.') })
        for (let tries = 0; (await clone.push('main')).code !== 0; tries++) {
          expect(tries).toBeLessThan(20)
          await clone.git('pull', '--quiet', '--rebase')
        }
        await clone.git('pull', '--quiet', '--rebase')
      }),
    )
  }
  const fresh = await node()
  const clone = await Clone.of(fresh, fresh.tokens.curator)
  const { stdout } = await clone.run('ls-tree', '-r', '--name-only', 'HEAD', 'neurons')
  expect(stdout.trim().split('\n')).toHaveLength(6)
  const shown = await Promise.all(
    [...nodes, fresh].map(async (product) => {
      const own = await Clone.of(product, product.tokens.reader)
      return [await own.git('rev-parse', 'main'), await own.git('ls-tree', '--name-only', 'main:neurons')].join('\n')
    }),
  )
  // The pages of a reader's clone are built from the fields that readers see, so their bytes are others than a curator's.
  expect(new Set(shown).size).toBe(1)
  expect(shown[0]).toContain(await clone.git('ls-tree', '--name-only', 'main:neurons'))
  expect(nativeGit(fresh.gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  await expectSound(...nodes, fresh)
})

test('a push that undoes one of its own commits is whole on the other node', async () => {
  const { nodes } = await startNodes()
  const [one, other] = nodes
  const clone = await Clone.of(one, one.tokens.curator)
  await clone.commit({ 'neurons/kept.md': page('Kept', 'Pushed.') })
  await clone.commit({ 'neurons/undone.md': page('Undone', 'Pushed.') })
  await clone.git('revert', '--no-edit', 'HEAD')
  expect((await clone.push('main')).code).toBe(0)
  const { body } = await other.request('GET', '/api/v1/knowledge-bases/handbook/neurons', { as: other.tokens.reader })
  expect(body.neurons).toMatchObject([{ title: 'Kept' }])
  await expectSound(...nodes)
})

test('without the store a node reads what it has, and refuses to write until the store is back', async () => {
  const { nodes, s3 } = await startNodes()
  const [one] = nodes
  const id = await submitted(one, 'Page', 'Text')
  s3.outage.isOn = true
  expect((await approve(one, id)).status).toBe(503)
  expect(await titles(one, 'pending')).toEqual(['Page'])
  s3.outage.isOn = false
  expect((await approve(one, id)).status).toBe(200)
  expect(await titles(one, 'approved')).toEqual(['Page'])
})

test('a node follows what another writes before somebody asks', async () => {
  const { nodes, shared } = await startNodes()
  const [one] = nodes
  const errors: unknown[] = []
  const follower = await startProduct({ shared, onError: (error) => errors.push(error) })
  expect(await titles(follower, 'pending')).toEqual([])
  const { body } = await approve(one, await submitted(one, 'Page', 'Text'))
  await eventually(() => expect(nativeGit(follower.gitDir, ['rev-parse', 'main'])).toBe(body.commit))
  expect(errors).toEqual([])
})

test('a node lets go of copies that were not used for longest, and fetches them again when they are asked for', async () => {
  const { nodes } = await startNodes()
  const [one] = nodes
  expect(await titles(one, 'pending')).toEqual([])
  await createKnowledgeBase(one.ctx, { tenant: 'acme', slug: 'other' })
  const { id: tenantId } = (await one.ctx.tenants.find('acme')) ?? expect.unreachable()
  const other = await one.ctx.knowledgeBases.find(tenantId, 'other')
  const gitDir = one.ctx.directory.repository(other?.id ?? '')
  const later = Date.now() + 60 * 60_000
  await evictCopies(one.ctx, 1e9, later)
  expect(existsSync(gitDir)).toBe(true)
  await evictCopies(one.ctx, 0, Date.now())
  expect(existsSync(gitDir)).toBe(true) // it was used just now
  await evictCopies(one.ctx, 0, later)
  expect([existsSync(gitDir), existsSync(one.gitDir)]).toEqual([false, true]) // the second is open
  expect(readdirSync(one.ctx.directory.incoming)).toEqual([])
  const kb = await one.ctx.kb(tenantId, 'other')
  expect(kb.heads().main).toBeDefined()
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect((await approve(one, await submitted(one, 'Page', 'Text'))).status).toBe(200)
  await expectSound(...nodes)
})

test('a pack that is gone from the bucket is found by verify, and a node without a copy refuses to read', async () => {
  const { nodes, s3, node } = await startNodes()
  const [one] = nodes
  await submitted(one, 'Page', 'Text')
  const [key = ''] = [...s3.objects.keys()].filter((name) => name.endsWith('.pack'))
  s3.objects.delete(key)
  const { kbs } = await verify(one.ctx)
  const name = key.slice(key.indexOf('packs/') + 'packs/'.length)
  expect(kbs.flatMap(({ problems }) => problems.map(({ message }) => message))).toEqual([
    `The pack ${name} is gone from the bucket.`,
  ])
  const fresh = await node()
  const read = await fresh.request('GET', '/api/v1/queue/candidates?kb=handbook', { as: fresh.tokens.curator })
  expect(read.status).toBe(503)
})

test('a copy that was deleted does not keep a node from closing, and is made again', async () => {
  const { nodes } = await startNodes()
  const [one, other] = nodes
  const { ctx, gitDir, kbId } = one
  const { status } = await approve(one, await submitted(one, 'Page', 'Text'))
  expect(status).toBe(200)
  await ctx.close()
  rmSync(gitDir, { recursive: true })
  const again = await openContext({ dataDir: one.dataDir, threads, ...stateOf(ctx) })
  onTestFinished(() => again.close())
  const [identity] = await again.knowledgeBases.list()
  const kb = await again.kbs.open(identity ?? expect.unreachable())
  expect([kb.identity.id, kb.heads().main]).toEqual([kbId, (await other.ctx.kbs.open(kb.identity)).heads().main])
  rmSync(gitDir, { recursive: true })
})

test('a node goes on serving while a newer one migrates the database and serves beside it', async () => {
  const { nodes, node } = await startNodes()
  const [old] = nodes
  const before = await submitted(old, 'Before', 'Text of before.')
  const tables = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_name not like 'kysely%'`.execute(old.ctx.database.db)
  const next = '9999-next'
  migrations[next] = {
    up: async (db) => {
      for (const { name } of tables.rows) {
        await sql`alter table ${sql.table(name)} add column later text default 'x' not null`.execute(db)
      }
    },
  }
  onTestFinished(() => void delete migrations[next])
  const newer = await node()
  const beside = await submitted(old, 'Beside', 'Text of beside.')
  for (const [by, id] of [
    [newer, before],
    [old, beside],
  ] as const) {
    expect((await approve(by, id)).status).toBe(200)
  }
  for (const each of [old, newer]) {
    expect(await titles(each, 'approved')).toHaveLength(2)
    const key = await each.newKey('acme', 'reader')
    const { status, body } = await each.request('GET', '/api/v1/knowledge-bases/handbook/neurons', { as: key })
    expect([status, Object(body).neurons.length]).toEqual([200, 2])
    const asked = { knowledgeBaseId: 'handbook', message: 'What is the text of before?' }
    expect((await each.request('POST', '/api/v1/chat', { as: key, body: asked })).status).toBe(200)
  }
  await expectSound(old, newer)
})
