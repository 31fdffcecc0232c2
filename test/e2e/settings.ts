import { expect } from 'vitest'
import { outsideWriter } from './git/outside-writer.ts'
import type { Product } from './support.ts'

/** Changes kb.yaml on main, which no rule checks then. */
export async function setSettings({ ctx, kbId }: Product, from: string | RegExp, to: string): Promise<void> {
  const writer = await outsideWriter(ctx, kbId)
  const text = writer.read('kb.yaml')
  expect(text).toMatch(from)
  await writer.commit(new Map([['kb.yaml', text.replace(from, to)]]))
}
