import { expect } from 'vitest'
import type { OpenContext } from '../../../src/app/open-context.ts'
import type { StoredEvent } from '../../../src/state/event-store.ts'
import type { TestBed } from '../../kb/support/test-bed.ts'
import { eventually } from '../../support/eventually.ts'

/** All that is in the log of the tenant `acme` once what has happened in `handbook` is told. */
export async function eventsOf({ curator }: Pick<TestBed, 'curator'>, ctx: OpenContext): Promise<StoredEvent[]> {
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const heads = kb.projection.heads(kb.projection.read)
  await eventually(async () => expect(await ctx.events.loggedHeads(kb.identity.id)).toEqual(heads))
  return ctx.events.after(curator.tenantId, 0, 100_000)
}
