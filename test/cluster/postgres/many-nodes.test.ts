import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { SignInThrottle, signInSpan } from '../../../src/people/sign-in-throttle.ts'
import { ApiKeys } from '../../../src/state/accounts/api-keys.ts'
import { OneTimeLinks } from '../../../src/state/accounts/one-time-links.ts'
import { Sessions } from '../../../src/state/accounts/sessions.ts'
import { Users } from '../../../src/state/accounts/users.ts'
import { ChatSessions } from '../../../src/state/chat-sessions.ts'
import { inTransaction } from '../../../src/state/database/transaction.ts'
import { EventLog, type NewEvent } from '../../../src/state/event-store.ts'
import { Idempotency } from '../../../src/state/idempotency-store.ts'
import { Jobs } from '../../../src/state/jobs.ts'
import { rateCounter, sweepRates } from '../../../src/state/rate-counter.ts'
import { Sources } from '../../../src/state/sources/sources.ts'
import { at } from '../../state/support.ts'
import { nodes, numbers, withKb } from '../support/nodes.ts'

const event: NewEvent = { kbId: 'kb', kind: 'kb.pushed', isCuratorOnly: false, data: {} }

test('events of a tenant that 8 nodes write at once have ids without holes, and are seen in their order', async () => {
  const all = await nodes(8)
  const tenantId = await withKb(all[0])
  const logs = all.map(({ db }) => new EventLog(db))
  const [reader] = logs
  let isOver = false
  const seen: number[] = []
  const reading = (async () => {
    while (!isOver || ((await reader?.range(tenantId))?.last ?? 0) > (seen.at(-1) ?? 0)) {
      for (const { id } of (await reader?.after(tenantId, seen.at(-1) ?? 0, 1_000)) ?? []) seen.push(id)
    }
  })()
  const work = logs.map(async (log) => {
    for (let n = 0; n < 25; n++) await log.append(tenantId, [event, event], new Date())
    // A transaction that is rolled back leaves no hole.
    await log.append(tenantId, [event, { ...event, kbId: 'none' }], new Date()).catch(() => {})
  })
  await Promise.all(work)
  isOver = true
  await reading
  expect(seen).toEqual(numbers(400).map((n) => n + 1))
})

test('events that are written within serializable transactions have ids without holes, too', async () => {
  const all = await nodes(4)
  const tenantId = await withKb(all[0])
  const write = async ({ db }: (typeof all)[number]) => {
    const log = new EventLog(db)
    for (let n = 0; n < 5; n++) {
      await inTransaction(db, async (transaction) => {
        await transaction
          .selectFrom('events')
          .select(({ fn }) => fn.countAll().as('count'))
          .execute()
        await log.insert(transaction, tenantId, [event], new Date())
      })
    }
  }
  await Promise.all(all.map(write))
  const events = await new EventLog(all[0].db).after(tenantId, 0, 100)
  expect(events.map(({ id }) => id)).toEqual(numbers(20).map((n) => n + 1))
})

test('8 runners never get the same job, and each job that is not ended is taken once its lease has', async () => {
  const all = await nodes(8)
  const tenantId = await withKb(all[0])
  const now = new Date()
  const queues = all.map(({ db }) => new Jobs(db))
  const ids = numbers(200).map((n) => String(n).padStart(3, '0'))
  await Promise.all(ids.map((documentId, n) => queues[n % 8]?.enqueue({ documentId, tenantId, kbId: 'kb' }, now)))
  const takeAll = (time: Date) =>
    Promise.all(
      queues.map(async (jobs, n) => {
        const taken: string[] = []
        for (;;) {
          const job = await jobs.claim(`node-${n}`, { now: time, leaseMs: 30_000 })
          if (job === undefined) {
            if ((await jobs.nextDue('nobody'))?.getTime() !== time.getTime()) return taken
            continue
          }
          taken.push(job.documentId)
          if (Number(job.documentId) % 2 === 0) await jobs.complete(job)
        }
      }),
    )
  expect((await takeAll(now)).flat().toSorted()).toEqual(ids)
  expect((await takeAll(new Date(now.getTime() + 29_999))).flat()).toEqual([])
  expect((await takeAll(new Date(now.getTime() + 30_001))).flat().toSorted()).toEqual(
    ids.filter((id) => Number(id) % 2 === 1),
  )
})

