import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { projectionFile } from '../../src/kb/projection/projection.ts'
import { backup } from '../../src/operate/backup/backup.ts'
import { rebuild } from '../../src/operate/rebuild.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { search } from '../../src/search/kb/search-kb.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const main = 'refs/heads/main'
const queue = 'refs/ganglion/queue'

type Damaged = TestBed & { native: NativeWriter; seqId: string; candidateId: string; path: string }

/** A knowledge base with two Neurons, one of them corrected, and a candidate that waits. */
async function newKb(): Promise<Damaged> {
  const bed = await newTestBed()
  const submit = async (input = candidate()) => (await submitCandidate(bed.ctx, bed.app, input)).candidateId
  const approve = (id: string) => approveCandidate(bed.ctx, bed.curator, id, {})
  await approve(await submit(candidate({ title: 'On call' })))
  const candidateId = await submit()
  const { seqId } = await approve(candidateId)
  await approve(await submit(correction('handbook_00000001', 'Corrected.\n')))
  await submit(candidate({ title: 'Waiting' }))
  const native = new NativeWriter(bed.gitDir)
  const path = native.paths(main, 'neurons/').find((file) => file.includes('vip')) ?? ''
  return { ...bed, native, seqId, candidateId, path }
}

async function found(ctx: OpenContext): Promise<{ kind: string; message: string }[]> {
  const { ok, kbs } = await verify(ctx)
  const problems = kbs.flatMap((kb) => kb.problems)
  expect(ok).toBe(problems.length === 0)
  return problems
}

function move(native: NativeWriter, ref: string, commitsBack: number): void {
  native.git('update-ref', ref, `${ref}~${commitsBack}`)
}

function expectOnly(
  problems: { kind: string; message: string }[],
  expected: [kind: string, message: string | RegExp][],
) {
  expect(problems).toEqual(
    expected.map(([kind, message]) => ({
      kind,
      message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    })),
  )
}

test('what was made over the API is fine, and nothing of it is changed', async () => {
  const { ctx, dataDir, kbId, native } = await newKb()
  const [refs, files] = [native.git('for-each-ref'), readdirSync(dataDir, { recursive: true })]
  expect(await verify(ctx)).toEqual({
    ok: true,
    problems: [],
    kbs: [{ id: kbId, slug: 'handbook', problems: [], notes: [] }],
  })
  expect(native.git('for-each-ref')).toBe(refs)
  expect(readdirSync(dataDir, { recursive: true })).toEqual(files)
})

test('versions that were pushed without a candidate, or with an old one, are noted, and a seqId that was made up is a problem', async () => {
  const { ctx, native, path, seqId, candidateId } = await newKb()
  native.commit(main, new Map([[path, `${native.read(main, path)}Edited.\n`]]))
  native.commit(
    main,
    new Map([['neurons/native.md', '---\nseqId: handbook_00000077\ntitle: Native\n---\n\nNative.\n']]),
  )
  const { kbs } = await verify(ctx)
  expect(kbs[0]?.problems).toEqual([
    {
      kind: 'file',
      message: expect.stringMatching(
        /^neurons\/native\.md:1 unknown-seq-id: The seqId handbook_00000077 was never given/,
      ),
    },
  ])
  expect(kbs[0]?.notes).toEqual([
    expect.stringMatching(new RegExp(`^pushed to main: ${seqId} version 2 .* has the candidate ${candidateId}$`)),
    expect.stringMatching(/^pushed to main: handbook_00000077 version 1 .* has no candidate$/),
  ])
})

test('an index that is behind git, or not there, is no problem', async () => {
  const { ctx, dataDir, native, path, reopen } = await newKb()
  native.commit(main, new Map([[path, null]]))
  native.commit(queue, new Map([['seq-floor', '50\n']]))
  expect(await found(ctx)).toEqual([])
  await ctx.close()
  rmSync(join(dataDir, 'index'), { recursive: true })
  const { kbs } = await verify(await reopen())
  expect(kbs).toMatchObject([
    { problems: [], notes: ['There is no index yet: it is built when the knowledge base is used.'] },
  ])
})

test('a database whose rows refer to none, and files of another owner, are problems, and there is no backup', async () => {
  const { ctx, dataDir } = await newKb()
  const sqlite = new DatabaseSync(join(dataDir, 'ganglion.db'), { enableForeignKeyConstraints: false })
  sqlite.exec('delete from tenants')
  sqlite.close()
  if (process.getuid?.() === 0) chownSync(join(dataDir, 'repos'), 12345, 12345)
  const { ok, problems } = await verify(ctx)
  expect(ok).toBe(false)
  expect(problems).toContainEqual({
    kind: 'database',
    message: expect.stringMatching(/rows of \w+ refer to rows of tenants/),
  })
  if (process.getuid?.() === 0) {
    expect(problems).toContainEqual({
      kind: 'owner',
      message: expect.stringContaining('repos belongs to the user 12345'),
    })
  }
  const dir = join(dataDir, 'backup')
  await expect(backup(ctx, dir, { version: '1' })).rejects.toThrow(/The database is damaged/)
  expect(existsSync(dir)).toBe(false)
})

