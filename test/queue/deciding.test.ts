import { expect, test } from 'vitest'
import { findCandidate } from '../../src/kb/projection/candidate-index.ts'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { commitToQueue } from '../../src/kb/writing/commits.ts'
import { parseCandidate, roomInRecord } from '../../src/markdown/file/candidate-file.ts'
import { parseKbFile } from '../../src/markdown/file/kb-file.ts'
import { editNeuron, parseNeuronFile } from '../../src/markdown/file/neuron-file.ts'
import { sayStillTrue } from '../../src/pages/write/say-still-true.ts'
import { receiverFor } from '../../src/push/receive-push.ts'
import { approveCandidate } from '../../src/queue/decide-candidate.ts'
import { candidateHeads } from '../../src/queue/heads/candidate-refs.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { followsRename } from '../../src/rules/candidates/candidate.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { acts, Draw, newTeam, people, setPolicy, type Team, tried } from './deciding-doors.ts'

const { DECIDING_STEPS = '160', PROPERTY_SEED } = process.env
const seed = PROPERTY_SEED === 'random' ? Date.now() % 1_000_000 : Number(PROPERTY_SEED ?? 1)

const anew: readonly string[] = ['revise', 'dismiss', 'reopen']
const opinions: readonly string[] = ['approve', 'request-changes']

/** A page without what saying that it is still true changes. */
function unsigned(page: string): string {
  return editNeuron(page, { verified: undefined, candidate: undefined })
}

