import type { KbSettings, SettingsProblem } from '../rules/kb-settings.ts'

export type KbIdentity = { id: string; tenantId: string; slug: string; prefix: string; formerSlugs?: readonly string[] }

/** Identity that `kb.yaml` must state. Null if it is unknown. */
type SaidIdentity = { [Key in 'id' | 'slug' | 'prefix']: string | null } & Pick<KbIdentity, 'formerSlugs'>

/** True if a knowledge base has, or had, a name. */
export function goesBy({ id, slug, formerSlugs = [] }: Omit<SaidIdentity, 'prefix'>, name: string): boolean {
  return name === slug || name === id || formerSlugs.includes(name)
}

/** True if a value in `kb.yaml` is the server's. Former names count, since a rename does not change the file. */
export function isOwnValue(identity: SaidIdentity, key: 'id' | 'slug' | 'prefix', value: string | null): boolean {
  return key === 'slug' && value !== null ? goesBy(identity, value) : value === identity[key]
}

/** Returns an error for each value of `kb.yaml` that belongs to another knowledge base. */
export function changedIdentity(
  identity: SaidIdentity,
  settings: Pick<KbSettings, 'id' | 'slug' | 'prefix'>,
): SettingsProblem[] {
  return (['id', 'slug', 'prefix'] as const)
    .filter((key) => identity[key] !== null && settings[key] !== null && !isOwnValue(identity, key, settings[key]))
    .map((key): SettingsProblem => ({ path: key, severity: 'error', message: `must stay ${identity[key]}` }))
}
