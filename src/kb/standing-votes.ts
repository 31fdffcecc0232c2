import { createHash } from 'node:crypto'
import { editNeuron, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { allTags } from '../markdown/page-tags.ts'
import { hiddenLines } from '../markdown/shown-content.ts'
import { accessClass } from '../rules/access/audience.ts'
import type { Actor, Candidate, VotedPage } from '../rules/candidates/candidate.ts'
import { type Decider, isVoteFor, votesOn } from '../rules/deciding.ts'
import type { KbSettings } from '../rules/kb-settings.ts'

/** Returns the person or key behind an actor. */
export type WhoIs = (actorId: string) => Promise<Decider>

/** Recorded candidate, with the page that a commit makes of it before the server adds its keys; null removes the page. */
export type DecidedPage = { candidate: Candidate; path: string; text: string | null }

/** Page to be decided on. `before`: its text on main, undefined for a new page. */
export type JudgedPage = DecidedPage & { before: string | undefined }

/** Settings that decisions depend on. */
export type Judging = Pick<KbSettings, 'deciding' | 'policy' | 'zones' | 'defaultAudience' | 'inlineTags'>

/**
 * Returns who has voted for each of several pages as a commit makes them now: the actor of each person, by person. A vote falls when the
 * page or its audience has changed since, unless `kb.yaml` keeps votes over clean merges.
 */
export async function standingVotes(
  settings: Judging,
  { of, writes }: { of: readonly JudgedPage[]; writes?: (() => Promise<boolean>) | undefined },
  whoIs: WhoIs,
): Promise<Map<string, Actor>> {
  const people = new Map<string, string>()
  for (const { candidate } of of)
    for (const { action, by } of candidate.decisions)
      if (action === 'approve' || action === 'request-changes') people.set(by.id, (await whoIs(by.id)).id)
  if (people.size === 0) return new Map()
  const isMergeOnly = settings.deciding?.approvals.keepOnMerge === true && (await writes?.()) !== true
  const [first = new Map<string, Actor>(), ...others] = of.map((page): Map<string, Actor> => {
    const now = votedPage(page, settings)
    const votes = votesOn(page.candidate, (id) => people.get(id) ?? id)
    const standing = [...votes].filter(([, vote]) => isVoteFor(vote, now, isMergeOnly))
    return new Map(standing.map(([id, { by }]) => [id, by]))
  })
  return new Map([...first].filter(([id]) => others.every((votes) => votes.has(id))))
}

/** Returns the page and audience that a vote is for. A vote on a removal is for the removed page. */
export function votedPage(
  { text, before }: Pick<JudgedPage, 'text' | 'before'>,
  settings: Pick<KbSettings, 'defaultAudience' | 'inlineTags'>,
): VotedPage {
  const page = digest(withoutServerKeys(text ?? before ?? ''))
  if (text === null) return { page, audience: 'removed' }
  const file = parseNeuronFile(text)
  const { audience = settings.defaultAudience } = file.fields
  const access = accessClass({ audience, tags: allTags(file, settings) })
  // A merge that moves the marks of a comment shows its text to readers, whatever the audience of the page.
  const hidden = hiddenLines(file)
  return { page, audience: hidden.length === 0 ? access : `${access}, without ${digest(hidden.join('\n'))}` }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Removes the keys that the server adds to a page. */
export function withoutServerKeys(text: string): string {
  return editNeuron(text, { seqId: undefined, id: undefined, candidate: undefined })
}