test('of two nodes with the same idempotency key at once, one does the work and the other gives its answer', async () => {
  const [one, other] = await nodes(2)
  const tenantId = await withKb(one)
  const request = { tenantId, callerId: 'key:1', idempotencyKey: 'once', route: 'POST /', bodyHash: 'abc' }
  let works = 0
  const answer = async (idempotency: Idempotency, subjectId: string) => {
    const attempt = await idempotency.begin({ ...request, subjectId }, new Date())
    if (attempt.state === 'replay') return attempt.body
    expect(attempt).toEqual({ state: 'new', subjectId })
    works += 1
    await new Promise((resolve) => setTimeout(resolve, 100))
    await idempotency.finish(request, { status: 201, body: subjectId })
    return subjectId
  }
  const [first, second] = [new Idempotency(one.db), new Idempotency(other?.db ?? one.db)]
  const answers = await Promise.all(numbers(6).map((n) => answer(n % 2 === 0 ? first : second, `id-${n}`)))
  expect(works).toBe(1)
  expect(new Set(answers).size).toBe(1)
})

test('what a node that is gone has begun is tried again by another once its lease has ended; what it abandons at once', async () => {
  const [one, other = one] = await nodes(2)
  const tenantId = await withKb(one)
  const request = {
    tenantId,
    callerId: 'key:1',
    idempotencyKey: 'once',
    route: 'POST /',
    bodyHash: 'abc',
    subjectId: 'a',
  }
  const [gone, next] = [new Idempotency(one.db), new Idempotency(other.db)]
  const now = new Date()
  await gone.begin(request, now)
  const again = { ...request, subjectId: 'b' }
  const waiting = next.begin(again, new Date(now.getTime() + 29_900))
  expect(await waiting).toEqual({ state: 'retry', subjectId: 'a' })
  await next.abandon(again)
  expect(await new Idempotency(one.db).begin(again, now)).toEqual({ state: 'retry', subjectId: 'a' })
})

test('a one-time link is used once, and a session is replaced once, whichever nodes are asked', async () => {
  const all = await nodes(4)
  const tenantId = await withKb(all[0])
  const now = new Date()
  const user = await new Users(all[0].db).create({ email: 'a@example.org', name: 'A', passwordHash: null }, now)
  const token = await new OneTimeLinks(all[0].db).create(
    { purpose: 'reset', userId: user?.id ?? '', tenantId: null },
    now,
  )
  const used = await Promise.all(
    all.map(({ db }) => inTransaction(db, (transaction) => new OneTimeLinks(transaction).use(token, now))),
  )
  expect(used.filter((link) => link !== undefined)).toHaveLength(1)

  const place = { tenantId, role: 'reader' as const }
  const { session } = await new Sessions(all[0].db).create(
    { userId: user?.id ?? '', ...place, address: '', agent: '' },
    now,
  )
  const to = { tenantId, role: 'curator' as const }
  const rotated = await Promise.all(all.map(({ db }) => new Sessions(db).rotate(session.id, to, now, place)))
  expect(rotated.filter((token) => token !== undefined)).toHaveLength(1)
})

test('a key that one node revokes is refused at once by another', async () => {
  const [one, other = one] = await nodes(2)
  const tenantId = await withKb(one)
  const [keys, theirs] = [new ApiKeys(one), new ApiKeys(other)]
  const { key, token } = await keys.create(
    { tenantId, name: '', role: 'app', connectors: [], expiresAt: null },
    new Date(),
  )
  expect(await theirs.authenticate(token, new Date())).toMatchObject({ id: key.id })
  await keys.revoke(key.id, new Date(), tenantId)
  expect(await theirs.authenticate(token, new Date())).toBeUndefined()
})

