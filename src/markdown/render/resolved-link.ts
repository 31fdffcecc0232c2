import type { WikiLink } from '../../rules/neurons/neuron.ts'

/** Where a link leads, for the person who reads. A gap leads nowhere: `why` says so, and who may write can create the page. */
export type ResolvedLink =
  | { to: 'page'; href: string; title: string }
  | { to: 'file'; href: string; isImage: boolean }
  | { to: 'gap'; why: string; createHref?: string }

/** What the links of a page mean, by {@link linkTableKey}. */
export type LinkTable = ReadonlyMap<string, ResolvedLink>

/** Links of the same key mean the same on one page. */
export function linkTableKey({ form, kb, target }: Pick<WikiLink, 'form' | 'kb' | 'target'>): string {
  return JSON.stringify([form ?? 'wiki', kb ?? null, target])
}
