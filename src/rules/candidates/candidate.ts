import type { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'

/** Author of an action: an API key (over HTTP or git), a person in a session, the KB's policy, or a command on the server's machine. */
export type Actor = {
  /** Id: `key:<id>`, `user:<id>`, `git:<id of a key>`, `policy`, `cli`, … Stable, one line, safe in a commit trailer. */
  id: string
  /** Display name, one line. */
  name: string
}

export const ingestConnector = 'ingest'
/** Author of the candidates that are compiled from Sources. */
export const ingestActor: Actor = { id: 'ingest', name: 'Ingest' }

/** Approver of candidates that the KB's policy approves. */
export const policyActor: Actor = { id: 'policy', name: "The knowledge base's policy" }

/** Decision of the KB's policy on a new candidate. */
export type Verdict = {
  approve: boolean
  zone: Zone | null
  /** Reason for the audit trail, e.g. `zone green`, `confidence 0.9 >= 0.8`, `below every threshold`. */
  reason: string
  /** Warnings for the curator, e.g. `The target handbook_00000042 does not exist.` */
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

/**
 * Page that an approval would make (SHA-256 without the keys that the server writes), and its audience: the access class, and a digest
 * of the lines with comments, which only curators see.
 */
export type VotedPage = { page: string; audience: string }

export type Decision = {
  /** Kind of decision. Only `dismiss` and `reopen` change the status; `approve` is one vote of several. */
  action: (typeof decisionActions)[number]
  at: string
  by: Actor
  reason?: string
  /** Lines of the content that a request for changes is about, such as `3-5`. */
  lines?: string
  /** Page and audience of a vote, which counts for nothing else. */
  for?: VotedPage
  /** Assignee: e-mail of a person or name of a key. Absent: the assignment is removed. */
  to?: string
  /** Address of a comment or review on a forge. A decision with a known address is not recorded again. */
  via?: string
}

/** File of answer tests that is pushed with a page. `base` and `text`: the file before and after the push, null where there is none. */
export type CarriedTests = { path: string; base: string | null; text: string | null }

/** Candidate as stored on `refs/ganglion/queue`: the record, and the content as submitted. */
export type Candidate = {
  id: string
  kind: CandidateKind
  title: string
  /** Markdown, byte for byte as submitted. For a removal: the page that is to be removed. */
  content: string
  /** Front matter of a page that was submitted whole, `---` lines included. */
  frontMatter: string | null
  /** JSON object as text, as submitted. */
  metadata: string | null
  /** Confidence of the sender, from 0 to 1. */
  confidence: number | null
  impactEstimate: number | null
  /** Attribution, from the metadata or the key. */
  connector: string
  /** seqId of the Neuron to change. */
  target: string | null
  /** True if an approval gives the target this title: it differs from that of `base`. */
  renames?: true
  /** True if the candidate reverts changes of main that were approved or pushed. */
  reverts?: true
  /** True if an approval deletes the target. */
  removes: boolean
  /** Object id of the target's blob that the change was made against: the base of a three-way merge. */
  base: string | null
  /**
   * Object id of an earlier record on the queue. Its proposal then replaces the content of `base` as the merge base, because `base` also
   * has a curator's edits.
   */
  mergeBase?: string
  /** Files of answer tests that an approval commits with the page. */
  tests?: CarriedTests[]
  verdict: Verdict
  createdAt: string
  createdBy: Actor
  decisions: Decision[]
  /** Object id of the record before somebody other than its author revised it. */
  original?: string
}

/** Audit reason for a page that only the server changed, to make its links follow a rename. */
export const followsRename = 'links follow a rename'

/** Returns the status according to the queue alone. `approved` is derived from `main` and takes precedence. */
export function queueStatus(candidate: Pick<Candidate, 'decisions'>): Exclude<CandidateStatus, 'approved'> {
  return lastVerdict(candidate)?.action === 'dismiss' ? 'dismissed' : 'pending'
}

/** Returns the last decision that dismissed or reopened the candidate. */
export function lastVerdict({ decisions }: Pick<Candidate, 'decisions'>): Decision | undefined {
  return decisions.findLast(({ action }) => action === 'dismiss' || action === 'reopen')
}

/** Returns the open request for changes. It is closed by a new version, by an approval of the same person, or by a decision. */
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

/** Returns the number of the present version. */
export function versionNumber({ decisions }: Pick<Candidate, 'decisions'>): number {
  return 1 + decisions.filter(({ action }) => action === 'revise').length
}

/** Returns the e-mail of a person or the name of a key. */
export function assigneeOf({ decisions }: Pick<Candidate, 'decisions'>): string | undefined {
  return decisions.findLast(({ action }) => action === 'assign')?.to
}

/** Returns the path of a candidate's file on the queue ref. Folders use the random end of the id, since a UUIDv7 begins with the time. */
export function candidatePath(id: string): string {
  return `${id.slice(-4, -2)}/${id.slice(-2)}/${id}.md`
}
