import { copyFileSync, existsSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { search as searchKb } from '../../src/search/kb/search-kb.ts'
import { neuronText, writtenBed } from '../kb/support/written-neurons.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { newDeployment, startServer } from './support/deployment.ts'
import { fillUp, smallDisk } from './support/disk.ts'
import { planFaults } from './support/fault-plan.ts'

test('a full disk is told by /readyz, and reads and searches go on', async () => {
  const mountPoint = smallDisk(64)
  const faults = mountPoint === undefined ? planFaults({ mode: 'fail', rate: 1, codes: ['ENOSPC'] }) : undefined
  const deployment = await newDeployment(join(mountPoint ?? tempDir(), 'data'))
  const server = await startServer(deployment, { GANGLION_LOG_LEVEL: 'silent', ...faults?.env })
  const headers = { authorization: `Bearer ${deployment.token}`, 'content-type': 'application/json' }
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(server.url + path, init)
    return { status: response.status, body: Object(await response.json()) }
  }
  const page = {
    knowledgeBaseId: deployment.kbId,
    kind: 'external-feed',
    title: 'Rotation',
    content: 'On Monday.',
    confidence: 1,
  }
  const sent = await ask('/api/v1/queue/candidates', page)
  const { body } = await ask(`/api/v1/queue/candidates/${sent.body.candidateId}/approve`, {})
  const search = `/api/v1/search?q=monday&kb=${deployment.kbId}`
  expect((await ask(search)).body.hits).toHaveLength(1)
  faults?.begin()
  const free = mountPoint === undefined ? faults?.cease : fillUp(mountPoint)
  await eventually(async () => {
    const { status, body } = await ask('/readyz')
    expect([status, JSON.stringify(body.notes)]).toEqual([200, expect.stringContaining('the disk is full')])
  })
  const reads = [
    `/api/v1/neurons/${deployment.kbId}/${body.seqId}`,
    search,
    `/api/v1/search?q=rotation&kb=${deployment.kbId}`,
    `/api/v1/knowledge-bases/${deployment.kbId}/neurons`,
    `/api/v1/queue/candidates?kb=${deployment.kbId}`,
  ]
  for (const path of reads) expect([path, (await ask(path)).status]).toEqual([path, 200])
  expect((await ask('/api/v1/queue/candidates', page)).status).toBe(507)
  free?.()
})

test('a knowledge base that is not open yet is opened, read and searched on a full disk', async () => {
  const {
    ctx: first,
    reader,
    kbId,
    reopen,
  } = await writtenBed({
    'heron.md': neuronText(1, { title: 'Herons' }, 'Herons eat frogs.\n'),
  })
  await first.kb(reader.tenantId, 'handbook')
  const folder = first.directory.index(kbId)
  const mountPoint = smallDisk(4)
  const ctx = await reopen()
  renameSync(folder, `${folder}-before`)
  symlinkSync(mountPoint ?? '/proc', folder)
  const file = join(`${folder}-before`, 'knowledge.db')
  if (mountPoint !== undefined) {
    copyFileSync(file, join(folder, 'knowledge.db'))
    fillUp(mountPoint)
  }
  const copies = () => readdirSync('/dev/shm').filter((name) => name.startsWith('ganglion-projection-')).length
  const before = existsSync('/dev/shm') ? copies() : 0
  const found = await searchKb(ctx, reader, 'handbook', { q: 'frogs', kind: 'all', limit: 10 })
  expect(found).toMatchObject({ documents: [{ title: 'Herons' }] })
  expect(await readNeuron(ctx, reader, { kb: 'handbook', seqId: 'handbook_00000001' })).toMatchObject({
    title: 'Herons',
  })
  await ctx.close()
  if (existsSync('/dev/shm')) expect(copies()).toBe(before)
})

test('a knowledge base whose index a full disk cannot take is searched without it', async () => {
  const { ctx, reader, kbId } = await writtenBed({
    'heron.md': neuronText(1, { title: 'Herons' }, 'Herons eat frogs.\n'),
  })
  await ctx.kb(reader.tenantId, 'handbook')
  // Files that are open already go on; the index would be a new one.
  const folder = ctx.directory.index(kbId)
  const mountPoint = smallDisk(1)
  renameSync(folder, `${folder}-open`)
  symlinkSync(mountPoint ?? '/proc', folder)
  if (mountPoint !== undefined) fillUp(mountPoint)
  const found = await searchKb(ctx, reader, 'handbook', { q: 'frogs', kind: 'all', limit: 10 })
  expect(found).toMatchObject({ documents: [{ title: 'Herons' }], behind: { pages: 1 } })
})
