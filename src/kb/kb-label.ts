import type { ReadableKb } from './readable-kb.ts'

export type KbLabel = { slug: string; title: string }

export async function kbLabel(kb: Pick<ReadableKb, 'identity' | 'settings'>): Promise<KbLabel> {
  const { slug } = kb.identity
  const { title } = await kb.settings()
  return { slug, title: title ?? slug }
}
