import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { chat } from '../../src/chat/answer-question.ts'
import { ChatInput } from '../../src/contract/chat.ts'
import { wasApproved } from '../../src/kb/projection/candidate-index.ts'
import { firstRun } from '../../src/operate/setup/first-run.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { candidate } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { newState } from '../support/new-database.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'
import { extractAnswerer } from './support/extract-answerer.ts'

/** The knowledge base of the first start, as README.md and docs/reading.md use it. */
async function demo() {
  const ctx = await openContext({ dataDir: tempDir(), ...(await newState()), threads })
  onTestFinished(() => ctx.close())
  await firstRun(ctx)
  const tenantId = (await ctx.tenants.find('default'))?.id ?? ''
  const app: Caller = { id: 'key:app', name: 'app', tenantId, role: 'app', connectors: [] }
  const ask = async (message: string, sessionId?: string) => {
    const input = ChatInput.parse({
      message,
      ...(sessionId === undefined ? { knowledgeBaseId: 'demo' } : { sessionId }),
    })
    const answering = chat(ctx, extractAnswerer, app, input, new AbortController().signal)
    for (;;) {
      const { done, value } = await answering.next()
      if (done) return value
    }
  }
  const add = async (title: string, content: string) => {
    const kb = await ctx.kb(tenantId, 'demo')
    const input = candidate({ knowledgeBaseId: 'demo', title, content, confidence: 0.95 })
    const { candidateId } = await submitCandidate(ctx, app, input)
    // The policy runs the answer tests first, which on a busy machine takes longer than a submission waits.
    await eventually(() => expect(wasApproved(kb.projection.read, candidateId)).toBe(true))
  }
  return { ask, add }
}

test('what the tag internal does is answered as README.md says', async () => {
  const { ask } = await demo()
  expect(await ask('What does the tag internal do?')).toMatchObject({
    answer: expect.stringMatching(
      /^\*\*Audience\*\*\n\nThe tag `internal` hides a Neuron from all but curators, whatever else it says\./,
    ),
    citations: [{ seqId: 'demo_00000002' }],
  })
})

test('what docs/git.md tries out is answered', async () => {
  const { ask, add } = await demo()
  await add('On-call rotation', 'The rotation changes on Mondays.')
  const { answer } = await ask('When does the rotation change?')
  expect(answer).toBe('**On-call rotation**\n\nThe rotation changes on Mondays. [demo_00000013]')
})

test('a question that goes on with And is answered for itself, where it is whole', async () => {
  const { ask, add } = await demo()
  await add(
    'VIP escalation',
    'When a VIP customer raises a ticket, page the lead within ten minutes. See [[On-call rotation]].',
  )
  await add('On-call rotation', 'The lead changes every Monday at nine. The [[VIP escalation]] holds at night too.')
  const { answer, sessionId } = await ask('When is the lead paged for a VIP ticket?')
  expect(answer).toMatch(/within ten minutes/)
  expect((await ask('And when does the lead change?', sessionId)).answer).toMatch(
    /^\*\*On-call rotation\*\*\n\nThe lead changes every Monday at nine/,
  )
  expect((await ask('And what is a zone?', sessionId)).answer).toMatch(
    /^\*\*Policy and zones.*\*\*\n\nA zone is a traffic light/,
  )
})
