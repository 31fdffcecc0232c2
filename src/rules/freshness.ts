import { dayAfter, utcDay } from '../contract/moment.ts'
import { isOwned, type OwnerRule } from './deciding.ts'
import type { Verified } from './neurons/neuron.ts'

/** Number of days for which pages below a path or with a tag stay verified. */
export type VerifyRule = Pick<OwnerRule, 'paths' | 'tags'> & { days: number }

/** Fields that decide whether a page is overdue for verification. `updatedAt`: ISO 8601. */
export type Dated = { path: string; tags: readonly string[]; updatedAt: string; verified: Verified | null }

/**
 * Returns the last day on which a page counts as verified, undefined if it never expires. A page that nobody verified counts from its last
 * change.
 */
function dueDay(page: Dated, rules: readonly VerifyRule[]): string | undefined {
  const { verified, updatedAt } = page
  if (verified?.until !== undefined) return verified.until
  const days = intervalOf(page, rules)
  return days === undefined ? undefined : dayAfter(verified?.at ?? utcDay(new Date(updatedAt)), days)
}

/** Returns the last day on which a page counted as verified, if that day is past. */
export function pastDate(page: Dated, rules: readonly VerifyRule[], now: Date): string | undefined {
  const due = dueDay(page, rules)
  return due !== undefined && due < utcDay(now) ? due : undefined
}

/** Returns the shortest interval of the rules that cover a page, in days. */
export function intervalOf(page: Pick<Dated, 'path' | 'tags'>, rules: readonly VerifyRule[]): number | undefined {
  const days = rules.filter((rule) => isOwned(rule, page)).map((rule) => rule.days)
  return days.length === 0 ? undefined : Math.min(...days)
}

/** Returns the owners of a page: the one in its front matter, or else those of the rules for its path and tags. */
export function ownersOfPage(
  { owner, ...page }: Pick<Dated, 'path' | 'tags'> & { owner: string | null },
  rules: readonly OwnerRule[],
): string[] {
  if (owner !== null) return [owner]
  return [...new Set(rules.filter((rule) => isOwned(rule, page)).flatMap(({ people }) => people))]
}
