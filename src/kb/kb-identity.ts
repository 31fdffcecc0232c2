import type { KbSettings, SettingsProblem } from '../rules/kb-settings.ts'

export type KbIdentity = { id: string; tenantId: string; slug: string; prefix: string; formerSlugs?: readonly string[] }

/** Identity that `kb.yaml` has to say. Null: it is not known. */
type SaidIdentity = { [Key in 'id' | 'slug' | 'prefix']: string | null } & Pick<KbIdentity, 'formerSlugs'>

/** Whether a name is that of a knowledge base, or was. */
export function goesBy({ id, slug, formerSlugs = [] }: Omit<SaidIdentity, 'prefix'>, name: string): boolean {
  return name === slug || name === id || formerSlugs.includes(name)
}

/** Whether a value of `kb.yaml` is what the server has. A rename leaves the file as it is. */
export function isOwnValue(identity: SaidIdentity, key: 'id' | 'slug' | 'prefix', value: string | null): boolean {
  return key === 'slug' && value !== null ? goesBy(identity, value) : value === identity[key]
}

/** Returns an error for each value by which `kb.yaml` says that it is of another knowledge base. */
export function changedIdentity(
  identity: SaidIdentity,
  settings: Pick<KbSettings, 'id' | 'slug' | 'prefix'>,
): SettingsProblem[] {
  return (['id', 'slug', 'prefix'] as const)
    .filter((key) => identity[key] !== null && settings[key] !== null && !isOwnValue(identity, key, settings[key]))
    .map((key): SettingsProblem => ({ path: key, severity: 'error', message: `must stay ${identity[key]}` }))
}
