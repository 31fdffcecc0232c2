import { expect, test } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import type { NoticeMode, PersonRole } from '../../src/contract/vocabulary.ts'
import { mailServer } from '../../src/events/notices/mail-server.ts'
import { makeNotices } from '../../src/events/notices/make-notices.ts'
import { type NoticeOptions, sendNotices } from '../../src/events/notices/start-notices.ts'
import { pushedChanges } from '../../src/git/pushed-objects.ts'
import { proposePush } from '../../src/push/push-proposals.ts'
import {
  assignCandidate,
  commentCandidate,
  decide,
  dismissCandidate,
  requestChanges,
  approveCandidate as vote,
} from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'
import { mailServerOf } from '../support/mail-server.ts'
import { signIn } from '../support/person.ts'

const hour = 3_600_000

/** A tenant with Ada, Bo and Cy, curators; a mail server; and a clock. */
async function start({
  settings = '',
  refuse,
}: {
  settings?: string
  refuse?: (address: string) => number | undefined
} = {}) {
  const time = { now: new Date('2026-03-04T12:00:00Z') }
  const bed = await newTestBed({ now: () => time.now, publicUrl: 'https://kb.example.org' })
  const server = await mailServerOf(refuse)
  const { tenantId } = bed.curator
  const given: string[] = []
  let ctx: OpenContext = bed.ctx
  if (settings !== '')
    new NativeWriter(bed.gitDir).commit('refs/heads/main', new Map([['kb.yaml', `prefix: handbook\n${settings}`]]))
  const add = async (email: string, name: string, role: PersonRole = 'curator', notices: NoticeMode = 'at-once') => {
    const { userId } = await signIn(ctx, 'acme', role, { email, name })
    await ctx.users.setNotices(userId, notices)
    const caller: Caller = {
      id: `user:${userId}`,
      name,
      tenantId,
      role: role === 'reader' ? 'reader' : 'curator',
      connectors: [],
    }
    return { userId, caller }
  }
  const [ada, bo, cy] = [
    await add('ada@example.com', 'Ada Lovelace'),
    await add('bo@example.com', 'Bo', 'admin'),
    await add('cy@example.com', 'Cy'),
  ]
  /** Makes and sends what is due, once all that has happened is in the log. */
  const work = async (more: Partial<NoticeOptions> = {}) => {
    const kb = await ctx.kb(tenantId, 'handbook')
    await kb.sync()
    const heads = kb.projection.heads(kb.projection.read)
    await eventually(async () => expect(await ctx.events.loggedHeads(kb.identity.id)).toEqual(heads))
    const send = mailServer({ url: server.url, from: 'kb@example.org' })
    await sendNotices(ctx, { send, failed: (message) => given.push(message), ...more })
    return server.mails.splice(0)
  }
  const later = (ms: number) => {
    time.now = new Date(time.now.getTime() + ms)
  }
  const reopen = async () => {
    ctx = await bed.reopen()
  }
  const first = await submitCandidate(ctx, ada.caller, candidate({ title: 'First' }))
  await work()
  return {
    ...bed,
    get ctx() {
      return ctx
    },
    ada,
    bo,
    cy,
    add,
    work,
    later,
    reopen,
    given,
    server,
    id: first.candidateId,
  }
}