const damages: [name: string, damage: (kb: Damaged) => unknown, expected: [string, string | RegExp][]][] = [
  [
    'a config that is gone, and a hook that was planted',
    ({ gitDir }) => {
      rmSync(join(gitDir, 'config'))
      mkdirSync(join(gitDir, 'hooks'), { recursive: true })
      writeFileSync(join(gitDir, 'hooks', 'post-update'), '#!/bin/sh\n', { mode: 0o755 })
    },
    [
      ['repository', 'The repository has no config.'],
      ['repository', 'hooks/post-update is not of Ganglion'],
    ],
  ],
  [
    'packed-refs that was emptied',
    ({ native, gitDir }) => {
      native.git('pack-refs', '--all')
      writeFileSync(join(gitDir, 'packed-refs'), '')
    },
    [
      ['ref', /^refs\/heads\/main is gone; it was at [0-9a-f]{40}$/],
      ['ref', /^refs\/ganglion\/queue is gone; it was at [0-9a-f]{40}$/],
    ],
  ],
  [
    'packed-refs that was cut short',
    ({ native, gitDir }) => {
      native.git('pack-refs', '--all')
      const lines = readFileSync(join(gitDir, 'packed-refs'), 'utf8').split('\n')
      writeFileSync(join(gitDir, 'packed-refs'), `${lines.filter((line) => !line.endsWith(queue)).join('\n')}`)
    },
    [
      ['ref', 'refs/ganglion/queue is gone'],
      ['approval', /which is not on the queue$/],
      ['approval', /which is not on the queue$/],
      ['approval', /which is not on the queue$/],
    ],
  ],
  ['main that was moved back', ({ native }) => move(native, main, 1), [['ref', 'refs/heads/main was moved from']]],
  [
    'a queue that was moved back',
    ({ native }) => move(native, queue, 3),
    [
      ['ref', 'refs/ganglion/queue was moved from'],
      ['approval', /which is not on the queue$/],
      ['approval', /which is not on the queue$/],
    ],
  ],
  [
    'a candidate that was edited by hand',
    ({ native, candidateId }) => {
      const path = native.paths(queue).find((file) => file.includes(candidateId)) ?? ''
      native.commit(queue, new Map([[path, native.read(queue, path).replace(/^kind: .*$/m, 'kind: rumour')]]))
    },
    [['candidate', /on the queue cannot be read: .*kind/]],
  ],
  [
    'a candidate that stands in the place of another',
    ({ native, candidateId }) => {
      const path = native.paths(queue).find((file) => file.includes(candidateId)) ?? ''
      native.commit(queue, new Map([['00/00/copy.md', { copiedFrom: path }]]))
    },
    [['candidate', '00/00/copy.md on the queue holds the candidate']],
  ],
  [
    'a floor of seqIds that is none',
    ({ native }) => native.commit(queue, new Map([['seq-floor', 'high\n']])),
    [['candidate', 'seq-floor on the queue holds no number']],
  ],
  [
    'a back-pointer to a candidate that never was',
    ({ native, path, candidateId }) =>
      native.commit(main, new Map([[path, native.read(main, path).replace(candidateId, 'nobody')]])),
    [['approval', /has the candidate nobody, which is not on the queue$/]],
  ],
  [
    'a candidate that the server approved twice',
    ({ native, path }) =>
      native.commit(main, new Map([[path, `${native.read(main, path)}Again.\n`]]), {
        committer: 'Ganglion <ganglion@ganglion.invalid>',
      }),
    [['approval', /^handbook_00000002 version 2 .* which became handbook_00000002 version 1 .* already$/]],
  ],
  [
    'a seqId that two files hold',
    ({ native, path }) => native.commit(main, new Map([['neurons/zz.md', { copiedFrom: path }]])),
    [
      ['file', /^neurons\/zz.md:1 duplicate-id/],
      ['file', /^neurons\/zz.md:1 duplicate-seq-id/],
    ],
  ],
  [
    'a seqId that was given to another document',
    ({ native, path }) =>
      native.commit(
        main,
        new Map([[path, native.read(main, path).replace(/^id: .*$/m, 'id: 0199a5c2-0000-7000-8000-000000000000')]]),
      ),
    [['seqId', 'handbook_00000002 was given to several documents']],
  ],
  [
    'a document that got another seqId',
    ({ native, path }) =>
      native.commit(main, new Map([[path, native.read(main, path).replace('_00000002', '_00000099')]])),
    [
      ['seqId', 'has had several seqIds: handbook_00000002, handbook_00000099'],
      ['file', 'changed-seq-id: The seqId handbook_00000002 was changed'],
    ],
  ],
  [
    'settings that say who they are not',
    ({ native }) =>
      native.commit(main, new Map([['kb.yaml', native.read(main, 'kb.yaml').replace(/^slug: .*$/m, 'slug: another')]])),
    [['settings', 'kb.yaml has the slug another, but it is handbook']],
  ],
  [
    'an index that says what git does not',
    async ({ ctx, kbId }) => {
      await ctx.close()
      const db = new DatabaseSync(join(ctx.directory.index(kbId), projectionFile))
      db.exec("UPDATE neurons SET title = 'Forged' WHERE seq_id = 'handbook_00000002'")
      db.close()
    },
    [['projection', /^neurons is not what git says: 1 rows only in the index .*Forged.*, 1 rows only in a rebuild/]],
  ],
  [
    'an index that is no database',
    async ({ ctx, kbId }) => {
      await ctx.close()
      const dir = ctx.directory.index(kbId)
      rmSync(dir, { recursive: true })
      mkdirSync(dir)
      writeFileSync(join(dir, projectionFile), 'No database. '.repeat(100))
    },
    [['projection', /^The index cannot be read \(.*\): run "ganglion rebuild".$/]],
  ],
  [
    'a repository that is gone',
    ({ gitDir }) => rmSync(gitDir, { recursive: true }),
    [['repository', 'There is no repository']],
  ],
  [
    'a repository of no knowledge base',
    ({ dataDir }) => mkdirSync(join(dataDir, 'repos', 'stray.git')),
    [['repository', 'stray.git is of no knowledge base']],
  ],
]

