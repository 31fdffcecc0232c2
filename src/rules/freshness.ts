import { isOwned, type OwnerRule } from './deciding.ts'
import type { Verified } from './neurons/neuron.ts'
import { dayAfter, utcDay } from './utc-day.ts'

/** For how many days pages below a path or with a tag stay true without another look. */
export type VerifyRule = Pick<OwnerRule, 'paths' | 'tags'> & { days: number }

/** What says whether a page is past its date. `updatedAt`: ISO 8601. */
export type Dated = { path: string; tags: readonly string[]; updatedAt: string; verified: Verified | null }

/** The last day on which a page counts as true; undefined: for ever. A page that nobody verified counts from its last change. */
function dueDay(page: Dated, rules: readonly VerifyRule[]): string | undefined {
  const { verified, updatedAt } = page
  if (verified?.until !== undefined) return verified.until
  const days = intervalOf(page, rules)
  return days === undefined ? undefined : dayAfter(verified?.at ?? utcDay(new Date(updatedAt)), days)
}

/** The last day on which a page counted as true, where that is past. */
export function pastDate(page: Dated, rules: readonly VerifyRule[], now: Date): string | undefined {
  const due = dueDay(page, rules)
  return due !== undefined && due < utcDay(now) ? due : undefined
}

/** The shortest interval of the rules that hold for a page, in days. */
export function intervalOf(page: Pick<Dated, 'path' | 'tags'>, rules: readonly VerifyRule[]): number | undefined {
  const days = rules.filter((rule) => isOwned(rule, page)).map((rule) => rule.days)
  return days.length === 0 ? undefined : Math.min(...days)
}

/** Who owns a page: as it says itself, or else as the rules for its path and tags do. */
export function ownersOfPage(
  { owner, ...page }: Pick<Dated, 'path' | 'tags'> & { owner: string | null },
  rules: readonly OwnerRule[],
): string[] {
  if (owner !== null) return [owner]
  return [...new Set(rules.filter((rule) => isOwned(rule, page)).flatMap(({ people }) => people))]
}
