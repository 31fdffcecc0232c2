import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { Repository } from '../../src/git/repository.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { backup } from '../../src/operate/backup/backup.ts'
import { BackupError, readManifest } from '../../src/operate/backup/backup-manifest.ts'
import { restore } from '../../src/operate/backup/restore.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { openSession } from '../../src/people/person-session.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { beginUpload, receiveChunk } from '../../src/sources/receive/chunked-upload.ts'
import { uploadSource } from '../../src/sources/receive/upload-source.ts'
import { latestMigration } from '../../src/state/database/migrations/migrations.ts'
import { everyAnswer } from '../kb/support/answers.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { s3Server } from '../state/s3-server.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { signIn } from '../support/person.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'

const main = 'refs/heads/main'
const queue = 'refs/ganglion/queue'
const version = '1.2.3'

async function newNeuron({ ctx, app, curator }: TestBed, server: OpenContext = ctx) {
  const { candidateId } = await submitCandidate(server, app, candidate())
  return approveCandidate(server, curator, candidateId, {})
}

/** A knowledge base with Neurons, decisions, other refs and a key. */
async function usedBed() {
  const bed = await newTestBed()
  const { ctx, app, curator, gitDir } = bed
  const { seqId } = await newNeuron(bed)
  await newNeuron(bed)
  const fix = await submitCandidate(ctx, app, correction(seqId, 'Page the deputy.\n'))
  await approveCandidate(ctx, curator, fix.candidateId, {})
  await dismissCandidate(ctx, curator, (await submitCandidate(ctx, app, candidate())).candidateId, {})
  await submitCandidate(ctx, app, candidate({ title: 'Waiting' }))
  const native = new NativeWriter(gitDir)
  native.git('tag', 'a-tag', 'main~1')
  native.git('update-ref', 'refs/candidates/x/head', 'main')
  const { token } = await ctx.apiKeys.create(
    { tenantId: curator.tenantId, name: 'tests', role: 'curator', connectors: [], expiresAt: null },
    new Date(),
  )
  return { ...bed, native, token, seqId }
}

async function opened(dataDir: string): Promise<OpenContext> {
  const ctx = await openContext({ dataDir })
  onTestFinished(() => ctx.close())
  return ctx
}

function uploaded({ ctx, curator }: Pick<TestBed, 'ctx' | 'curator'>, filename: string, content: string) {
  const form = async function* () {
    yield { name: 'file', filename, bytes: Readable.from([Buffer.from(content)]) } as const
  }
  return uploadSource(ctx, curator, 'handbook', form(), { force: true, replace: false })
}

/** But the heads of candidates, which are derived. */
function refsOf(native: NativeWriter): Record<string, string> {
  const lines = native.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n')
  const refs = lines.filter((line) => !line.startsWith('refs/candidates/'))
  return Object.fromEntries(refs.map((line) => line.split(' ')))
}

test('what is restored is what was backed up: refs, answers, keys and blobs', async () => {
  const bed = await usedBed()
  const { ctx, native, token, seqId, kbId } = bed
  const { contentHash } = await uploaded(bed, 'notes.md', 'bytes')
  const look = (server: OpenContext) =>
    everyAnswer(server, { token, kb: 'handbook', seqIds: [seqId], commits: native.git('rev-list', 'main').split('\n') })
  const [refs, answers] = [refsOf(native), await look(ctx)]

  const dir = join(tempDir(), 'backups', 'monday')
  const { manifest } = await backup(ctx, dir, { version })
  expect(manifest).toEqual({
    format: 2,
    schema: latestMigration(),
    createdAt: expect.any(String),
    ganglion: version,
    kbs: [{ id: kbId, slug: 'handbook', tenant: 'acme', refs, highestNumber: 2 }],
    missingBlobs: [],
    files: {
      'ganglion.db': expect.stringMatching(/^[0-9a-f]{64}$/),
      [`repos/${kbId}.bundle`]: expect.stringMatching(/^[0-9a-f]{64}$/),
      [`blobs/${contentHash.slice(0, 2)}/${contentHash.slice(2, 4)}/${contentHash}`]: contentHash,
    },
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))).toEqual(manifest)

  const dataDir = join(tempDir(), 'data')
  const { kbs } = await restore(dir, { dataDir })
  expect(kbs).toEqual([{ id: kbId, slug: 'handbook', seqFloor: 10_002, warnings: [] }])
  const restored = await opened(dataDir)
  expect(await look(restored)).toEqual(answers)
  expect(await text(await restored.blobs.get(contentHash))).toBe('bytes')
  const copy = new NativeWriter(restored.directory.repository(kbId))
  expect(refsOf(copy)).toEqual({ ...refs, [queue]: expect.any(String) })
  expect(copy.git('rev-parse', `${queue}~1`)).toBe(refs[queue])
  expect(copy.git('diff', '--name-only', `${queue}~1`, queue)).toBe('seq-floor')
  expect(copy.git('fsck', '--full', '--strict')).toBe('')
  expect(await verify(restored)).toMatchObject({ ok: true })
})

