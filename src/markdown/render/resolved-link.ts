import type { WikiLink } from '../../rules/neurons/neuron.ts'

/** Destination of a link for the current reader. A gap leads nowhere: `why` is the reason, and writers may create the page. */
export type ResolvedLink =
  | { to: 'page'; href: string; title: string }
  | { to: 'file'; href: string; isImage: boolean }
  | { to: 'gap'; why: string; createHref?: string }

/** Meaning of a page's links, by {@link linkTableKey}. */
export type LinkTable = ReadonlyMap<string, ResolvedLink>

/** Returns the key of a link. On one page, links with the same key have the same meaning. */
export function linkTableKey({ form, kb, target }: Pick<WikiLink, 'form' | 'kb' | 'target'>): string {
  return JSON.stringify([form ?? 'wiki', kb ?? null, target])
}
