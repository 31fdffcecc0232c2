import { expect, test } from 'vitest'
import { mailServer } from '../../../src/events/notices/mail-server.ts'
import { startNotices } from '../../../src/events/notices/start-notices.ts'
import { commentCandidate } from '../../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { eventually } from '../../support/eventually.ts'
import { mailServerOf } from '../../support/mail-server.ts'
import { signIn } from '../../support/person.ts'
import { newNodes } from '../support/two-nodes.ts'

test('of two nodes one sends mails, and the other goes on where it ends', async () => {
  const { one, two, caller } = await newNodes()
  const { url, mails } = await mailServerOf()
  await signIn(one, 'acme', 'curator', { email: 'ada@example.com', name: 'Ada' })
  const { candidateId } = await submitCandidate(one, caller, candidate())
  const failed = (message: string) => expect.unreachable(message)
  const lead = (node: typeof one) =>
    node.database.lead(async () => startNotices(node, { send: mailServer({ url, from: 'kb@example.org' }), failed }))
  const said = () => mails.map(({ text }) => text.split('\n')[1])
  const [stopOne, stopTwo] = [await lead(one), await lead(two)]
  const isUpToDate = async () => {
    expect(await one.database.db.selectFrom('notice_cursors').selectAll().execute()).toHaveLength(1)
    expect(await one.notices.behind('')).toEqual([])
  }
  await eventually(isUpToDate)
  await commentCandidate(two, caller, candidateId, { comment: 'One, @ada.' })
  await eventually(() => expect(said()).toEqual(['> One, @ada.']))
  await stopOne()
  await commentCandidate(one, caller, candidateId, { comment: 'Two, @ada.' })
  await eventually(() => expect(said()).toEqual(['> One, @ada.', '> Two, @ada.']))
  await eventually(isUpToDate)
  await stopTwo()
  expect(mails).toHaveLength(2)
})