/** Looks at each commit of main, as git has it, and says what the policy of its parent does not allow. */
async function violations({ bed, names }: Team): Promise<string[]> {
  const native = new NativeWriter(bed.gitDir)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const found: string[] = []
  const nameOf = (actorId: string) => names.get(actorId.slice(actorId.indexOf(':') + 1)) ?? actorId
  const [first, ...commits] = native.git('rev-list', '--first-parent', '--reverse', mainRef).split('\n')
  for (let at = 0, parent = first ?? ''; at < commits.length; parent = commits[at++] ?? '') {
    const commit = commits[at] ?? ''
    const message = native.git('log', '-1', '--format=%B', commit)
    if (native.git('log', '-1', '--format=%ce', commit).includes('native@')) continue
    const deciding = parseKbFile(native.read(parent, 'kb.yaml')).settings.deciding
    if (deciding === null) throw new Error('unreadable')
    const approvers = [...message.matchAll(/^Approved-By: .*<(.+)>$/gm)].map(([, id = '']) => id)
    const records = []
    for (const [, id] of message.matchAll(/^Candidate: (.+)$/gm)) {
      const row = kb.projection.read.get`SELECT blob FROM candidates WHERE id = ${id ?? ''}`
      const record = parseCandidate(await kb.repository.readText(String(row?.blob)))
      if (record.verdict.reason !== followsRename) records.push(record)
    }
    const authors = new Set(
      records
        .flatMap(({ createdBy, decisions }) => [
          createdBy,
          ...decisions.flatMap(({ action, by }) => (action === 'revise' ? [by] : [])),
        ])
        .map(({ id }) => nameOf(id)),
    )
    const isPolicy = approvers.some((id) => id === 'policy')
    const voters = new Set(approvers.filter((id) => id !== 'policy').map(nameOf))
    const changed = native.git('diff', '--no-renames', '--name-only', parent, commit).split('\n').filter(Boolean)
    // An owner may say alone that a page is still true.
    const isRenewal = changed.every((path) => {
      const isThere =
        path.endsWith('.md') && [parent, commit].every((at) => native.git('ls-tree', at, '--', path) !== '')
      if (!isThere) return false
      const [before = '', after = ''] = [parent, commit].map((at) => unsigned(native.read(at, path)))
      const isOwned = deciding.owners.some(({ paths }) => paths.some((folder) => path.startsWith(`neurons/${folder}/`)))
      return before === after && (isOwned || parseNeuronFile(before).fields.owner !== undefined)
    })
    if (!deciding.authorMayApprove && !isRenewal)
      for (const author of authors) if (records.length > 0) voters.delete(author)
    const say = (what: string) =>
      found.push(`${what}: ${message} ${JSON.stringify(deciding)} ${JSON.stringify([...voters])}`)
    if (approvers.length === 0) say('nobody approved')
    for (const [at, id] of approvers.entries()) {
      const isLast = at === approvers.length - 1
      const hasVoted = records.every(({ decisions }) => {
        const said = decisions.slice(decisions.findLastIndex(({ action }) => anew.includes(action)) + 1)
        return said.findLast(({ action, by }) => by.id === id && opinions.includes(action))?.action === 'approve'
      })
      if (!isLast && !hasVoted) say(`no vote of ${id}`)
    }
    for (const { connector, verdict } of records) {
      const zone =
        connector === 'risky' ? 'red' : connector === 'careful' || connector === 'git' ? 'yellow' : verdict.zone
      const needed = zone === 'red' || zone === 'yellow' ? deciding.approvals[zone] : isPolicy ? 0 : 1
      if (voters.size < needed && !isRenewal) say(`${needed} needed`)
    }
    // Lines have the number of the step that wrote them.
    const lines = native
      .git('diff', '-U0', '--no-renames', parent, commit, '--', 'neurons')
      .match(/^\+[A-Z][a-z]+ \d+/gm)
    const proposed = records.map(({ content }) => content).join('\n')
    if (approvers.length > 1 && lines?.some((line) => !proposed.includes(line.slice(1)))) say('voted for another text')
    for (const path of changed) {
      const tags = [parent, commit].flatMap((at) => {
        const isThere =
          path.startsWith('neurons/') && path.endsWith('.md') && native.git('ls-tree', at, '--', path) !== ''
        return isThere ? parseNeuronFile(native.read(at, path)).fields.tags : []
      })
      for (const rule of deciding.owners) {
        const isBelow = rule.paths.some(
          (folder) => path === folder || path.replace(/^neurons\//, '').startsWith(`${folder}/`),
        )
        if (!isBelow && !rule.tags.some((tag) => tags.includes(tag))) continue
        const isOwner = (name: string) =>
          rule.people.includes((people as readonly string[]).includes(name) ? `${name}@example.com` : name)
        if (![...voters].some(isOwner)) say(`no owner of ${path}`)
      }
    }
  }
  return found
}

test('no door takes to main what owners and approvals do not allow', { timeout: 600_000 }, async () => {
  const draw = new Draw(seed)
  const team = await newTeam()
  const came = new Map<string, number>()
  const names = Object.keys(acts)
  const weighted = [
    ...names,
    ...Array.from({ length: 6 }, () => 'approve'),
    'submit',
    'submit',
    'submit',
    'bundle',
    'propose',
    'push',
  ]
  for (let step = 0; step < Number(DECIDING_STEPS); step++) {
    if (step % 12 === 0) await setPolicy(team, draw)
    const atOnce = Array.from({ length: draw.chance(0.2) ? draw.number(2, 3) : 1 }, async (_, at) => {
      const [name, own] = [draw.one(weighted), new Draw(draw.number(0, 1_000_000))]
      const outcome = await tried(() => acts[name]?.(team, own, step * 10 + at) ?? Promise.resolve(undefined))
      const key = `${name} ${outcome ?? 'nothing'}`
      came.set(key, (came.get(key) ?? 0) + 1)
    })
    await Promise.all(atOnce)
  }
  if (process.env.DECIDING_STEPS) console.log(seed, Object.fromEntries([...came].sort()))
  expect(await violations(team)).toEqual([])
  const outcomes = [...came.keys()]
  for (const outcome of ['done', 'vote', 'refused']) expect(outcomes.some((key) => key.endsWith(outcome))).toBe(true)
})

async function named({ ctx, curator }: TestBed, name: string): Promise<Caller> {
  const { tenantId } = curator
  const record = { tenantId, name, role: 'curator' as const, connectors: [], expiresAt: null }
  const { key } = await ctx.apiKeys.create(record, ctx.now())
  return { ...curator, id: `key:${key.id}`, name }
}

test.each([true, false])(
  'an edit is the next version, with a vote where authors may approve: %s',
  async (mayApprove) => {
    const bed = await newTestBed()
    const native = new NativeWriter(bed.gitDir)
    const page = await submitCandidate(bed.ctx, bed.curator, candidate({ title: 'Leave', content: 'Of 25 days.' }))
    const { seqId = '' } = { ...(await approveCandidate(bed.ctx, bed.curator, page.candidateId, {})) } as {
      seqId?: string
    }
    const policy = `approvals: { red: 2 }\nauthorMayApprove: ${mayApprove}\n`
    native.commit(mainRef, new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\n${policy}`]]))
    await (await bed.ctx.kb(bed.curator.tenantId, 'handbook')).sync()
    const [ada, bob, eve] = [await named(bed, 'ada'), await named(bed, 'bob'), await named(bed, 'eve')]

    const metadata = JSON.stringify({ targetNeuron: seqId, actionZone: 'red' })
    const proposal = correction(seqId, 'Of 20 days.', { title: 'Leave', metadata })
    const { candidateId } = await submitCandidate(bed.ctx, bed.app, proposal)
    expect(await approveCandidate(bed.ctx, bob, candidateId, {})).toMatchObject({ awaiting: { votes: 1 } })
    const edit = { content: 'Of 25 days, and more.' }
    const edited = await approveCandidate(bed.ctx, ada, candidateId, edit)
    expect(edited).toMatchObject({ status: 'pending', awaiting: { votes: mayApprove ? 1 : 2, owners: [] } })
    expect(await readCandidate(bed.ctx, bed.curator, candidateId)).toMatchObject({
      content: edit.content,
      decisions: [{ action: 'approve' }, { action: 'revise' }, ...(mayApprove ? [{ action: 'approve' }] : [])],
    })
    if (!mayApprove) await approveCandidate(bed.ctx, eve, candidateId, {})
    expect(await approveCandidate(bed.ctx, bob, candidateId, {})).toMatchObject({ status: 'approved', seqId })
    const [path = ''] = native.git('ls-tree', '-r', '--name-only', mainRef, 'neurons').split('\n')
    expect(native.read(mainRef, path)).toMatch(/^---\n[\s\S]*title: Leave\n[\s\S]*\n---\n\nOf 25 days, and more\.\n$/)
  },
)

test('an edit of one whose approval does not count fills no record beyond what can be read', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const policy = 'approvals: { red: 2 }\nauthorMayApprove: false\n'
  native.commit(mainRef, new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\n${policy}`]]))
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const ada = await named(bed, 'ada')
  const page = candidate({ metadata: JSON.stringify({ actionZone: 'red' }) })
  const { candidateId } = await submitCandidate(bed.ctx, { ...ada, role: 'app' }, page)
  const at = new Date()
  await kb.write(async (staging) => {
    const record = parseCandidate(await staging.readText(findCandidate(kb.projection.write, candidateId)?.blob ?? ''))
    const by = { id: ada.id, name: ada.name }
    const reason = 'x'.repeat(roomInRecord(record) - 200)
    const decisions = [{ action: 'comment' as const, at: at.toISOString(), by, reason }]
    const message = 'Fill the record'
    await commitToQueue(kb, staging, [{ ...record, decisions }], { by, at, message })
  })
  const approve = () => approveCandidate(bed.ctx, ada, candidateId, { content: 'Page nobody.' })
  await expect(approve()).rejects.toMatchObject({ code: 'record_full' })
  expect(await readCandidate(bed.ctx, bed.curator, candidateId)).toMatchObject({
    status: 'pending',
    content: page.content,
  })
})