test('each is told of what concerns them, and not of their own acts', async () => {
  const { ctx, bo, cy, work, id } = await start()
  await assignCandidate(ctx, bo.caller, id, { assignee: 'cy@example.com' })
  await assignCandidate(ctx, bo.caller, id, { assignee: 'bo@example.com' })
  await assignCandidate(ctx, bo.caller, id, { assignee: 'cy@example.com' })
  await commentCandidate(ctx, cy.caller, id, { comment: 'Fine, @AdaLovelace, @bo@example.com and @cy? `@bo` @nobody' })
  await requestChanges(ctx, bo.caller, id, { reason: 'Name the fee, @cy.' })
  await approveCandidate(ctx, cy.caller, id, {})
  const mails = (await work()).map(({ to, headers, text }) => [
    to[0],
    headers.subject,
    text.split('\n').slice(0, 2).join(' '),
  ])
  expect(mails.toSorted()).toEqual([
    [
      'ada@example.com',
      '[handbook] First',
      '“First” has a comment that mentions you (Cy, handbook) > Fine, @AdaLovelace, @bo@example.com and @cy? `@bo` @nobody',
    ],
    ['ada@example.com', '[handbook] First', '“First” needs changes (Bo, handbook) > Name the fee, @cy.'],
    ['ada@example.com', '[handbook] First', expect.stringMatching(/^“First” was approved \(Cy, handbook\)/)],
    ['bo@example.com', '[handbook] First', expect.stringContaining('mentions you (Cy, handbook)')],
    ['cy@example.com', '[handbook] First', '“First” needs changes (Bo, handbook) > Name the fee, @cy.'],
  ])
  expect(await work()).toEqual([])
})

test('what an account says on a forge mails nobody, whomever it mentions', async () => {
  const { ctx, bo, work, id } = await start()
  const stranger = { ...bo.caller, id: 'github:eve', name: 'eve' }
  await decide(ctx, stranger, { candidateId: id, verb: 'Comment on' }, (_, by, at) => {
    return { action: 'comment', at, by, reason: 'Sign in at evil.example, @ada.', via: 'https://forge.example/1' }
  })
  expect(await work()).toEqual([])
})

test('a mail has a name of its own, one for its candidate, and a link that stops mails', async () => {
  const { ctx, bo, ada, work, id } = await start()
  await commentCandidate(ctx, bo.caller, id, { comment: 'One, @ada.' })
  await commentCandidate(ctx, bo.caller, id, { comment: 'Two, @ada.' })
  const [one, two] = await work()
  expect(one?.headers['message-id']).toMatch(/^<notice\.[0-9a-f]{32}@example\.org>$/)
  expect(two?.headers['message-id']).not.toBe(one?.headers['message-id'])
  expect([one?.headers.references, two?.headers.references]).toEqual(Array(2).fill(`<candidate.${id}@example.org>`))
  expect(one?.headers).toMatchObject({
    ...{ from: 'Ganglion <kb@example.org>', to: 'ada@example.com', 'auto-submitted': 'auto-generated' },
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    'list-unsubscribe': expect.stringMatching(
      new RegExp(`^<https://kb.example.org/notices/stop\\?to=${ada.userId}&signature=[\\w-]{43}>$`),
    ),
  })
})

test('a long title leaves room for what happened, and a reminder has a line for each page', async () => {
  const long = '🎉 استراحة '.repeat(60).slice(0, 480)
  const settings = `title: ${long}\nowners: [{ paths: [neurons], people: [bo@example.com] }]\nverify: [{ paths: [neurons], days: 1 }]\n`
  const { ctx, ada, bo, work, later, id } = await start({ settings })
  await approveCandidate(ctx, bo.caller, id, {})
  later(1)
  const sent = await submitCandidate(ctx, ada.caller, candidate({ title: `Rest\n${long}`, content: 'Rest at noon.' }))
  await approveCandidate(ctx, bo.caller, sent.candidateId, {})
  const told = (await work()).find(({ text }) => text.includes('Rest'))
  expect(told?.text.split('\n')[0]).toMatch(/^“Rest 🎉 .{100,120}” was approved \(Bo, 🎉 .{40,60}\)$/u)
  expect(told?.headers.subject).toMatch(/^\[🎉 .{40,60}\] Rest 🎉 .{100,120}$/u)
  later(8 * 24 * hour)
  const lines = (await work()).flatMap(({ text }) => text.split('\n')).filter((line) => line.startsWith('> '))
  expect(lines.map((line) => line.slice(0, 7)).sort()).toEqual(['> First', '> Rest '])
})