test('no seqId is given again that was given after the backup, however often it is restored', async () => {
  const bed = await usedBed()
  const first = join(tempDir(), 'first')
  await backup(bed.ctx, first, { version })
  const lost = [await newNeuron(bed), await newNeuron(bed)].map(({ seqId }) => seqId)
  expect(lost).toEqual(['handbook_00000003', 'handbook_00000004'])

  const data = join(tempDir(), 'data')
  await restore(first, { dataDir: data })
  const restored = await opened(data)
  expect(await newNeuron(bed, restored)).toMatchObject({ seqId: 'handbook_00010003' })
  rmSync(join(data, 'index'), { recursive: true })
  expect(await newNeuron(bed, await opened(data))).toMatchObject({ seqId: 'handbook_00010004' })

  const second = join(tempDir(), 'second')
  await backup(await opened(data), second, { version })
  const again = join(tempDir(), 'again')
  await restore(second, { dataDir: again })
  expect(await newNeuron(bed, await opened(again))).toMatchObject({ seqId: 'handbook_00020005' })
})

test('what the policy approved and main had not seen is approved above the floor, or waits where it cannot be', async () => {
  const bed = await usedBed()
  const { ctx, native, app, curator } = bed
  const before = native.git('rev-parse', main)
  const { seqId: lost } = await newNeuron(bed)
  const fix = await submitCandidate(ctx, app, correction(lost, 'Better.\n', { confidence: 1 }))
  await submitCandidate(ctx, app, candidate({ title: 'Sure', confidence: 1 }))
  native.git('update-ref', main, before)
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })

  const data = join(tempDir(), 'data')
  await restore(dir, { dataDir: data })
  const restored = await opened(data)
  const copy = new NativeWriter(restored.directory.repository(bed.kbId))
  const [sure = '', ...others] = copy.paths(main, 'neurons/').filter((path) => path.includes('/sure-'))
  expect(others).toEqual([])
  expect(copy.read(main, sure)).toContain('seqId: handbook_00010005\n')
  expect(await readCandidate(restored, curator, fix.candidateId)).toMatchObject({ status: 'pending', target: lost })
  expect(await verify(restored)).toMatchObject({ ok: true })
})

test('a knowledge base whose repository is empty comes back empty', async () => {
  const { ctx, curator } = await newTestBed()
  const id = '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f'
  await ctx.knowledgeBases.create({ id, tenantId: curator.tenantId, slug: 'empty', prefix: 'empty' }, new Date())
  const repository = await Repository.init(ctx.directory.repository(id))
  repository.close()
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })
  const { kbs } = await restore(dir, { dataDir: join(tempDir(), 'data') })
  expect(kbs.map(({ slug, seqFloor }) => [slug, seqFloor])).toEqual([
    ['empty', 10_000],
    ['handbook', 10_000],
  ])
})