test('who says twice that a page is still true proposes it once, where others have to approve it', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const page = await submitCandidate(bed.ctx, bed.app, candidate({ confidence: 1 }))
  const zones = 'zones: { kinds: {}, connectors: { console: yellow } }\napprovals: { yellow: 2 }\n\n'
  const settings = native.read(mainRef, 'kb.yaml').replace(/^zones:[\s\S]*?\n\n/m, zones)
  native.commit(mainRef, new Map([['kb.yaml', settings]]))
  const [ada, bob] = [await named(bed, 'ada'), await named(bed, 'bob')]
  const say = (by: Caller) => sayStillTrue(bed.ctx, by, { kb: 'handbook', seqId: page.seqId ?? '' }, {})
  const said = await say(ada)
  expect(said).toMatchObject({ status: 'pending', awaiting: { votes: 1 } })
  expect(await say(ada)).toEqual(said)
  expect((await say(bob)).candidateId).not.toBe(said.candidateId)
  expect(await approveCandidate(bed.ctx, bob, said.candidateId, {})).toMatchObject({ status: 'approved' })
})

test('votes on a page do not count for other files that a push brings with it', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [ada, bob] = [await named(bed, 'ada'), await named(bed, 'bob')]
  const policy = 'owners: [{ paths: [kb.yaml], people: [ada] }]\napprovals: { red: 2 }\n'
  native.commit(mainRef, new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\n${policy}`]]))
  await kb.sync()
  const page = candidate({ title: 'Leave', content: 'Of 25 days.', metadata: JSON.stringify({ actionZone: 'red' }) })
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, page)
  await approveCandidate(bed.ctx, ada, candidateId, {})

  const head = (await candidateHeads(kb, bed.ctx).headOf(candidateId)) ?? ''
  const path = native.git('diff', '--name-only', mainRef, head)
  const push = async (more: Map<string, string>) => {
    native.commit('refs/heads/push', new Map([[path, native.read(head, path)], ...more]), { parents: [mainRef, head] })
    const updates = [{ ref: mainRef, from: native.git('rev-parse', mainRef), to: native.git('rev-parse', 'push') }]
    native.git('update-ref', '-d', 'refs/heads/push')
    const { outcomes } = await receiverFor(bed.ctx, kb, { caller: bob, reachedAt: 'http://localhost/' }).receive(
      updates,
      [],
    )
    return outcomes[0]?.refused
  }
  expect(await push(new Map([['kb.yaml', native.read(mainRef, 'kb.yaml').replace(/^owners.*\n/m, '')]]))).toMatch(
    /of ada/,
  )
  expect(await push(new Map([['files/notes.txt', 'Notes.']]))).toBeUndefined()
})

test('a vote on a removal does not count for a push that removes what the page has become', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [ada, bob] = [await named(bed, 'ada'), await named(bed, 'bob')]
  const page = await submitCandidate(bed.ctx, bed.curator, candidate({ title: 'Leave', content: 'Old.' }))
  const { seqId } = Object(await approveCandidate(bed.ctx, bed.curator, page.candidateId, {}))
  native.commit(mainRef, new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\napprovals: { red: 2 }\n`]]))
  await kb.sync()
  const metadata = JSON.stringify({ targetNeuron: seqId, actionZone: 'red' })
  const removal = correction(seqId, 'gone', { metadata })
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, removal, { removes: true })
  await approveCandidate(bed.ctx, ada, candidateId, {})
  const change = correction(seqId, 'New, and needed.', { title: 'Leave' })
  const { candidateId: changes } = await submitCandidate(bed.ctx, bed.app, change)
  await approveCandidate(bed.ctx, bed.curator, changes, {})

  await expect(approveCandidate(bed.ctx, bob, candidateId, {})).rejects.toThrow('conflict')
  const [path = ''] = native.git('ls-tree', '-r', '--name-only', mainRef, 'neurons').split('\n')
  native.commit('refs/heads/push', new Map([[path, null]]), { parents: [mainRef] })
  const updates = [{ ref: mainRef, from: native.git('rev-parse', mainRef), to: native.git('rev-parse', 'push') }]
  native.git('update-ref', '-d', 'refs/heads/push')
  const receiver = receiverFor(bed.ctx, kb, { caller: bob, reachedAt: 'http://localhost/' })
  expect((await receiver.receive(updates, [])).outcomes[0]?.refused).toMatch('It needs 1 more approval')
})