test('what people wrote adds no header, no line and no markup', async () => {
  const evil = 'Bo\r\nBcc: eve@example.com <script>'
  const { ctx, ada, bo, work } = await start()
  const title = 'Fees\u2028Bcc: eve@example.com\u202e <img src=x> “'
  const { candidateId } = await submitCandidate(ctx, ada.caller, candidate({ title }))
  const hostile = { ...bo.caller, name: evil }
  await commentCandidate(ctx, hostile, candidateId, { comment: '@ada\r\n.\r\nBcc: eve@example.com\n<b>bold</b>' })
  const [mail, ...others] = await work()
  expect(others).toEqual([])
  expect(mail?.to).toEqual(['ada@example.com'])
  expect(mail?.headers.bcc).toBeUndefined()
  expect(mail?.headers.subject).toBe('[handbook] Fees Bcc: eve@example.com <img src=x> “')
  expect(mail?.text).toContain('\n> .\n> Bcc: eve@example.com\n> <b>bold</b>')
  expect(mail?.html).not.toMatch(/<script|<img|<b>/)
  expect(mail?.html).toContain('&lt;b&gt;bold&lt;/b&gt;')
})

test('owners, and all who vote where several have to, are told what waits; the digest leaves out what no longer does', async () => {
  const { ctx, ada, bo, cy, work, later, add } = await start({
    settings: 'owners: [{ tags: [contracts], people: [bo@example.com, nobody@example.com] }]\napprovals: { red: 2 }\n',
  })
  await add('di@example.com', 'Di', 'reader')
  await ctx.users.setNotices(cy.userId, 'digest')
  const sent = (metadata: object, title: string) => {
    later(1)
    return submitCandidate(ctx, ada.caller, candidate({ title, metadata: JSON.stringify(metadata) }))
  }
  await sent({ tags: ['contracts'] }, 'Owned')
  const red = await sent({ actionZone: 'red' }, 'Red')
  const gone = await sent({ actionZone: 'red' }, 'Gone')
  await sent({}, 'Nobody is told of it')
  const mails = await work()
  expect(mails.map(({ to, headers }) => `${to} ${headers.subject}`).toSorted()).toEqual(
    ['Gone', 'Owned', 'Red'].map((title) => `bo@example.com [handbook] ${title}`),
  )
  // One of the two votes that it needs.
  await vote(ctx, bo.caller, red.candidateId, {})
  await dismissCandidate(ctx, bo.caller, gone.candidateId, {})
  later(17 * hour)
  expect((await work()).map(({ to }) => to[0])).toEqual(['ada@example.com'])
  later(hour)
  const [digest, ...others] = await work()
  expect([digest?.to, digest?.headers.subject, others]).toEqual([['cy@example.com'], 'Ganglion: 1 notice', []])
  expect(digest?.text).toContain(
    `“Red” waits for your approval (Ada Lovelace, handbook)\nhttps://kb.example.org/queue/${red.candidateId}\n`,
  )
})

test('nobody is told of what they may not see any more, nor who wants no mails', async () => {
  const { ctx, bo, cy, work, id, curator, add, kbId } = await start()
  const { tenantId } = curator
  const people = await Promise.all(['di', 'ed', 'flo', 'gil'].map((name) => add(`${name}@example.com`, name)))
  await commentCandidate(ctx, bo.caller, id, { comment: '@cy @di @ed @flo @gil' })
  await makeNoticesAfterEvents(ctx, tenantId)
  const [di, ed, flo] = people.map(({ userId }) => userId)
  await ctx.users.setRole(di ?? '', tenantId, 'reader')
  await ctx.users.removeRole(ed ?? '', tenantId)
  await ctx.users.setDisabled(flo ?? '', new Date())
  await ctx.users.setNotices(cy.userId, 'off')
  expect((await work()).map(({ to }) => to[0])).toEqual(['gil@example.com'])
  await commentCandidate(ctx, bo.caller, id, { comment: '@cy @di @ed @flo @gil' })
  await makeNoticesAfterEvents(ctx, tenantId)
  await ctx.knowledgeBases.setDisabled({ id: kbId }, new Date())
  await sendNotices(ctx, { send: () => expect.unreachable('a mail'), failed: () => {} })
})

