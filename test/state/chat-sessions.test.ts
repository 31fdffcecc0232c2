import { expect, test } from 'vitest'
import type { ChatCitation } from '../../src/contract/chat.ts'
import { type ChatSession, ChatSessions } from '../../src/state/chat-sessions.ts'
import type { Database } from '../../src/state/database/database.ts'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { at, testDatabase } from './support.ts'

const session: ChatSession = { id: 'session', tenantId: '', kbId: 'kb', audience: 'tool', ownerId: 'key:app' }
const day = (count: number) => new Date(at('10:00').getTime() + count * 24 * 60 * 60 * 1000)

const citation: ChatCitation = {
  documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90',
  path: 'neurons/vip.md',
  filename: 'vip.md',
  seqId: 'handbook_00000042',
  title: 'VIP “policy”',
  url: '/api/v1/neurons/handbook/handbook_00000042',
  commit: '3f786850e387550fdab836ed7e6dc881de23001b',
}

async function newSessions(): Promise<{ sessions: ChatSessions; session: ChatSession; db: Database['db'] }> {
  const { db } = await testDatabase()
  const { id: tenantId } = await new Tenants(db).ensure('acme', at('09:00'))
  await new KnowledgeBases(db).create({ id: 'kb', tenantId, slug: 'handbook', prefix: 'handbook' }, at('09:00'))
  return { sessions: new ChatSessions(db), session: { ...session, tenantId }, db }
}

const turn = (number: number) => ({
  question: `q${number}`,
  answer: `a${number}`,
  citations: [],
  grounds: ['handbook_00000007'],
})

test('a session begins with its first turn, and keeps its turns in order', async () => {
  const { sessions, session } = await newSessions()
  expect(await sessions.find(session.tenantId, session.id, at('10:00'))).toBeUndefined()
  const first = await sessions.addTurn(session, { ...turn(1), citations: [citation] }, at('10:00'))
  const second = await sessions.addTurn(session, turn(2), at('10:01'))
  expect(first).not.toBe(second)
  expect(await sessions.find(session.tenantId, session.id, at('10:02'))).toEqual(session)
  expect(await sessions.lastTurns(session.id, 10)).toEqual([{ ...turn(1), citations: [citation] }, turn(2)])
  expect(await sessions.lastTurns(session.id, 1)).toEqual([turn(2)])
})

test('a session is there for its own tenant only', async () => {
  const { sessions, session, db } = await newSessions()
  const other = await new Tenants(db).ensure('other', at('09:00'))
  await sessions.addTurn(session, turn(1), at('10:00'))
  expect(await sessions.find(other.id, session.id, at('10:00'))).toBeUndefined()
  expect(await sessions.find(session.tenantId, 'another', at('10:00'))).toBeUndefined()
})

test('turns that come at once are all kept, each in a place of its own', async () => {
  const { sessions, session, db } = await newSessions()
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  await Promise.all(numbers.map((number) => sessions.addTurn(session, turn(number), at('10:00'))))
  const rows = await db.selectFrom('chat_turns').select(['ordinal', 'question']).orderBy('ordinal').execute()
  expect(rows.map(({ ordinal }) => ordinal)).toEqual(numbers.map((number) => number + 1))
  expect(rows.map(({ question }) => question).sort()).toEqual(numbers.map((number) => `q${number}`).sort())
})

test('a session holds its last 200 turns', async () => {
  const { sessions, session } = await newSessions()
  for (let number = 1; number <= 203; number++) await sessions.addTurn(session, turn(number), at('10:00'))
  const turns = await sessions.lastTurns(session.id, 1000)
  expect([turns.length, turns[0]?.question, turns.at(-1)?.question]).toEqual([200, 'q4', 'q203'])
})

test('a session that nobody used for 30 days expires, and is swept with its turns', async () => {
  const { sessions, session, db } = await newSessions()
  await sessions.addTurn(session, turn(1), day(0))
  await sessions.addTurn({ ...session, id: 'in use' }, turn(1), day(0))
  await sessions.addTurn({ ...session, id: 'in use' }, turn(2), day(20))
  expect(await sessions.find(session.tenantId, session.id, new Date(day(30).getTime() - 1))).toEqual(session)
  expect(await sessions.find(session.tenantId, session.id, day(30))).toBeUndefined()
  expect(await sessions.sweep(new Date(day(30).getTime() - 1))).toBe(0)
  expect(await sessions.sweep(day(30))).toBe(1)
  expect(await sessions.lastTurns('in use', 10)).toHaveLength(2)
  expect(await db.selectFrom('chat_turns').select('session_id').distinct().execute()).toEqual([
    { session_id: 'in use' },
  ])
})

test('a turn that ends after its session was swept begins the session anew', async () => {
  const { sessions, session } = await newSessions()
  await sessions.addTurn(session, turn(1), day(0))
  await sessions.sweep(day(31))
  await sessions.addTurn(session, turn(2), day(31))
  expect(await sessions.find(session.tenantId, session.id, day(31))).toEqual(session)
  expect(await sessions.lastTurns(session.id, 10)).toEqual([turn(2)])
})