test('who uploaded a Source is an author of the pages that are made of it', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [ada, bob] = [await named(bed, 'ada'), await named(bed, 'bob')]
  const own = native.read(mainRef, 'kb.yaml').replace(/^zones:[\s\S]*?\n\n/m, '')
  native.commit(mainRef, new Map([['kb.yaml', `${own}\nauthorMayApprove: false\n`]]))
  await kb.sync()
  const { id } = await addSource(bed.ctx, { kbId: bed.kbId, uploader: { id: ada.id, name: ada.name } })
  const source = { id, editionOf: id, filename: 'a.md', sha256: 'f'.repeat(64), sourceUrl: null }
  const page = { kind: 'part' as const, key: 'one', title: 'Leave', content: 'Of 40 days.', tags: [], place: {} }
  await commitSource(bed.ctx, kb, { ...source, isWanted: async () => true }, [page])
  const { id: candidateId } = kb.projection.read.get`SELECT id FROM candidates WHERE status = 'pending'` ?? {}
  await expect(approveCandidate(bed.ctx, ada, String(candidateId), {})).rejects.toThrow('You wrote it')
  expect(await approveCandidate(bed.ctx, bob, String(candidateId), {})).toMatchObject({ status: 'approved' })

  const second = { ...page, key: 'two', title: 'Sick leave' }
  await commitSource(bed.ctx, kb, { ...source, isWanted: async () => true }, [page, second])
  const waiting = kb.projection.read.get`SELECT id FROM candidates WHERE status = 'pending'`
  // As an archived Source goes after a while.
  await bed.ctx.sources.remove({ id })
  await expect(approveCandidate(bed.ctx, ada, String(waiting?.id), {})).rejects.toThrow('You wrote it, or may have.')
})

