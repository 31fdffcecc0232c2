import { Audience } from '../../contract/vocabulary.ts'
import type { Caller } from './caller.ts'

export type { Audience }
export const audiences = Audience.options

/** Fields that decide who may see a Neuron. Without `audience`, the knowledge base's default applies. */
export type Access = { audience?: readonly string[] | undefined; tags: readonly string[] }

/** Names of which a Neuron's audience must have one, for each kind of reader to see it. */
const sees: Readonly<Record<Exclude<Audience, 'curator'>, readonly string[]>> = {
  tool: ['tool', 'public'],
  public: ['public'],
  student: ['student'],
}

export const servedAudiences = ['public', 'student', 'tool'] as const

/**
 * Returns the audience that a caller is served as: the requested one, or else the widest of its role. A request for an audience that the
 * caller may not ask for is silently served as `tool`. Only curators are served as `curator`. `student` sees pages that `tool` does not, so
 * readers are served as it only if their key was made for it.
 */
export function effectiveAudience(
  { role, audience: own }: Pick<Caller, 'role' | 'audience'>,
  asked?: Audience,
): Audience {
  if (own === 'public') return own
  if (role === 'curator') return asked ?? 'curator'
  if (asked === undefined || asked === 'curator') return 'tool'
  return asked === 'student' && role === 'reader' && own !== 'student' ? 'tool' : asked
}

/** Returns the audiences that a caller may ask for. */
export function audiencesOf(caller: Pick<Caller, 'role' | 'audience'>): Audience[] {
  return audiences.filter((audience) => effectiveAudience(caller, audience) === audience)
}

/** True if an audience may see a Neuron, or know that it exists. `defaultAudience`: the KB's, for a Neuron that lists none. */
export function maySee(audience: Audience, neuron: Access, defaultAudience: readonly string[]): boolean {
  if (audience === 'curator') return true
  if (isInternal(neuron.tags)) return false
  const listed = neuron.audience ?? defaultAudience
  return sees[audience].some((name) => listed.includes(name))
}

/** True if some audience may see one Neuron, or version of it, and not the other. */
export function isSeenByMore(one: Access, other: Access, defaultAudience: readonly string[]): boolean {
  return servedAudiences.some(
    (audience) => maySee(audience, one, defaultAudience) && !maySee(audience, other, defaultAudience),
  )
}

/**
 * Intersects a requested audience with the current one: the result shows the page to nobody who does not see it under both. A student or a
 * tool sees everything public, so `public` includes them.
 */
export function narrowed(wished: readonly string[], current: readonly string[]): string[] {
  const own = wished.filter((name) => allows(current, name))
  return own.includes('public') ? own : [...new Set([...own, ...current.filter((name) => allows(wished, name))])]
}

function allows(audience: readonly string[], name: string): boolean {
  return audience.includes(name) || (audience.includes('public') && (name === 'student' || name === 'tool'))
}

/** True if an audience shows a page to readers whom the current one excludes. */
export function widens(audience: readonly string[], current: readonly string[]): boolean {
  return servedAudiences.some((name) => audience.includes(name) && !allows(current, name))
}

/**
 * Returns the access class of a Neuron, in lower-case letters. The same audiences see all Neurons of a class, whatever the knowledge base's
 * `defaultAudience`.
 */
export function accessClass({ audience, tags }: Access): string {
  if (isInternal(tags)) return 'internal'
  if (audience === undefined) return 'default'
  const listed = servedAudiences.filter((name) => audience.includes(name))
  return listed.length === 0 ? 'nobody' : listed.join('')
}

/** True if a tag hides the Neuron from all but curators: `internal`, or any tag nested below it. */
export function isInternal(tags: readonly string[]): boolean {
  return tags.some((tag) => /^#?internal(?:\/|$)/i.test(tag.trim()))
}
