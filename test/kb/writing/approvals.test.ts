import { expect, test } from 'vitest'
import { missingApprovals } from '../../../src/kb/writing/approvals.ts'
import { parseKbFile } from '../../../src/markdown/file/kb-file.ts'
import type { Candidate } from '../../../src/rules/candidates/candidate.ts'

const actor = (id: string) => ({ id, name: id })
const revised = (by: string) => ({ action: 'revise', at: '2026-01-01T00:00:00.000Z', by: actor(by) }) as const
const proposed: Candidate = {
  ...{ id: '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70', kind: 'external-feed', title: 'A', content: 'A.', connector: 'git' },
  ...{ frontMatter: null, metadata: null, confidence: null, impactEstimate: null, target: null, removes: false },
  ...{ base: null, createdAt: '2026-01-01T00:00:00.000Z', createdBy: actor('git:ada'), decisions: [] },
  verdict: { approve: false, zone: null, reason: 'proposed', warnings: [] },
}

/** Returns what is missing if an account of a forge approves a candidate. */
function missing(settings: string, by: string, candidate: Partial<Candidate> = {}) {
  const whoIs = async (id: string) => ({ id: id.replace(/^\w+:/, '@'), names: [], mayDecide: false })
  const touched = [{ path: 'neurons/a.md', tags: [] }]
  const decided = {
    by: actor(by),
    of: [{ candidate: { ...proposed, ...candidate }, path: 'neurons/a.md', text: 'A.\n', before: undefined }],
  }
  return missingApprovals(parseKbFile(settings).settings, touched, decided, whoIs)
}

test('while the zones cannot be read, all is red for those who approve', async () => {
  const settings = 'approvals: { red: 2 }\nzones: '
  expect(await missing(`${settings}{ connectors: { git: yellow } }\n`, 'github:bob')).toBeUndefined()
  expect(await missing(`${settings}{ connectors: [git] }\n`, 'github:bob')).toEqual({ votes: 1, owners: [] })
})

test('who may have added to a pull request on a forge does not approve it there', async () => {
  const settings = 'authorMayApprove: false\n'
  expect(await missing(settings, 'github:ada')).toMatchObject({ votes: 1 })
  expect(await missing(settings, 'github:bob')).toBeUndefined()
  expect(await missing(settings, 'github:bob', { decisions: [revised('git:acme/kb')] })).toMatchObject({ votes: 1 })
})
