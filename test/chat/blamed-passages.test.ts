import { expect, test } from 'vitest'
import { chat, wholeAnswer } from '../../src/chat/answer-question.ts'
import type { BlamedSentence } from '../../src/contract/blame.ts'
import { readBlame } from '../../src/pages/blame/read-blame.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Audience } from '../../src/rules/access/audience.ts'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { extractAnswerer } from './support/extract-answerer.ts'

const seqId = 'handbook_00000001'
const parts = {
  hands: 'Wash your hands at the ward 👩‍⚕️ daily. Gloves are worn 🧤 twice.',
  kana: '手を洗う。毎日だ。',
  table: '| Glove | Count |\n|---|---|\n| nitrile | two |',
  code: '```sh\nward --wash hands\n```',
}

test('passages and citations say who said their sentences, when asked', async () => {
  const { ctx, gitDir, curator, reader, app } = await newTestBed()
  const take = async (input: Parameters<typeof submitCandidate>[2]) =>
    (await submitCandidate(ctx, app, input)).candidateId
  const approve = (id: string) => approveCandidate(ctx, curator, id, {})
  const text = (changes: Partial<typeof parts & { end: string }> = {}) =>
    `${Object.values({ ...parts, ...changes }).join('\n\n')}\n`
  const page = { title: 'Ward' }
  await approve(await take(candidate({ ...page, content: text() })))
  // It was proposed before the push, so it is merged.
  const merged = await take(correction(seqId, text({ end: 'Ask the lead of the ward.' }), page))
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const { path } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  const writer = new NativeWriter(gitDir)
  const { blob = '' } = kb.projection.read.get`SELECT blob FROM neurons` as { blob?: string }
  const pushed = (await kb.repository.readText(blob)).replace('twice.', 'twice. Masks 😷 stay on.')
  writer.commit('refs/heads/main', new Map([[path, pushed]]))
  await kb.sync()
  await approve(merged)
  const whole = text({ hands: `${parts.hands} Masks 😷 stay on.`, end: 'Ask the lead of the ward.' })
  await approve(await take(correction(seqId, whole.replace(`${parts.kana}\n\n`, ''), { title: 'Ward rules' })))
  // Undone.
  await approve(await take(correction(seqId, whole, { title: 'Ward rules' })))

  const { sentences } = await readBlame(ctx, curator, { kb: 'handbook', seqId })
  const { content } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  for (const { text, start, end } of sentences) expect(content.slice(start, end)).toBe(text)
  const versions = Object.fromEntries(sentences.map(({ text, version }) => [text, version]))
  expect(versions).toEqual({
    ...{ 'Wash your hands at the ward 👩‍⚕️ daily.': 1, 'Gloves are worn 🧤 twice.': 1, 'Masks 😷 stay on.': 2 },
    ...{ '手を洗う。': 1, '毎日だ。': 1 },
    ...{ '| Glove | Count |': 1, '|---|---|': 1, '| nitrile | two |': 1 },
    ...{ '```sh': 1, 'ward --wash hands': 1, '```': 1, 'Ask the lead of the ward.': 3 },
  })

  const query = 'Wash hands at the ward'
  const asked = { maxChars: 4000, topK: 5 }
  const passages = async (caller: typeof app, audience: Audience, blame: boolean) => {
    const { chunks } = await retrieve(ctx, caller, 'handbook', { query, ...asked, audience, blame })
    expect(chunks).toHaveLength(1)
    return chunks[0]
  }
  const expectShown = (blame: BlamedSentence[] | undefined, within: string) => {
    expect(blame?.map(({ text, version }) => [text, version])).toEqual(
      Object.entries(versions).filter(([text]) => within.includes(text)),
    )
    expect(blame?.length).toBeGreaterThan(3)
  }
  const shown = await passages(curator, 'curator', true)
  expectShown(shown?.blame, shown?.content ?? '')
  expect(shown?.blame?.[0]).toMatchObject({ proposedBy: 'The app', approvedBy: 'The curator' })
  // As it is served to.
  for (const [caller, audience] of [
    [reader, 'tool'],
    [curator, 'public'],
  ] as const) {
    const others = await passages(caller, audience, true)
    expectShown(others?.blame, others?.content ?? '')
    expect(JSON.stringify(others)).not.toMatch(/proposedBy|connector|model/)
  }
  expect(await passages(curator, 'curator', false)).not.toHaveProperty('blame')

  const question = {
    message: query,
    history: [],
    knowledgeBaseId: 'handbook',
    sessionId: undefined,
    audience: undefined,
  }
  const answerOf = (blame: boolean) =>
    wholeAnswer(chat(ctx, extractAnswerer, app, { ...question, blame }, new AbortController().signal))
  const { citations, sessionId } = await answerOf(true)
  expectShown(citations?.[0]?.blame, content)
  expect((await answerOf(false)).citations?.[0]).not.toHaveProperty('blame')
  // It is told, and not kept.
  const [turn] = await ctx.chatSessions.lastTurns(sessionId ?? '', 1)
  expect(turn?.citations).toMatchObject([{ seqId }])
  expect(JSON.stringify(turn)).not.toContain('approvedBy')
})
