import { expect, test } from 'vitest'
import { whoIs } from '../../../src/kb/access/who-is.ts'
import { newTestBed } from '../support/test-bed.ts'

test('somebody of whom no record is left decides nothing; an account of a forge has none', async () => {
  const { ctx, curator } = await newTestBed()
  const gone = crypto.randomUUID()
  for (const id of [`user:${gone}`, `key:${gone}`, `git:${gone}`])
    expect(await whoIs(ctx, curator.tenantId, id)).toMatchObject({ names: [], mayDecide: false })
  expect(await whoIs(ctx, curator.tenantId, 'octocat')).toEqual({ id: '@octocat', names: [], mayDecide: true })
})