test('a commit names nobody who voted for another text than it brings', async () => {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const [ada, bob] = [await named(bed, 'ada'), await named(bed, 'bob')]
  const policy = 'owners: [{ paths: [neurons], people: [bob] }]\n'
  native.commit(mainRef, new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\n${policy}`]]))
  await kb.sync()
  const voted = async (title: string) => {
    const { candidateId } = await submitCandidate(bed.ctx, bed.app, candidate({ title, content: 'Of 25 days.' }))
    await approveCandidate(bed.ctx, ada, candidateId, {})
    return candidateId
  }
  const approvedBy = () => native.git('log', '-1', '--format=%(trailers:key=Approved-By,valueonly)', mainRef)
  await approveCandidate(bed.ctx, bob, await voted('Leave'), {})
  expect(approvedBy()).toMatch(/^ada .*\nbob /)
  await approveCandidate(bed.ctx, bob, await voted('Travel'), { content: 'Of 90 days.' })
  expect(approvedBy()).toMatch(/^bob /)

  const head = (await candidateHeads(kb, bed.ctx).headOf(await voted('Rooms'))) ?? ''
  const path = native.git('diff', '--name-only', mainRef, head)
  const page = native.read(head, path).replace('25', '90')
  native.commit('refs/heads/push', new Map([[path, page]]), { parents: [mainRef, head] })
  const updates = [{ ref: mainRef, from: native.git('rev-parse', mainRef), to: native.git('rev-parse', 'push') }]
  native.git('update-ref', '-d', 'refs/heads/push')
  await receiverFor(bed.ctx, kb, { caller: bob, reachedAt: 'http://localhost/' }).receive(updates, [])
  expect(native.git('rev-parse', `${mainRef}^2`)).toBe(updates[0]?.to)
  expect(approvedBy()).toMatch(/^bob /)
})