test('people come back with their passwords and roles, but neither sessions nor links: they may have been ended since', async () => {
  const { ctx } = await newTestBed()
  const { token, userId } = await signIn(ctx, 'acme', 'curator', { email: 'ada@example.com' })
  await ctx.users.setPassword(userId, 'a hash')
  const link = await ctx.oneTimeLinks.create({ purpose: 'reset', userId, tenantId: null }, new Date())
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })
  const dataDir = join(tempDir(), 'data')
  await restore(dir, { dataDir })
  const restored = await opened(dataDir)
  expect(await openSession(restored, token)).toBeUndefined()
  expect(await restored.oneTimeLinks.find(link, new Date())).toBeUndefined()
  expect(await restored.users.get(userId)).toEqual(await ctx.users.get(userId))
  expect(await restored.users.memberships(userId)).toMatchObject([{ tenantSlug: 'acme', role: 'curator' }])
})

test('a move goes on with sessions, links and seqIds, and the repositories are the same', async () => {
  const bed = await usedBed()
  const { ctx, native, kbId } = bed
  const { token, userId } = await signIn(ctx, 'acme', 'curator')
  const link = await ctx.oneTimeLinks.create({ purpose: 'reset', userId, tenantId: null }, new Date())
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })
  const dataDir = join(tempDir(), 'data')
  expect((await restore(dir, { dataDir }, { isMove: true })).kbs).toMatchObject([{ seqFloor: 2 }])
  const restored = await opened(dataDir)
  expect(await openSession(restored, token)).toMatchObject({ session: { user: { id: userId } } })
  expect(await restored.oneTimeLinks.find(link, new Date())).toBeDefined()
  expect(refsOf(new NativeWriter(restored.directory.repository(kbId)))).toEqual(refsOf(native))
  expect(await newNeuron(bed, restored)).toMatchObject({ seqId: 'handbook_00000003' })
})

test('an upload in chunks that is under way begins again', async () => {
  const { ctx, app } = await newTestBed()
  const input = { filename: 'a.md', fileSize: 4, path: '/', metadata: null }
  const { uploadId } = await beginUpload(ctx, app, 'handbook', input, { force: false, replace: false })
  await receiveChunk(ctx, app, uploadId, { first: 0, last: 1, total: 4 }, Readable.from([Buffer.from('ab')]))
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })
  const dataDir = join(tempDir(), 'data')
  await restore(dir, { dataDir })
  expect(await (await opened(dataDir)).uploads.find(app.tenantId, uploadId)).toMatchObject({ bytesReceived: 0 })
})

test('bytes that were gone or damaged are told, and those that the backup has lost refuse it', async () => {
  const bed = await newTestBed()
  const { ctx } = bed
  const [gone, damaged, lost] = await Promise.all(
    ['gone', 'damaged', 'lost'].map((name) => uploaded(bed, `${name}.md`, name)),
  )
  const path = (root: string, { contentHash } = { contentHash: '' }) =>
    join(root, contentHash.slice(0, 2), contentHash.slice(2, 4), contentHash)
  rmSync(path(ctx.directory.blobs, gone))
  writeFileSync(path(ctx.directory.blobs, damaged), 'other')
  const told = (await verify(ctx)).kbs.flatMap(({ problems }) => problems.map(({ message }) => message))
  expect(told.toSorted()).toEqual([
    expect.stringMatching(/^The bytes of damaged.md .* are damaged: /),
    expect.stringMatching(/^The bytes of gone.md .* are gone: /),
  ])
  const dir = join(tempDir(), 'backup')
  const { manifest } = await backup(ctx, dir, { version })
  expect(manifest.missingBlobs).toEqual([gone?.contentHash])

  const dataDir = join(tempDir(), 'data')
  const { kbs } = await restore(dir, { dataDir })
  expect(kbs[0]?.warnings.toSorted()).toEqual(
    [`the backup has no bytes of ${gone?.contentHash}`, `the bytes of ${damaged?.contentHash} are damaged`].toSorted(),
  )
  const restored = await opened(dataDir)
  expect(await restored.blobs.has(damaged?.contentHash ?? '')).toBe(false)
  expect(await text(await restored.blobs.get(lost?.contentHash ?? ''))).toBe('lost')

  rmSync(path(join(dir, 'blobs'), lost))
  const other = join(tempDir(), 'data')
  await expect(restore(dir, { dataDir: other })).rejects.toThrow(`has lost the blob ${lost?.contentHash}`)
  expect(existsSync(`${other}.restoring`)).toBe(false)
  const rest = await restore(dir, { dataDir: other }, { allowMissing: true })
  expect(rest.kbs[0]?.warnings).toContain(`the backup has no bytes of ${lost?.contentHash}`)
})

