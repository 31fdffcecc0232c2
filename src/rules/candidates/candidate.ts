import type { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'

/** Who acts: an API key, over HTTP or with git, a person in a session, the KB's policy, or a command on the server's machine. */
export type Actor = {
  /** `key:<id>`, `user:<id>`, `git:<id of a key>`, `policy`, `cli`, … Stable, one line, safe in a commit trailer. */
  id: string
  /** One line, for people. */
  name: string
}

export const ingestConnector = 'ingest'
/** Who proposes the pages of Sources. */
export const ingestActor: Actor = { id: 'ingest', name: 'Ingest' }

/** What the KB's policy said of a candidate when it came in. */
export type Verdict = {
  approve: boolean
  zone: Zone | null
  /** Why, for the audit trail: e.g. `zone green`, `confidence 0.9 >= 0.8`, `below every threshold`. */
  reason: string
  /** What a curator must be shown, e.g. `The target handbook_00000042 does not exist.` */
  warnings: string[]
}

export const decisionActions = [
  'approve',
  'dismiss',
  'reopen',
  'comment',
  'revise',
  'request-changes',
  'assign',
] as const

/** SHA-256 of a page that an approval makes, without the keys that the server writes, and who sees that page. */
export type VotedPage = { page: string; audience: string }

export type Decision = {
  /** Only `dismiss` and `reopen` change the status. `approve` is the vote of one of several. */
  action: (typeof decisionActions)[number]
  at: string
  by: Actor
  reason?: string
  /** Page and audience that a vote is for. It counts for no other. */
  for?: VotedPage
  /** Of an assignment: the e-mail of a person or the name of a key; without it, nobody. */
  to?: string
  /** The address of what was said elsewhere, as on a forge: nothing is heard twice. */
  via?: string
}

/** A file of answer tests that comes with a page: from what a push began with to what it pushed. Null: there is no file. */
export type CarriedTests = { path: string; base: string | null; text: string | null }

/** A candidate as it stands on `refs/ganglion/queue`: the record, and the content as it was submitted. */
export type Candidate = {
  id: string
  kind: CandidateKind
  title: string
  /** Markdown, byte for byte as submitted; of a removal, what is to go. */
  content: string
  /** The block of front matter that a whole page was proposed with, `---` lines included. */
  frontMatter: string | null
  /** A JSON object as text, as submitted. */
  metadata: string | null
  /** 0 to 1. */
  confidence: number | null
  impactEstimate: number | null
  /** Attribution, from the metadata or the key that speaks. */
  connector: string
  /** seqId of the Neuron that it wants to change. */
  target: string | null
  /** Whether its title is the one that its target shall get: another than that of `base`. */
  renames?: true
  /** Whether its target is to be deleted. */
  removes: boolean
  /** Object id of the target's blob that the candidate was made for: the base of a three-way merge. */
  base: string | null
  /**
   * Object id of an earlier record on the queue. If set, what that proposed replaces what `base` holds in the base of the merge:
   * `base` then has a curator's edits as well.
   */
  mergeBase?: string
  /** What an approval commits with the page. */
  tests?: CarriedTests[]
  verdict: Verdict
  createdAt: string
  createdBy: Actor
  decisions: Decision[]
  /** Object id of the record as it was before somebody other than its maker revised it. */
  original?: string
}

/** Reason, in the audit trail, for a page that nobody changed but the server, whose links follow a rename. */
export const followsRename = 'links follow a rename'

/** The reason of a candidate that takes back what was written begins so. */
export const takesBack = 'takes back'

export function isReversal({ verdict }: Pick<Candidate, 'verdict'>): boolean {
  return verdict.reason.startsWith(`${takesBack} `)
}

/** Status by the queue alone; `approved` is derived from `main`, and wins. */
export function queueStatus(candidate: Pick<Candidate, 'decisions'>): Exclude<CandidateStatus, 'approved'> {
  return lastVerdict(candidate)?.action === 'dismiss' ? 'dismissed' : 'pending'
}

/** The last decision that says whether a candidate waits. */
export function lastVerdict({ decisions }: Pick<Candidate, 'decisions'>): Decision | undefined {
  return decisions.findLast(({ action }) => action === 'dismiss' || action === 'reopen')
}

/** What somebody asked to be changed, until there is a new version, they approve, or it is decided. */
export function requestedChanges({ decisions }: Pick<Candidate, 'decisions'>): Decision | undefined {
  const at = decisions.findLastIndex(({ action }) => action === 'request-changes')
  const asked = decisions[at]
  const isOver = decisions
    .slice(at + 1)
    .some(({ action, by }) =>
      action === 'approve'
        ? by.id === asked?.by.id
        : action === 'revise' || action === 'dismiss' || action === 'reopen',
    )
  return isOver ? undefined : asked
}

/** E-mail of a person or name of a key. */
export function assigneeOf({ decisions }: Pick<Candidate, 'decisions'>): string | undefined {
  return decisions.findLast(({ action }) => action === 'assign')?.to
}

/** Where a candidate's file stands on the queue ref: sharded by the id's random end, since UUIDv7 begins with time. */
export function candidatePath(id: string): string {
  return `${id.slice(-4, -2)}/${id.slice(-2)}/${id}.md`
}
