import { describe, expect, test } from 'vitest'
import { candidateKinds } from '../../src/contract/vocabulary.ts'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { sayStillTrue } from '../../src/pages/write/say-still-true.ts'
import { createApiKey } from '../../src/people/manage-api-keys.ts'
import { receiverFor } from '../../src/push/receive-push.ts'
import { approveCandidate, requestChanges } from '../../src/queue/decide-candidate.ts'
import { candidateHeads } from '../../src/queue/heads/candidate-refs.ts'
import { listQueue } from '../../src/queue/lists/list-queue.ts'
import { approveBundle } from '../../src/queue/push-bundle.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { reviewCandidate } from '../../src/review/review-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/person.ts'

const twice = 'approvals: { red: 2 }\n'
const page = (about: string, dose: string, tags = 'internal') =>
  `---\ntitle: Dose\ntags: [${tags}]\n---\n\nThis page is about ${about}.\n\nOther text.\n\nMore text.\n\nThe dose is ${dose} mg.\n`

async function start(policy: string) {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const native = new NativeWriter(bed.gitDir)
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const write = async (files: Map<string, string | null>) => {
    native.commit(mainRef, files, { at: Math.floor(Date.now() / 1000) })
    await kb.sync()
  }
  await write(new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\n${policy}`]]))
  const push = async (by: Caller, ref: string, files: [string, string][], parents = [mainRef]) => {
    native.commit('refs/heads/push', new Map(files), { parents })
    const updates = [{ ref, from: native.git('rev-parse', mainRef), to: native.git('rev-parse', 'push') }]
    native.git('update-ref', '-d', 'refs/heads/push')
    const { outcomes } = await receiverFor(ctx, kb, { caller: by, reachedAt: 'http://localhost/' }).receive(updates, [])
    return outcomes[0]?.refused
  }
  const person = async (name: string): Promise<Caller & { userId: string }> => {
    const { userId } = await signIn(ctx, 'acme', 'curator', { email: `${name}@example.com`, name })
    return { id: `user:${userId}`, userId, name, tenantId: curator.tenantId, role: 'curator', connectors: [] }
  }
  const keyOf = async (by: Caller, name = 'second hand'): Promise<Caller> => {
    const input = { name, role: 'curator' as const, connectors: [], expiresAt: null }
    const { key } = await createApiKey(ctx, { ...by, isAdmin: true }, input)
    return { ...by, id: `key:${key.id}`, name }
  }
  const sent = async (text: object) => (await submitCandidate(ctx, bed.app, candidate(text))).candidateId
  const red = (more: object = {}) => JSON.stringify({ actionZone: 'red', ...more })
  const votes = async (id: string) => (await readCandidate(ctx, curator, id)).awaiting?.votes ?? 0
  const trailers = () => native.git('log', '-1', '--format=%(trailers:key=Approved-By,valueonly)', mainRef)
  const approve = (by: Caller, id: string, edit = {}) => approveCandidate(ctx, by, id, edit)
  const people = { ann: await person('ann'), ben: await person('ben'), cat: await person('cat') }
  return { ...bed, ...people, kb, native, write, push, keyOf, sent, red, votes, trailers, approve }
}

type Team = Awaited<ReturnType<typeof start>>

/** A page on main, and a correction of its dose that Ann has voted for. */
async function votedDose(policy: string, written = (text: string) => text) {
  const team = await start(policy)
  await team.push(team.cat, mainRef, [['neurons/dose.md', written(page('adults', '5'))]])
  const seqId = String(team.kb.projection.read.get`SELECT seq_id FROM neurons`?.seq_id)
  const path = 'neurons/dose.md'
  const text = team.native
    .read(mainRef, path)
    .replace(/^---[\s\S]*?---\n\n/, '')
    .trimEnd()
  const change = correction(seqId, text.replace('5 mg', '500 mg'), {
    title: 'Dose',
    metadata: team.red({ targetNeuron: seqId }),
  })
  const { candidateId: id } = await submitCandidate(team.ctx, team.curator, change)
  expect(await team.approve(team.ann, id)).toMatchObject({ awaiting: { votes: 1 } })
  const edit = (from: string | RegExp, to: string) =>
    team.write(new Map([[path, team.native.read(mainRef, path).replace(from, to)]]))
  return { ...team, id, path, edit }
}

test.each<[string, (team: Awaited<ReturnType<typeof votedDose>>) => Promise<void>]>([
  ['others change another line of the page', ({ edit }) => edit('adults', 'newborn children')],
  ['others rename the page', ({ edit }) => edit('title: Dose', 'title: Doses of newborn children')],
  ['others show the page to more readers', ({ edit }) => edit('tags: [internal]', 'tags: [news]')],
])('a vote falls when %s', async (_, change) => {
  const team = await votedDose(twice)
  await change(team)
  expect(await team.votes(team.id)).toBe(2)
  expect((await reviewCandidate(team.ctx, team.ann, team.id, { status: 'pending' })).hasVoted).toBe(false)
  expect(await team.approve(team.ben, team.id)).toMatchObject({ awaiting: { votes: 1 } })
  expect(await team.approve(team.ann, team.id)).toMatchObject({ status: 'approved' })
  expect(team.trailers()).toMatch(/^ben .*\nann /)
})

test.each([twice, 'approvals: { red: 2, keepOnMerge: true }\n'])(
  'a vote falls when the default audience of its page is another: %s',
  async (policy) => {
    const team = await start(policy)
    const id = await team.sent({ title: 'Leave', content: 'Of 25 days.', metadata: team.red() })
    await team.approve(team.ann, id)
    const settings = team.native.read(mainRef, 'kb.yaml')
    await team.write(new Map([['kb.yaml', settings.replace(/^defaultAudience: .*$/m, 'defaultAudience: [student]')]]))
    expect(await team.approve(team.ben, id)).toMatchObject({ awaiting: { votes: 1 } })
    await team.write(new Map([['kb.yaml', settings]]))
    expect(await team.approve(team.cat, id)).toMatchObject({ status: 'approved' })
    expect(team.trailers()).toMatch(/^ann .*\ncat /)
  },
)

test('a vote stays over a clean merge only where kb.yaml says so, and never over another audience or text', async () => {
  const team = await votedDose('approvals: { red: 2, keepOnMerge: true }\n')
  await team.edit('adults', 'newborn children')
  expect(await team.votes(team.id)).toBe(1)
  await team.edit('tags: [internal]', 'tags: [news]')
  expect(await team.votes(team.id)).toBe(2)
  await team.edit('tags: [news]', 'tags: [internal]')
  expect(await team.approve(team.ben, team.id, { title: 'Doses' })).toMatchObject({
    awaiting: { votes: 1 },
  })
  expect((await reviewCandidate(team.ctx, team.ann, team.id, { status: 'pending' })).hasVoted).toBe(false)
})

test.each<[string, string, (team: Awaited<ReturnType<typeof votedDose>>) => Promise<void>]>([
  ['the comment around it', '%%\n\nOther text.', ({ edit }) => edit('%%\n\nOther', 'Other')],
  ['a comment elsewhere', 'Other %%secret%% text.', ({ edit }) => edit(' %%secret%%', ' secret')],
])('a kept vote falls when others open %s to readers', async (_, hidden, open) => {
  const policy = 'approvals: { red: 2, keepOnMerge: true }\n'
  const team = await votedDose(policy, (text) => text.replace('Other text.', hidden))
  await team.edit('adults', 'newborn children')
  expect(await team.votes(team.id)).toBe(1)
  await open(team)
  expect(await team.votes(team.id)).toBe(2)
  expect(await team.approve(team.ben, team.id)).toMatchObject({ awaiting: { votes: 1 } })
})

test('a push brings no vote to a page that says more by now, and brings it where the page is what was voted on', async () => {
  const team = await votedDose(twice)
  const push = async () => {
    const head = (await candidateHeads(team.kb, team.ctx).headOf(team.id)) ?? ''
    return team.push(team.ben, mainRef, [[team.path, team.native.read(head, team.path)]], [mainRef, head])
  }
  await team.edit('adults', 'newborn children')
  expect(await push()).toMatch('It needs 1 more approval')
  await team.edit('newborn children', 'adults')
  expect(await push()).toBeUndefined()
  expect(team.trailers()).toMatch(/^ann .*\nben /)
})

test('votes on a bundle fall for all of it where one page of it is another', async () => {
  const team = await start(twice)
  const paths = ['neurons/a.md', 'neurons/b.md']
  const text = '\nFirst.\n\nSecond.\n\nThird.\n\nLast.\n'
  await team.push(
    team.cat,
    mainRef,
    paths.map((path) => [path, `---\ntitle: ${path}\n---\n${text}`]),
  )
  const zones = 'zones: { connectors: { git: red } }\n\n'
  await team.write(new Map([['kb.yaml', team.native.read(mainRef, 'kb.yaml').replace(/^zones:[\s\S]*?\n\n/m, zones)]]))
  const proposed = paths.map((path) => [path, team.native.read(mainRef, path).replace('Last.', 'The very last.')])
  await team.push(team.cat, 'refs/for/main', proposed as [string, string][])
  const bundle = async () => {
    const { entries } = await listQueue(team.ctx, team.curator, {
      ...{ kb: 'handbook', status: 'pending', bundles: true, limit: 5 },
    })
    return { candidateId: entries[0]?.id ?? '', seen: entries[0]?.bundle?.seen ?? '' }
  }
  const isPending = async () => (await bundle()).candidateId !== ''
  await approveBundle(team.ctx, team.ann, await bundle())
  await team.write(
    new Map([['neurons/a.md', team.native.read(mainRef, 'neurons/a.md').replace('First.', 'Not first.')]]),
  )
  await approveBundle(team.ctx, team.ben, await bundle())
  expect(await isPending()).toBe(true)
  await approveBundle(team.ctx, team.ann, await bundle())
  expect(await isPending()).toBe(false)
  expect(team.trailers()).toMatch(/^ben .*\nann /)
})

test('a key that a person made is that person: it adds no vote, takes theirs back, and approves nothing that they wrote', async () => {
  const team = await start(`${twice}authorMayApprove: false\n`)
  const key = await team.keyOf(team.ann)
  const id = await team.sent({ title: 'Leave', content: 'Of 25 days.', metadata: team.red() })
  await team.approve(team.ann, id)
  expect(await team.approve(key, id)).toMatchObject({ awaiting: { votes: 1 } })
  expect((await readCandidate(team.ctx, team.curator, id)).decisions).toHaveLength(1)
  expect((await reviewCandidate(team.ctx, key, id, { status: 'pending' })).hasVoted).toBe(true)
  await requestChanges(team.ctx, key, id, { reason: 'Which days?' })
  expect(await team.votes(id)).toBe(2)

  await team.approve(key, id)
  expect(await team.approve(team.ben, id)).toMatchObject({ status: 'approved' })
  const own = await submitCandidate(team.ctx, { ...key, role: 'app' }, candidate({ title: 'Own', content: 'Own.' }))
  await expect(team.approve(team.ann, own.candidateId)).rejects.toThrow('You wrote it')
})

test.each(['refs/heads/main', 'refs/for/main'])(
  'a page that names the candidate of another page neither approves nor revises it by a push to %s',
  async (ref) => {
    const team = await start('')
    const id = await team.sent({ title: 'Fees', content: 'There are none.' })
    const page = (title: string, text: string) => `---\ntitle: ${title}\ncandidate: ${id}\n---\n\n${text}\n`
    const read = () => readCandidate(team.ctx, team.curator, id)
    expect(await team.push(team.ben, ref, [['neurons/holidays.md', page('Holidays', '25 days.')]])).toBeUndefined()
    expect(await read()).toMatchObject({ status: 'pending', content: 'There are none.' })
    await team.push(team.ben, ref, [['neurons/fees.md', page('Fees', 'There are two.')]])
    const now = await read()
    expect(ref === mainRef ? now.status === 'approved' : now.content === 'There are two.').toBe(true)
  },
)

test('a key that a person gave away makes nobody an owner', async () => {
  const team = await start('owners: [{ paths: [neurons], people: [ann@example.com] }]\n')
  const key = await team.keyOf(team.ann)
  const id = await team.sent({ title: 'Leave', content: 'Of 25 days.' })
  expect(await team.approve(key, id)).toMatchObject({ awaiting: { owners: [['ann@example.com']] } })
  expect(await team.approve(team.ann, id)).toMatchObject({ status: 'approved' })
})

describe('where authors may not approve, nobody publishes alone', () => {
  const strict = 'authorMayApprove: false\n'
  const confident = { confidence: 1 }
  const waits = async (team: Team) => {
    const { read: sql } = team.kb.projection
    expect(sql.all`SELECT seq_id FROM neurons`).toEqual([])
    expect(sql.all`SELECT id FROM candidates WHERE status = 'pending'`.length).toBeGreaterThan(0)
  }

  test.each(['api', 'lint'])('by a candidate of full confidence that claims the connector %s', async (connector) => {
    const team = await start(strict)
    const metadata = JSON.stringify({ connector, actionZone: 'green' })
    await submitCandidate(
      team.ctx,
      team.ann,
      candidate({ title: 'Leave', content: '40 days.', metadata, ...confident }),
    )
    await waits(team)
  })

  test('by a kind that the policy approves, or with one curator only', async () => {
    const team = await start(strict)
    const settings = team.native.read(mainRef, 'kb.yaml').replace('singleCurator: false', 'singleCurator: true')
    await team.write(new Map([['kb.yaml', settings.replace(/^zones:/m, 'zones:\n  connectors: {}\nold:')]]))
    for (const kind of candidateKinds)
      await submitCandidate(team.ctx, team.ann, candidate({ title: kind, content: kind, kind, ...confident }))
    await waits(team)
  })

  test('by uploading a document, unless kb.yaml names the connector of ingest', async () => {
    const team = await start(strict)
    const { id } = await addSource(team.ctx, { kbId: team.kbId, uploader: { id: team.ann.id, name: 'ann' } })
    const source = { id, editionOf: id, filename: 'a.md', sha256: 'f'.repeat(64), sourceUrl: null }
    const page = { kind: 'part' as const, key: 'one', title: 'Leave', content: '40 days.', tags: [], place: {} }
    const ingest = () => commitSource(team.ctx, team.kb, { ...source, isWanted: async () => true }, [page])
    expect(await ingest()).toMatchObject({ created: 0, pending: 1 })
    await waits(team)
    await expect(
      team.approve(team.ann, String(team.kb.projection.read.get`SELECT id FROM candidates`?.id)),
    ).rejects.toThrow('You wrote it')
    const named = team.native
      .read(mainRef, 'kb.yaml')
      .replace(/autoApproveConnectors: .*/, 'autoApproveConnectors: [ingest]')
    await team.write(new Map([['kb.yaml', named]]))
    const other = { ...page, key: 'two', title: 'Sick leave' }
    const second = {
      ...source,
      id: `${id.slice(0, -1)}0`,
      editionOf: `${id.slice(0, -1)}0`,
      isWanted: async () => true,
    }
    expect(await commitSource(team.ctx, team.kb, second, [other])).toMatchObject({ created: 1 })
  })

  test('by what the policy approved before the setting was made', async () => {
    const team = await start('')
    const settings = team.native.read(mainRef, 'kb.yaml')
    await team.write(new Map([['tests/a.yaml', '- question: Leave?\n  refuses: true\n']]))
    const receipt = submitCandidate(
      team.ctx,
      team.ann,
      candidate({ title: 'Leave', content: '40 days.', ...confident }),
    )
    await team.write(new Map([['kb.yaml', `${settings}\n${strict}`]]))
    await receipt
    await eventually(() => waits(team))
  })

  test('but a connector that kb.yaml names is approved, with a key that may speak as it', async () => {
    const team = await start(strict)
    const feed = { ...team.ann, connectors: ['lint'] }
    const { key } = await team.ctx.apiKeys.create(
      { tenantId: feed.tenantId, name: 'feed', role: 'app', connectors: feed.connectors, expiresAt: null },
      new Date(),
    )
    const metadata = JSON.stringify({ connector: 'lint' })
    const sent = await submitCandidate(team.ctx, { ...feed, id: `key:${key.id}` }, candidate({ metadata }))
    expect(sent.status).toBe('approved')
  })
})

test('that a page is still true needs nobody but its owner', async () => {
  const team = await start('')
  await team.push(team.cat, mainRef, [['neurons/a.md', '---\ntitle: A\n---\n\nText.\n']])
  const rules =
    'owners: [{ paths: [neurons], people: [ann@example.com] }]\napprovals: { yellow: 2 }\nauthorMayApprove: false\n'
  const zones = 'zones: { connectors: { console: yellow } }\n\n'
  const settings = team.native.read(mainRef, 'kb.yaml').replace(/^zones:[\s\S]*?\n\n/m, zones)
  await team.write(new Map([['kb.yaml', `${settings}\n${rules}`]]))
  const seqId = String(team.kb.projection.read.get`SELECT seq_id FROM neurons`?.seq_id)
  const say = (by: Caller) => sayStillTrue(team.ctx, by, { kb: 'handbook', seqId }, { until: '2099-01-01' })
  expect(await say(team.ben)).toMatchObject({ status: 'pending' })
  expect(await say(team.ann)).toMatchObject({ status: 'approved' })
  const text = team.native.read(mainRef, 'neurons/a.md')
  expect(await team.push(team.ann, mainRef, [['neurons/a.md', text.replace('Text.', 'Other.')]])).toMatch('approval')
  expect(await team.push(team.ann, mainRef, [['neurons/a.md', text.replace('2099', '2098')]])).toBeUndefined()
})

test.each(['api', 'feed', 'mcp'])(
  'a sender who says red or claims the connector %s lowers no count',
  async (connector) => {
    const team: Team = await start('approvals: { yellow: 2 }\n')
    const zones = 'zones: { connectors: { api: yellow } }\n\n'
    const settings = team.native.read(mainRef, 'kb.yaml').replace(/^zones:[\s\S]*?\n\n/m, zones)
    await team.write(new Map([['kb.yaml', settings]]))
    for (const actionZone of ['red', 'yellow', 'green', undefined]) {
      const metadata = JSON.stringify({ connector, actionZone })
      const id = await team.sent({ title: `Page ${actionZone}`, content: 'Text.', confidence: 1, metadata })
      expect(await team.approve(team.ann, id)).toMatchObject({ awaiting: { votes: 1 } })
    }
  },
)

test('keys that a key has made vote as that key, however many there are', async () => {
  const team = await start(twice)
  const { tenantId } = team.curator
  const made = { tenantId, name: 'root', role: 'curator' as const, isAdmin: true, connectors: [], expiresAt: null }
  const { key } = await team.ctx.apiKeys.create(made, new Date())
  const root: Caller = { ...team.curator, id: `key:${key.id}`, name: 'root' }
  const child = await team.keyOf(root, 'child')
  const grandchild = await team.keyOf(child, 'grandchild')
  const id = await team.sent({ title: 'Leave', content: 'Of 25 days.', metadata: team.red() })
  for (const by of [root, child, grandchild])
    expect(await team.approve(by, id)).toMatchObject({ awaiting: { votes: 1 } })
  expect(await team.approve(await team.keyOf(team.ann), id)).toMatchObject({ status: 'approved' })
})