test('nobody else can read a backup, into a folder that was there either', async () => {
  const bed = await newTestBed()
  await uploaded(bed, 'notes.md', 'bytes')
  const dir = tempDir()
  chmodSync(dir, 0o755)
  await backup(bed.ctx, dir, { version })
  for (const name of ['', ...readdirSync(dir, { recursive: true })]) {
    const stats = statSync(join(dir, String(name)))
    expect([name, stats.mode & 0o777]).toEqual([name, stats.isDirectory() ? 0o700 : 0o600])
  }
})

test('bytes in a bucket are in the backup, and are restored into a bucket that is empty', async () => {
  const { options, objects } = await s3Server()
  const [bucket, other] = ['one/', 'two/'].map((prefix) => ({ ...options, prefix }))
  const ctx = await openContext({ dataDir: tempDir(), bucket, threads })
  onTestFinished(() => ctx.close())
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const curator: Caller = { id: 'key:curator', name: 'Curator', tenantId, role: 'curator', connectors: [] }
  const { contentHash } = await uploaded({ ctx, curator }, 'notes.md', 'bytes')
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })

  const dataDir = join(tempDir(), 'data')
  await expect(restore(dir, { dataDir, bucket })).rejects.toThrow('s3://bucket/one/ is not empty')
  expect([objects.size, existsSync(`${dataDir}.restoring`)]).toEqual([1, false])
  await restore(dir, { dataDir, bucket: other })
  const restored = await openContext({ dataDir, bucket: other, threads })
  onTestFinished(() => restored.close())
  expect(await text(await restored.blobs.get(contentHash))).toBe('bytes')
  expect([...objects.keys()].filter((key) => !/^(one|two)\/..\/..\/[0-9a-f]{64}-[0-9a-f]{8}$/.test(key))).toEqual([])
})

test('a backup of before the bytes in buckets were in it is restored without them', async () => {
  const bed = await newTestBed()
  const { contentHash } = await uploaded(bed, 'notes.md', 'bytes')
  const dir = join(tempDir(), 'backup')
  await backup(bed.ctx, dir, { version })
  edit(dir, `,\n  "missingBlobs": []`, '')
  rmSync(join(dir, 'blobs'), { recursive: true })
  const { kbs } = await restore(dir, { dataDir: join(tempDir(), 'data') })
  expect(kbs[0]?.warnings).toEqual([`the backup has no bytes of ${contentHash}`])
})

test('a backup names the knowledge base whose repository is damaged, and leaves nothing behind', async () => {
  const { ctx, gitDir } = await newTestBed()
  writeFileSync(join(gitDir, 'refs/heads/main'), '')
  const [made, given] = [join(tempDir(), 'backup'), tempDir()]
  for (const dir of [made, given]) {
    const backingUp = backup(ctx, dir, { version })
    await expect(backingUp).rejects.toThrow('The repository of handbook cannot be backed up: refs/heads/main is empty')
  }
  expect([existsSync(made), readdirSync(given)]).toEqual([false, []])
})

test('a knowledge base without a repository and without an index refuses the backup', async () => {
  const { ctx, gitDir } = await newTestBed()
  for (const dir of [gitDir, ctx.directory.indexes]) rmSync(dir, { recursive: true })
  const dir = join(tempDir(), 'backup')
  await expect(backup(ctx, dir, { version })).rejects.toThrow(`${gitDir} is gone; to put it back: ganglion restore`)
  expect(existsSync(dir)).toBe(false)
})

test('a backup needs a folder of its own', async () => {
  const { ctx } = await newTestBed()
  const dir = tempDir()
  writeFileSync(join(dir, 'letter'), 'mine')
  await expect(backup(ctx, dir, { version })).rejects.toThrow('is not empty')
  expect(readFileSync(join(dir, 'letter'), 'utf8')).toBe('mine')
})

