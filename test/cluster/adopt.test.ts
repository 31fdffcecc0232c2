import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adoptKnowledgeBase } from '../../src/operate/adopt/adopt-kb.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { tempDir } from '../support/temp.ts'
import { newNodes } from './support/two-nodes.ts'

test('a copy that one node adopts is served by all, from the store alone', async () => {
  const origin = await newNodes()
  const { candidateId } = await submitCandidate(origin.one, origin.caller, candidate())
  const { seqId = '' } = await approveCandidate(origin.one, origin.caller, candidateId, {})
  const copy = join(tempDir(), 'copy.git')
  nativeGit(tempDir(), ['clone', '--quiet', '--mirror', origin.one.directory.repository(origin.kbId), copy])

  const { one, two, caller } = await newNodes()
  // The copy's id is free there, and its slug is not.
  const made = await adoptKnowledgeBase(one, { source: copy, tenant: 'acme', slug: 'guide' })
  expect(made).toMatchObject({ id: origin.kbId, slug: 'guide', isMirror: true, neurons: 1 })
  expect(existsSync(made.gitDir)).toBe(false)
  expect(await readNeuron(two, caller, { kb: 'guide', seqId })).toMatchObject({ title: 'VIP escalation policy' })
  const next = await submitCandidate(two, caller, candidate({ knowledgeBaseId: 'guide', title: 'Another' }))
  await approveCandidate(one, caller, next.candidateId, {})
  for (const node of [one, two]) {
    const { kbs } = await verify(node)
    expect(kbs.flatMap(({ problems }) => problems)).toEqual([])
  }
  await expect(adoptKnowledgeBase(two, { source: copy, tenant: 'acme' })).rejects.toThrow(/has the id .* already/)
})
