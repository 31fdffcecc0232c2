import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { erasedCommits } from '../../../src/kb/refs/kb-refs.ts'
import { type ErasureStep, findTexts } from '../../../src/operate/erase/erase.ts'
import { planErasure } from '../../../src/operate/erase/plan-erasure.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { inTransaction } from '../../../src/state/database/transaction.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { holders, newHouse } from '../../operate/erase/support/erasure-house.ts'
import { s3Server } from '../../state/s3-server.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { ownServer } from '../support/nodes.ts'

const needles = ['Xanadu', 'Quist']

/** The files of a PostgreSQL server that hold a text, but for its log. */
function rowsWith(address: string): string[] {
  const root = join(new URL(address).searchParams.get('host') ?? '', 'data')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('pg_wal'))
  return files.filter((name) => {
    const path = join(root, name)
    return (
      statSync(path).isFile() && [...needles, 'xanadu?', 'quist?'].some((needle) => readFileSync(path).includes(needle))
    )
  })
}

test.each(['rows', 'cluster'] as const)(
  'an erasure reaches rows, bucket and the copies of nodes, however often it is cut off (%s)',
  async (kind) => {
    const server = await ownServer()
    const s3 = await s3Server()
    const database = server.address('ganglion')
    const stores = { database, ...(kind === 'cluster' && { objects: s3.options }) }
    const house = await newHouse(stores)
    const { directory, blobs, database: state } = house.ctx()
    const secret = { title: 'Zebulon Quist', content: 'Quist lives in Xanadu.' }
    const { seqId: erased } = Object(await house.approve(await house.propose(candidate(secret))))
    const { seqId: kept } = Object(
      await house.approve(await house.propose(candidate({ title: 'Kept', content: 'It stays.' }))),
    )
    const waiting = await house.propose(candidate({ title: 'Waits', content: 'Quist waits in Xanadu.' }))
    const [file, text] = [join(directory.incoming, 'received'), 'A document of Xanadu.']
    writeFileSync(file, text)
    const contentHash = createHash('sha256').update(text).digest('hex')
    const keep = async (note: Parameters<Parameters<typeof blobs.keep>[1]>[0]) => inTransaction(state.db, note)
    await blobs.keep({ path: file, sha256: contentHash, size: text.length }, keep)
    const source = await addSource(house.ctx(), { kbId: house.kbId, filename: 'xanadu.md', contentHash })
    await sourceTexts(house.ctx()).keep(source, { title: undefined, markdown: text, anchors: [], warnings: [] })
    // As questions are kept.
    for (const question of ['where is quist?', 'where is xanadu?']) {
      await sql`insert into asked_questions (kb_id, question, asked, empty, refused, down, asked_at)
        values (${house.kbId}, ${question}, 1, 0, 0, 0, '2026-01-01T00:00:00.000Z')`.execute(state.db)
    }
    await sql`vacuum analyze`.execute(state.db)
    const other = kind === 'cluster' ? join(tempDir(), 'other') : undefined
    const openOther = () => openContext({ ...stores, dataDir: other ?? house.dataDir, threads })
    if (other !== undefined) {
      const node = await openOther()
      expect((await readNeuron(node, house.curator, { kb: 'handbook', seqId: erased })).content).toContain('Xanadu')
      const clone = join(tempDir(), 'clone')
      nativeGit(other, ['clone', '--quiet', node.directory.repository(house.kbId), clone])
      await node.close()
      expect(holders(other, node.directory.repository(house.kbId), needles).length).toBeGreaterThan(3)
    }
    await sql`checkpoint`.execute(state.db)
    expect(rowsWith(database).length).toBeGreaterThan(0)
    const before = await house.told(kept)
    const oldHead = nativeGit(house.gitDir, ['rev-parse', 'main'])

    const request = { neurons: [erased], sources: [source.id], texts: needles }
    const { kbId, tenantId } = house
    const opened = await house.ctx().kb(tenantId, kbId)
    const plan = await planErasure(house.ctx(), opened, { ...request, people: [], decidedBy: [] })
    const places = { pages: 1, versions: 1, candidates: 2 }
    expect(await findTexts(house.ctx(), opened, plan)).toMatchObject([
      // The question, and the row of the Source, whose file has the text's name.
      { text: 'Xanadu', ...places, rows: 2 },
      { text: 'Quist', ...places, rows: 1 },
    ])
    const node = await openOther()
    let leads = false
    const leave = await node.database.lead(async () => {
      leads = true
      return () => {}
    })
    await expect.poll(() => leads).toBe(true)
    await expect(house.prepare(request)).rejects.toThrow('stop every node')
    await leave()
    await node.close()
    const stop = (last: ErasureStep) => (step: ErasureStep) => {
      if (step === last) throw new Error('cut off')
    }
    await expect(house.prepare(request, stop('written'))).rejects.toThrow('cut off')
    await expect(house.prepare(request, stop('decided'))).rejects.toThrow('cut off')
    await expect(house.prepare(request)).rejects.toThrow('ganglion erase --resume')
    for (const last of ['switched', 'removed', 'rewritten'] as const) {
      await expect(house.finish(stop(last))).rejects.toThrow('cut off')
      await expect(openOther()).rejects.toThrow('ganglion erase --resume')
    }
    await house.finish()

    expect(await house.told(kept)).toEqual(before)
    const neuron = await readNeuron(house.ctx(), house.curator, { kb: 'handbook', seqId: erased })
    expect(neuron.content).toContain('This version was erased')
    await house.sound()
    expect(await house.ctx().blobs.has(contentHash)).toBe(false)
    const { projection, repository } = await house.ctx().kb(house.tenantId, 'handbook')
    expect(projection.read.get`SELECT title FROM candidates WHERE id = ${waiting}`).toEqual({ title: 'Waits' })
    expect([...(await erasedCommits(repository)).keys()]).toContain(oldHead)
    await house.reopen()
    expect(holders(house.dataDir, house.gitDir, needles)).toEqual([])
    expect(rowsWith(database)).toEqual([])
    const objects = [...s3.objects].filter(([, { bytes }]) => needles.some((needle) => bytes.includes(needle)))
    expect(objects.map(([key]) => key)).toEqual([])
    if (other === undefined) return
    expect([...s3.objects.keys()].filter((key) => key.endsWith('.pack'))).toHaveLength(1)
    const again = await openOther()
    expect((await readNeuron(again, house.curator, { kb: 'handbook', seqId: erased })).content).not.toContain('Xanadu')
    const gitDir = again.directory.repository(house.kbId)
    expect(nativeGit(gitDir, ['show-ref', 'refs/ganglion/erased'])).toContain('refs/ganglion/erased')
    await again.close()
    expect(holders(other, gitDir, needles)).toEqual([])
  },
)