test('turns of a chat and numbers of Sources that several nodes add at once follow each other', async () => {
  const all = await nodes(6)
  const tenantId = await withKb(all[0])
  const session = { id: 'chat', tenantId, kbId: 'kb', audience: 'tool', ownerId: null } as const
  await Promise.all(
    all.map(({ db }) =>
      new ChatSessions(db).addTurn(session, { question: '?', answer: '!', citations: [], grounds: [] }, new Date()),
    ),
  )
  const turns = await new ChatSessions(all[0].db).turnsBefore('chat', undefined, 10)
  expect(turns.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5, 6])

  const added = await Promise.allSettled(
    all.map(({ db }, n) =>
      new Sources(db, new EventLog(db)).add(
        {
          ...{ id: `s${n}`, tenantId, kbId: 'kb', filename: 'a.md', path: '/', fileType: 'md', fileSize: 2 ** 32 },
          ...{ contentHash: n < 4 ? `hash-${n}` : 'same', status: 'ready', errorMessage: null, tags: null },
          ...{ connector: 'upload', sourceUrl: null, metadata: null, uploader: { id: 'key:1', name: 'A' } },
        },
        new Date(),
        { force: false, replace: false, isVisible: () => true },
      ),
    ),
  )
  // Of two with the same bytes, one is a duplicate.
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  const sources = await new Sources(all[0].db, new EventLog(all[0].db)).all('kb')
  expect(sources.map(({ seq, fileSize }) => [seq, fileSize])).toEqual([1, 2, 3, 4, 5].map((seq) => [seq, 2 ** 32]))
})

test('work that reads, decides and writes is done as if one did it at a time', async () => {
  const all = await nodes(4)
  await sql`create table admins (name text primary key)`.execute(all[0].db)
  await sql`insert into admins values ('0'), ('1'), ('2'), ('3')`.execute(all[0].db)
  // Each removes itself unless it is the last.
  await Promise.all(
    all.map(({ db }, n) =>
      inTransaction(db, async (transaction) => {
        const { rows } = await sql`select name from admins`.execute(transaction)
        if (rows.length > 1) await sql`delete from admins where name = ${String(n)}`.execute(transaction)
      }),
    ),
  )
  expect((await sql`select name from admins`.execute(all[0].db)).rows).toHaveLength(1)
})

test('what is bounded is counted for all nodes, and begins anew when its time is over by the clock of the database', async () => {
  const all = await nodes(4)
  let now = at('10:00')
  const counters = all.map(({ db }) => rateCounter({ db, now: () => now }, { name: 'test', span: 60_000 }))
  await Promise.all(counters.map((counter) => counter.add('key', 2)))
  now = at('10:00:59.999')
  expect(await counters[0]?.add('key', 1)).toEqual({ points: 9, endsIn: 1 })
  expect(await sweepRates({ db: all[0].db, now: () => now })).toBe(0)
  now = at('10:01')
  expect(await counters[1]?.read('key')).toEqual({ points: 0, endsIn: 0 })
  expect(await counters[2]?.add('key', 1)).toEqual({ points: 1, endsIn: 60_000 })
  expect(await counters[3]?.add('key', 1)).toEqual({ points: 2, endsIn: 60_000 })
  now = at('10:02')
  expect(await sweepRates({ db: all[0].db, now: () => now })).toBe(1)
})

test('failures to sign in count for all nodes, also those of the same moment', async () => {
  const all = await nodes(4)
  const throttles = all.map((node) => new SignInThrottle(rateCounter(node, { name: 'sign-in', span: signInSpan })))
  const attempts = numbers(20).map((n) => throttles[n % 4]?.attempt({ account: 'ada', address: '192.0.2.1' }))
  const refused = (await Promise.allSettled(attempts)).filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(15)
  expect(refused[0]).toMatchObject({ reason: { code: 'rate_limited' } })
})

test('of nodes that give several people one e-mail at once, one succeeds and the others are told', async () => {
  const all = await nodes(4)
  const taken = await Promise.all(
    all.map(({ db }, n) =>
      inTransaction(db, async (transaction) => {
        const users = new Users(transaction)
        const user = await users.create({ email: `${n}@example.org`, name: 'A', passwordHash: null }, new Date())
        return users.setEmail(user?.id ?? '', 'shared@example.org')
      }),
    ),
  )
  expect(taken.filter(Boolean)).toHaveLength(1)
})