async function makeNoticesAfterEvents(ctx: OpenContext, tenantId: string): Promise<void> {
  const kb = await ctx.kb(tenantId, 'handbook')
  const heads = kb.projection.heads(kb.projection.read)
  await eventually(async () => expect(await ctx.events.loggedHeads(kb.identity.id)).toEqual(heads))
  await makeNotices(ctx)
}

test('so many mails an hour are sent; the rest comes in the digest', async () => {
  const { ctx, bo, work, later, id } = await start()
  for (let n = 0; n < 5; n++) await commentCandidate(ctx, bo.caller, id, { comment: `${n} @ada` })
  expect(await work({ maxHourly: 2 })).toHaveLength(2)
  later(hour)
  expect(await work({ maxHourly: 2 })).toEqual([])
  later(18 * hour)
  expect((await work({ maxHourly: 2 })).map(({ headers }) => headers.subject)).toEqual(['Ganglion: 3 notices'])
})

test('however much an agent proposes, what people do is still told at once', async () => {
  const { ctx, bo, app, work, later, id } = await start({ settings: 'approvals: { yellow: 2 }\n' })
  const metadata = JSON.stringify({ actionZone: 'yellow' })
  for (let n = 0; n < 5; n++) {
    await submitCandidate(ctx, app, candidate({ title: `Flood ${n}`, metadata }))
    later(1000)
  }
  const toAda = async () => (await work({ maxHourly: 4 })).filter(({ to }) => to[0] === 'ada@example.com')
  expect(await toAda()).toHaveLength(2)
  await commentCandidate(ctx, bo.caller, id, { comment: 'Look, @ada' })
  expect(await toAda()).toMatchObject([{ text: expect.stringContaining('mentions you') }])
})

test('what waits of one push is one mail', async () => {
  const settings = 'approvals: { yellow: 2 }\nzones: { connectors: { git: yellow } }\n'
  const { ctx, bo, work, gitDir } = await start({ settings })
  const kb = await ctx.kb(bo.caller.tenantId, 'handbook')
  const native = new NativeWriter(gitDir)
  const pages = [1, 2, 3].map((n) => [`neurons/${n}.md`, `---\ntitle: Room ${n}\n---\n\nBlue.\n`] as const)
  native.commit('refs/heads/rooms', new Map(pages), { parents: ['refs/heads/main'] })
  const [from, to] = [native.git('rev-parse', 'main'), native.git('rev-parse', 'rooms')]
  const changes = await pushedChanges(kb.repository, from, to)
  const proposer = { id: 'git:key:agent', name: 'Agent' }
  await proposePush(kb, { changes, range: { from, to }, proposer, origin: { door: 'for', by: 'agent' } }, ctx.now)
  const mails = await work()
  expect(mails.map(({ to: [to] }) => to).toSorted()).toEqual(['ada', 'bo', 'cy'].map((name) => `${name}@example.com`))
  for (const { headers, text } of mails) {
    expect(headers.subject).toMatch(/^\[handbook\] Room \d and 2 more$/)
    expect(text.match(/“Room \d” waits for your approval/g)).toHaveLength(3)
  }
  expect(await work()).toEqual([])
})