test.each(damages)('%s is found', async (_, damage, expected) => {
  const kb = await newKb()
  await damage(kb)
  expectOnly(await found(await kb.reopen()), expected)
})

test('a search index that is behind is no problem, and what of it is damaged or never was is found', async () => {
  const { ctx, app, kbId, native, path, seqId, reopen } = await newKb()
  await search(ctx, app, 'handbook', { q: 'ticket', kind: 'all', limit: 5 })
  native.commit(main, new Map([[path, `${native.read(main, path)}Edited.\n`]]))
  expect(await found(ctx)).toEqual([])
  await ctx.close()
  const folder = ctx.directory.index(kbId)
  const sound = `${folder}.sound`
  cpSync(folder, sound, { recursive: true })
  const run = (sql: string) => {
    const db = new DatabaseSync(join(folder, 'search.db'))
    db.exec(sql)
    db.close()
  }
  const reopened = await reopen()
  for (const [damage, message] of [
    [() => run(`DELETE FROM pages WHERE key = '${seqId}'`), `the page ${seqId} is gone`],
    [
      () => run(`UPDATE pages SET version = '9 made up' WHERE key = '${seqId}'`),
      `a version of ${seqId} that never was`,
    ],
    [
      () => writeFileSync(join(folder, 'search.db'), 'No database. '.repeat(100)),
      'is damaged (file is not a database)',
    ],
  ] as const) {
    damage()
    expectOnly(await found(reopened), [['search', message]])
    rmSync(folder, { recursive: true })
    cpSync(sound, folder, { recursive: true })
  }
  expect(await found(reopened)).toEqual([])
})

test('an object that was damaged is found', async () => {
  const { ctx, gitDir, reopen } = await newKb()
  await ctx.close()
  const folder = join(gitDir, 'objects', 'pack')
  for (const pack of readdirSync(folder).filter((name) => name.endsWith('.pack'))) {
    const bytes = readFileSync(join(folder, pack))
    chmodSync(join(folder, pack), 0o644)
    writeFileSync(join(folder, pack), bytes.fill(0, 20, 60))
  }
  const problems = await found(await reopen())
  expect(problems.length).toBeGreaterThan(0)
  expect(new Set(problems.map(({ kind }) => kind))).toEqual(new Set(['repository']))
})

test('a ref that a server followed back is told of until a rebuild accepts it', async () => {
  const { ctx, native, curator, reopen } = await newKb()
  move(native, main, 1)
  await ctx.kb(curator.tenantId, 'handbook')
  expectOnly(await found(ctx), [['ref', 'refs/heads/main was moved from']])
  const reopened = await reopen()
  await rebuild(reopened, await reopened.knowledgeBases.list())
  expect(await found(reopened)).toEqual([])
})

test('it verifies the knowledge bases that are asked for', async () => {
  const { ctx, native } = await newKb()
  const other = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })
  move(native, main, 1)
  const kbs = await ctx.knowledgeBases.list()
  const verified = await verify(
    ctx,
    kbs.filter(({ id }) => id === other.id),
  )
  expect(verified).toEqual({ ok: true, problems: [], kbs: [{ id: other.id, slug: 'other', problems: [], notes: [] }] })
})

test('beside writers, native pushes and garbage collection nothing is found that is not there', async () => {
  const { ctx, app, curator, native, dataDir } = await newKb()
  let isOver = false
  const write = async () => {
    for (let n = 0; !isOver; n++) {
      const { candidateId } = await submitCandidate(ctx, app, candidate({ title: `Note ${n}` }))
      await approveCandidate(ctx, curator, candidateId, {})
      if (n % 10 === 0) native.commit(main, new Map([[`attic/${n}.md`, 'Native.\n']]))
      if (n % 25 === 0) native.git('gc', '--quiet')
    }
  }
  const writers = [write(), write(), write()]
  const verifier = await openContext({ dataDir })
  try {
    for (let round = 0; round < 8; round++) expect(await found(verifier)).toEqual([])
  } finally {
    isOver = true
    await Promise.all(writers)
    await verifier.close()
  }
})