test('a backup under writers is of one moment: all that its main shows is on its queue', async () => {
  const bed = await newTestBed()
  let isOver = false
  const write = async () => {
    while (!isOver) await newNeuron(bed)
  }
  const writers = [write(), write(), write()]
  const backingUp = await opened(bed.dataDir)
  try {
    for (let round = 0; round < 4; round++) {
      const [dir, data] = [join(tempDir(), 'backup'), join(tempDir(), 'data')]
      await backup(backingUp, dir, { version })
      await restore(dir, { dataDir: data })
      expect((await verify(await opened(data))).kbs).toEqual([
        { id: bed.kbId, slug: 'handbook', problems: [], notes: [] },
      ])
    }
  } finally {
    isOver = true
    await Promise.all(writers)
  }
})

test('a data directory that holds something is left alone', async () => {
  const { ctx, dataDir } = await newTestBed()
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })
  await expect(restore(dir, { dataDir })).rejects.toThrow(`Stop the server that uses it, move it away (mv ${dataDir} `)
  const vacant = tempDir()
  expect(await restore(dir, { dataDir: vacant })).toMatchObject({ dataDir: vacant })
})

/** Flips a bit in the middle of a file. */
function flipBit(file: string): void {
  const bytes = readFileSync(file)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

const spoilings: [name: string, spoil: (dir: string, kbId: string) => void, message: string][] = [
  ['was cut off', (dir) => rmSync(join(dir, 'manifest.json')), 'no whole backup'],
  ['has half a manifest', (dir) => truncateSync(join(dir, 'manifest.json'), 50), 'manifest.json is damaged'],
  ['has a format to come', (dir) => edit(dir, '"format": 2', '"format": 3'), 'has the format 3'],
  [
    'was made by a newer version',
    (dir) => edit(dir, latestMigration(), '0999-wonders'),
    'newer version of Ganglion, 1.2.3',
  ],
  [
    'has half a bundle',
    (dir, kbId) => truncateSync(join(dir, 'repos', `${kbId}.bundle`), 500),
    '.bundle is not what was written',
  ],
  ['has lost a bundle', (dir, kbId) => rmSync(join(dir, 'repos', `${kbId}.bundle`)), '.bundle is missing'],
  [
    'has a flipped bit in its database',
    (dir) => flipBit(join(dir, 'ganglion.db')),
    'ganglion.db is not what was written',
  ],
  [
    'names other refs than it holds',
    (dir) => edit(dir, main, 'refs/heads/other'),
    'does not hold the refs of handbook',
  ],
  ['has lost its database', (dir) => rmSync(join(dir, 'ganglion.db')), 'ganglion.db is missing'],
]

/** Changes the manifest of a backup, with its checksum. */
function edit(dir: string, from: string, to: string): void {
  const file = join(dir, 'manifest.json')
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(from)
  const { sha256: _, ...content } = JSON.parse(text.replace(from, to))
  const sha256 = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  writeFileSync(file, JSON.stringify({ ...content, sha256 }, undefined, 2))
}

test('no flipped bit of a manifest stays unseen', async () => {
  const { ctx } = await newTestBed()
  const dir = join(tempDir(), 'backup')
  const { manifest } = await backup(ctx, dir, { version })
  const file = join(dir, 'manifest.json')
  const bytes = readFileSync(file)
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))
    writeFileSync(file, flipped)
    const found = await readManifest(dir).catch((error: unknown) => error)
    if (!(found instanceof BackupError)) expect([at, found]).toEqual([at, manifest])
  }
})

test.each(spoilings)('a backup that %s is refused, and nothing is made of it', async (_, spoil, message) => {
  const { ctx, kbId } = await newTestBed()
  const dir = join(tempDir(), 'backup')
  await backup(ctx, dir, { version })
  spoil(dir, kbId)
  const data = join(tempDir(), 'data')
  await expect(restore(dir, { dataDir: data })).rejects.toThrow(message)
  expect(existsSync(data)).toBe(false)
  expect(existsSync(`${data}.restoring`)).toBe(false)
})
