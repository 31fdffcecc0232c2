import { Audience } from '../../contract/vocabulary.ts'
import type { Caller } from './caller.ts'

export type { Audience }
export const audiences = Audience.options

/** What says who may see a Neuron; without `audience`, the knowledge base's default holds. */
export type Access = { audience?: readonly string[] | undefined; tags: readonly string[] }

/** What a Neuron's audience must list, in any one of, for a reader to see it. */
const sees: Readonly<Record<Exclude<Audience, 'curator'>, readonly string[]>> = {
  tool: ['tool', 'public'],
  public: ['public'],
  student: ['student'],
}

export const servedAudiences = ['public', 'student', 'tool'] as const

/**
 * Returns the audience that a caller is served as: the one it asked for, or else the widest of its role. Whoever asks for an audience
 * that they may not ask for is served as `tool`, silently. Only curators are served as `curator`. `student` sees pages that `tool` does
 * not, so readers are served as it only if their key was made for it.
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

/** Whether an audience may see a Neuron, or know that it exists. `defaultAudience` is the KB's, for a Neuron that lists none. */
export function maySee(audience: Audience, neuron: Access, defaultAudience: readonly string[]): boolean {
  if (audience === 'curator') return true
  if (isInternal(neuron.tags)) return false
  const listed = neuron.audience ?? defaultAudience
  return sees[audience].some((name) => listed.includes(name))
}

/** Whether somebody may see one Neuron, or version of it, who may not see another. */
export function isSeenByMore(one: Access, other: Access, defaultAudience: readonly string[]): boolean {
  return servedAudiences.some(
    (audience) => maySee(audience, one, defaultAudience) && !maySee(audience, other, defaultAudience),
  )
}

/**
 * What a wished audience leaves of another: names that show a page to nobody who does not see it by both. Who sees what is public
 * learns nothing more as a student or a tool.
 */
export function narrowed(wished: readonly string[], current: readonly string[]): string[] {
  const own = wished.filter((name) => allows(current, name))
  return own.includes('public') ? own : [...new Set([...own, ...current.filter((name) => allows(wished, name))])]
}

function allows(audience: readonly string[], name: string): boolean {
  return audience.includes(name) || (audience.includes('public') && (name === 'student' || name === 'tool'))
}

/** Whether an audience shows a page to readers who do not see it by another. */
export function widens(audience: readonly string[], current: readonly string[]): boolean {
  return servedAudiences.some((name) => audience.includes(name) && !allows(current, name))
}

/**
 * Names who may see a Neuron. Neurons of one class are seen by the same audiences, whatever the knowledge base's
 * `defaultAudience`. Lower-case letters.
 */
export function accessClass({ audience, tags }: Access): string {
  if (isInternal(tags)) return 'internal'
  if (audience === undefined) return 'default'
  const listed = servedAudiences.filter((name) => audience.includes(name))
  return listed.length === 0 ? 'nobody' : listed.join('')
}

/** Whether tags hide a Neuron from all but curators: `internal` does, and so does any tag nested below it. */
export function isInternal(tags: readonly string[]): boolean {
  return tags.some((tag) => /^#?internal(?:\/|$)/i.test(tag.trim()))
}