test('a digest names fifty things, and counts the others', async () => {
  const { ctx, ada, bo, work, later, id } = await start()
  await ctx.users.setNotices(ada.userId, 'digest')
  for (let n = 0; n < 53; n++) await commentCandidate(ctx, bo.caller, id, { comment: `${n} @ada` })
  expect(await work()).toEqual([])
  later(18 * hour)
  const [digest, ...others] = await work()
  expect([digest?.headers.subject, others]).toEqual(['Ganglion: 53 notices', []])
  expect(digest?.text.match(/^> \d+ @ada$/gm)).toEqual(Array.from({ length: 50 }, (_, n) => `> ${n} @ada`))
  expect(digest?.text).toContain('\nAnd 3 more.\n')
  expect(await work()).toEqual([])
})

test('a digest whose hour passed before anybody made its notices comes at once', async () => {
  const { ctx, ada, bo, work, later, id } = await start()
  await ctx.users.setNotices(ada.userId, 'digest')
  await commentCandidate(ctx, bo.caller, id, { comment: 'Look, @ada' })
  await eventually(async () => {
    const { last = 0 } = (await ctx.notices.behind('2026-01-01'))[0] ?? {}
    expect((await ctx.events.after(bo.caller.tenantId, last - 1, 1))[0]?.kind).toBe('candidate.commented')
  })
  later(18 * hour)
  expect((await work()).map(({ headers }) => headers.subject)).toEqual(['Ganglion: 1 notice'])
})

test('a restart in the middle neither loses a mail nor sends one twice', async () => {
  const bed = await start()
  for (const name of ['ada', 'cy'])
    await commentCandidate(bed.ctx, bed.bo.caller, bed.id, { comment: `Look, @${name}.` })
  const stopping = new AbortController()
  const { url, mails } = bed.server
  const send = mailServer({ url, from: 'kb@example.org' })
  await makeNoticesAfterEvents(bed.ctx, bed.curator.tenantId)
  await sendNotices(
    bed.ctx,
    { send: (mail) => send(mail).finally(() => stopping.abort()), failed: () => {} },
    stopping.signal,
  )
  expect(mails.splice(0)).toHaveLength(1)
  await bed.reopen()
  expect(await bed.work()).toHaveLength(1)
  expect(await bed.work()).toEqual([])
})

test('of two nodes at once, one makes the notices', async () => {
  const { ctx, bo, work, id, curator } = await start()
  for (let n = 0; n < 3; n++) await commentCandidate(ctx, bo.caller, id, { comment: `${n} @ada` })
  await Promise.all([1, 2].map(() => makeNoticesAfterEvents(ctx, curator.tenantId)))
  expect(await work()).toHaveLength(3)
})

test('an address that is rejected keeps no other waiting; what fails is tried again, and given up after three days', async () => {
  let isDown = false
  const { ctx, bo, work, later, given, id } = await start({
    refuse: (address) => (isDown ? 451 : address.startsWith('ada') ? 550 : undefined),
  })
  await commentCandidate(ctx, bo.caller, id, { comment: '@ada @cy' })
  expect((await work()).map(({ to }) => to[0])).toEqual(['cy@example.com'])
  expect(given).toEqual([
    expect.stringMatching(
      /^A mail to the user [\w-]+ is given up after 1 attempts: the mail server answered 550 to RCPT TO\.$/,
    ),
  ])
  isDown = true
  await commentCandidate(ctx, bo.caller, id, { comment: '@cy' })
  expect(await work()).toEqual([])
  isDown = false
  expect(await work()).toEqual([])
  later(5_000)
  expect(await work()).toHaveLength(1)
  isDown = true
  await commentCandidate(ctx, bo.caller, id, { comment: '@cy' })
  for (let day = 0; day < 8; day++) {
    await work()
    later(12 * hour)
  }
  expect(given[1]).toContain('the mail server answered 451')
  isDown = false
  expect(await work()).toEqual([])
})

