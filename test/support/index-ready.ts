import { expect } from 'vitest'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import type { Console } from '../console/support.ts'
import { eventually } from './eventually.ts'

/** Waits until the index of a knowledge base is current, and has public pages with a word. */
export async function indexReady(
  { ctx, kbId, tenantId }: Pick<Console, 'ctx' | 'kbId' | 'tenantId'>,
  query: string,
): Promise<void> {
  const caller = { id: 'key:0', name: 'A key', tenantId, role: 'reader', connectors: [] } as const
  const asked = { query, audience: 'public', maxChars: 2000, topK: 5 } as const
  await eventually(async () => {
    const { hitCount, behind } = await retrieve(ctx, caller, kbId, asked)
    expect([hitCount > 0, behind]).toEqual([true, undefined])
  })
}
