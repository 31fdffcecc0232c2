import { expect, test } from 'vitest'
import { candidatePath, queueStatus } from '../../../src/rules/candidates/candidate.ts'

const by = { id: 'key:1', name: 'Ada' }
const dismiss = { action: 'dismiss', at: '2026-01-01T00:00:00.000Z', by } as const
const reopen = { ...dismiss, action: 'reopen' } as const

test('the last decision is the status on the queue', () => {
  expect(queueStatus({ decisions: [] })).toBe('pending')
  expect(queueStatus({ decisions: [dismiss] })).toBe('dismissed')
  expect(queueStatus({ decisions: [dismiss, reopen] })).toBe('pending')
  expect(queueStatus({ decisions: [dismiss, reopen, dismiss] })).toBe('dismissed')
})

test('a candidate stands in a folder named by the random end of its id', () => {
  expect(candidatePath('0199a5c1-7b1e-7c3d-8e4f-5a6b7c8dabcd')).toBe('ab/cd/0199a5c1-7b1e-7c3d-8e4f-5a6b7c8dabcd.md')
})