test('each notice of a digest has three days of its own, and is tried again and again in them', async () => {
  let isDown = true
  const { ctx, ada, bo, work, later, given, id } = await start({ refuse: () => (isDown ? 451 : undefined) })
  await ctx.users.setNotices(ada.userId, 'digest')
  await commentCandidate(ctx, bo.caller, id, { comment: 'Earlier, @ada' })
  // The server was away itself until then, so that the first attempt is late.
  await work()
  later(3.5 * 24 * hour)
  for (const seconds of [5, 20, 80]) {
    expect(await work()).toEqual([])
    later(seconds * 1000)
  }
  expect(given).toEqual([])
  await commentCandidate(ctx, bo.caller, id, { comment: 'Later, @ada' })
  for (let half = 0; half < 6; half++) {
    await work()
    later(12 * hour)
  }
  isDown = false
  const [digest] = await work()
  expect(given).toEqual([expect.stringContaining('is given up after 8 attempts')])
  expect(digest?.text).toContain('> Later, @ada')
  expect(digest?.text).not.toContain('> Earlier, @ada')
})

test('nothing is lost while the mail server is away', async () => {
  const { ctx, bo, work, later, id, given } = await start()
  const away = mailServer({ url: 'smtp://127.0.0.1:9', from: 'kb@example.org' })
  for (let n = 0; n < 3; n++) await commentCandidate(ctx, bo.caller, id, { comment: `${n} @ada` })
  expect(await work({ send: away })).toEqual([])
  later(60_000)
  expect(await work()).toHaveLength(3)
  expect(given).toEqual([])
})

test('owners are reminded on Mondays of pages that are past their date', async () => {
  const text = (seqId: string, title: string, more: string) =>
    `---\nseqId: handbook_0000000${seqId}\ntitle: ${title}\n${more}---\n\nText.\n`
  const { gitDir, work, later, cy, ctx } = await start()
  await ctx.users.setNotices(cy.userId, 'off')
  const past = 'verified: { by: bo@example.com, at: 2026-01-01, until: 2026-03-01 }\n'
  new NativeWriter(gitDir).commit(
    'refs/heads/main',
    new Map([
      ['neurons/a.md', text('1', 'Alpha', `${past}owner: bo@example.com\n`)],
      ['neurons/b.md', text('2', 'Beta', `${past}owner: cy@example.com\n`)],
      ['neurons/c.md', text('3', 'Gamma', 'owner: ada@example.com\n')],
    ]),
  )
  await (await ctx.kb(cy.caller.tenantId, 'handbook')).sync()
  expect(await work()).toEqual([])
  later(5 * 24 * hour)
  const mails = await work()
  expect(mails.map(({ to, text: said }) => [to[0], said.split('\n').slice(0, 3)])).toEqual([
    [
      'bo@example.com',
      [
        'Pages that you answer for are past their date (handbook)',
        '> Alpha',
        'https://kb.example.org/kb/handbook/stale',
      ],
    ],
  ])
  expect(await work()).toEqual([])
})

test('a password goes over TLS', async () => {
  const { url, mails } = await mailServerOf(undefined, { disabledCommands: [], authOptional: false, logger: false })
  const { port } = new URL(url)
  const mail = {
    to: 'ada@example.com',
    subject: 'S',
    items: [],
    id: 'a',
    thread: null,
    more: 0,
    stopUrl: 'https://x/',
    accountUrl: 'https://x/',
  }
  const sendTo = (address: string) => mailServer({ url: address, from: 'kb@example.org' })(mail)
  await sendTo(`smtp://kb:secret@127.0.0.1:${port}?tls.rejectUnauthorized=false`)
  expect(mails).toMatchObject([{ isSecure: true, user: 'kb' }])
  // Nobody vouches for its certificate.
  expect(await sendTo(`smtp://kb:secret@127.0.0.1:${port}`)).toMatchObject({ isOfServer: true, isFinal: false })
  expect(await sendTo(`smtp://kb:wrong@127.0.0.1:${port}?tls.rejectUnauthorized=false`)).toMatchObject({
    isOfServer: true,
  })
})
