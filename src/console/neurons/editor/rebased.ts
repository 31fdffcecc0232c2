import type { PageConflict } from './conflict-section.ts'
import { isTyped, type PageFields } from './page-form.ts'

const labels: readonly [keyof PageFields, string][] = [
  ['title', 'Title'],
  ['tags', 'Tags'],
  ['aliases', 'Other names'],
  ['edges', 'Relations to other pages'],
  ['audience', 'Who may read the page'],
  ['readers', 'Who may read the page'],
]

/**
 * Puts what a person typed on one version of a page upon a later one, field by field: what they have not changed is as the later
 * version has it. Where both changed a field, theirs wins, and the conflict is told.
 */
export function rebased(
  typed: PageFields,
  { before, latest }: { before: PageFields; latest: PageFields },
): { fields: PageFields; conflict: PageConflict['fields'] } {
  const kept = labels.filter(([key]) => isTyped(key, typed, before))
  const fields = { ...typed, ...latest, ...Object.fromEntries(kept.map(([key]) => [key, typed[key]])) }
  const conflict = kept
    .filter(([key]) => isTyped(key, latest, before) && isTyped(key, latest, typed))
    .map(([key, label]) => ({ label, theirs: shown(latest[key]), yours: shown(typed[key]) }))
  return { fields, conflict }
}

function shown(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(', ')
}
