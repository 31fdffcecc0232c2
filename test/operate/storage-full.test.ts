import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { tempDir } from '../support/temp.ts'

/** Commits so many Neurons with native git that the tables need more room for them. */
function pushMany(gitDir: string): void {
  const clone = join(tempDir(), 'clone')
  nativeGit(gitDir, ['clone', '--quiet', gitDir, clone])
  mkdirSync(join(clone, 'neurons/many'), { recursive: true })
  for (let n = 0; n < 300; n++) {
    const front = `---\nseqId: handbook_${String(n + 100).padStart(8, '0')}\ntitle: Page ${n} ${'x'.repeat(200)}\n---\n`
    writeFileSync(join(clone, `neurons/many/${n}.md`), `${front}\nText.\n`)
  }
  nativeGit(clone, ['add', '--all'])
  nativeGit(clone, ['commit', '--quiet', '-m', 'Many'])
  nativeGit(clone, ['push', '--quiet', 'origin', 'HEAD:main'])
}

test('where the tables have no room to follow, what they hold is served, writes are refused, and room is all it takes', async () => {
  const bed = await newTestBed()
  const read = (seqId: string) => readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })
  const { seqId = '' } = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1 }))
  const kb = await bed.ctx.kb(bed.app.tenantId, 'handbook')
  const pages = Number(kb.projection.write.get`PRAGMA page_count`?.page_count)
  const limitPages = (limit: number) => {
    const sql = `PRAGMA max_page_count = ${limit}` // a pragma takes no parameters
    kb.projection.write.get(Object.assign([sql], { raw: [sql] }))
  }
  limitPages(pages)
  pushMany(bed.gitDir)
  expect((await read(seqId)).seqId).toBe(seqId)
  await expect(read('handbook_00000250')).rejects.toMatchObject({ code: 'not_found' })
  const head = nativeGit(bed.gitDir, ['for-each-ref'])
  await expect(submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1 }))).rejects.toThrow('full')
  expect(nativeGit(bed.gitDir, ['for-each-ref'])).toBe(head)
  limitPages(1_000_000)
  expect((await read('handbook_00000250')).seqId).toBe('handbook_00000250')
})
