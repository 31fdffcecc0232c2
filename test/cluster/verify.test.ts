import { createHash } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, expect, test } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { uploadSource } from '../../src/sources/receive/upload-source.ts'
import { candidate } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { newNodes } from './support/two-nodes.ts'

let bed: Awaited<ReturnType<typeof newNodes>>

beforeEach(async () => {
  bed = await newNodes()
  const { one, caller } = bed
  const { candidateId } = await submitCandidate(one, caller, candidate())
  await approveCandidate(one, caller, candidateId, {})
  const form = async function* () {
    yield { name: 'file', filename: 'notes.md', bytes: Readable.from([Buffer.from('Notes.')]) } as const
  }
  await uploadSource(one, caller, 'handbook', form(), { force: false, replace: false })
})

/** Returns problems and notes without ids. */
async function told(ctx: OpenContext) {
  const { kbs } = await verify(ctx)
  return kbs.map(({ slug, problems, notes }) => [
    slug,
    problems.map(({ kind, message }) => `${kind}: ${message}`),
    notes,
  ])
}

function objectOf(folder: string): [string, { bytes: Buffer; storedAt: Date }] {
  const { prefix } = bed.s3.options
  const [object] = [...bed.s3.objects].filter(([key]) => key.startsWith(`${prefix}${folder}/`))
  return object ?? expect.unreachable()
}

test('a cluster is sound for each node, also for one that has no copy yet, and verifying makes it none', async () => {
  const { one, two, kbId } = bed
  expect(await told(one)).toEqual([['handbook', [], []]])
  const note = 'There is no index yet: it is built when the knowledge base is used.'
  expect(await told(two)).toEqual([['handbook', [], [note]]])
  expect(readdirSync(two.directory.repositories)).not.toContain(`${kbId}.git`)
})

test('a pack that is gone, and one whose bytes have changed, are named, whatever copies there are', async () => {
  const { one, s3, kept } = bed
  const [gone = '', damaged = ''] = kept('packs')
  s3.objects.delete(`${s3.options.prefix}packs/${gone}`)
  const object = s3.objects.get(`${s3.options.prefix}packs/${damaged}`) ?? expect.unreachable()
  object.bytes = Buffer.concat([object.bytes.subarray(0, 40), Buffer.from([1, 2, 3]), object.bytes.subarray(43)])
  const [[, problems] = []] = await told(one)
  expect(problems).toHaveLength(2)
  expect(problems).toEqual(
    expect.arrayContaining([
      `repository: The pack ${gone} is gone from the bucket.`,
      expect.stringContaining(`repository: The pack ${damaged} is damaged: `),
    ]),
  )
})

test('rows that name a commit that no pack has, and a knowledge base without rows, are problems', async () => {
  const { one, kbId } = bed
  const { db } = one.database
  await db
    .deleteFrom('repository_packs')
    .where('key', '=', bed.kept('packs').at(-1) ?? '')
    .execute()
  const [[, problems] = []] = await told(one)
  expect(problems).toContainEqual(expect.stringContaining('invalid sha1 pointer'))
  await one.cluster?.repositories.remove(kbId)
  const [[, none] = []] = await told(bed.two)
  expect(none).toEqual(['repository: The database has no repository of it.'])
})

test('packs without a row are noted, and are no problem', async () => {
  const { one, s3, kbId } = bed
  const object = { bytes: Buffer.from('PACK'), storedAt: new Date(Date.now() - 2 * 60 * 60_000) }
  s3.objects.set(`${s3.options.prefix}packs/${kbId}/being-written.pack`, { ...object, storedAt: new Date() })
  s3.objects.set(`${s3.options.prefix}packs/${kbId}/orphan.pack`, object)
  s3.objects.set(`${s3.options.prefix}packs/elsewhere/orphan.pack`, object)
  const note = '1 packs of the bucket have no row: a server removes them after a day.'
  expect(await told(one)).toEqual([
    ['handbook', [], [note]],
    [null, [], [note]],
  ])
})

test('bytes of a Source that are gone, or not those that were uploaded, are problems', async () => {
  const hash = createHash('sha256').update('Notes.').digest('hex')
  const [key, object] = objectOf('blobs')
  object.bytes = Buffer.from('Other.')
  const said = (what: string) => [
    expect.stringMatching(new RegExp(`^source: The bytes of notes.md \\(.*\\) are ${what}: ${hash}$`)),
  ]
  expect(await told(bed.one)).toEqual([['handbook', said('damaged'), []]])
  bed.s3.objects.delete(key)
  expect(await told(bed.one)).toEqual([['handbook', said('gone'), []]])
})

test("damage to a node's copy is told as such", async () => {
  const { one, kbId } = bed
  const folder = join(one.directory.repository(kbId), 'objects', 'pack')
  const [pack = ''] = readdirSync(folder).filter((name) => name.endsWith('.idx'))
  rmSync(join(folder, pack))
  writeFileSync(join(folder, pack), 'nothing')
  const [[, problems] = []] = await told(one)
  expect(problems).toEqual(
    expect.arrayContaining([expect.stringContaining('In the copy on this machine, which may be deleted: ')]),
  )
})
