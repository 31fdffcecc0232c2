import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { RetrieveInput } from '../../../src/contract/search.ts'
import { operator } from '../../../src/kb/create-kb.ts'
import { importDirectory } from '../../../src/operate/import/import-directory.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { put } from '../../kb/support/import-support.ts'
import { candidate, newTestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { tempDir } from '../../support/temp.ts'

const notes = 120

test('while pages are imported and indexed, every question is answered from what there was, and told what that lacks', async () => {
  const { ctx, app, curator } = await newTestBed()
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Old', content: 'A ticket.' }))
  await approveCandidate(ctx, curator, candidateId, {})
  const vault = tempDir()
  for (let n = 0; n < notes; n++) put(vault, `note-${n}.md`, `# Note ${n}\n\nA ticket, told of at some length.\n`)
  const find = async () => {
    const answer = await search(ctx, app, 'handbook', { q: 'ticket', kind: 'all', limit: 50 })
    expect(answer.documents).not.toEqual([])
    return answer
  }
  const ask = async () => {
    const answer = await retrieve(ctx, app, 'handbook', RetrieveInput.parse({ query: 'What is a ticket?' }))
    expect(answer.chunks).not.toEqual([])
    return answer
  }
  const until = async (look: () => Promise<{ behind?: { pages: number } | undefined }>, isBehind: boolean) => {
    let answer = await look()
    while ((answer.behind !== undefined) !== isBehind) answer = await look()
    return answer
  }
  await until(find, false)

  // The index takes in none of the pages until it is let go on.
  const { promise: gate, resolve: goOn } = Promise.withResolvers<void>()
  const divide = ctx.parser.chunks.bind(ctx.parser)
  const divided = vi.spyOn(ctx.parser, 'chunks').mockImplementation(async (content) => {
    await gate
    return divide(content)
  })
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  let isImported = false
  const importing = importDirectory(kb, vault, { actor: operator, now: ctx.now }).finally(() => {
    isImported = true
  })
  try {
    // What is answered from memory leaves the import no turn.
    for (; !isImported; await turn()) await find()
    expect(await until(find, true)).toMatchObject({ behind: { pages: notes } })
    expect(await until(ask, true)).toMatchObject({ behind: { pages: notes } })
  } finally {
    goOn()
    divided.mockRestore()
    await importing
  }
  await until(ask, false)
  expect((await find()).documents).toHaveLength(50)
})
