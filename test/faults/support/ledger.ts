/** A request to submit a candidate: the marker is in its title and content, and nowhere else in the world. */
export type Submission = { idempotencyKey: string; marker: string; body: Record<string, unknown> }

/** Returns the unique words of a candidate. */
export function wordsOf(marker: string): string {
  return `The first line of ${marker}.`
}

/** Returns the unique words of a page that was pushed to main through the server. */
export function pushedWords(marker: string): string {
  return `Pushed as ${marker}.`
}

export type AckedApproval = { seqId: string; commit: string; marker: string }

/** Acknowledgements, which must hold whatever happens. */
export class Ledger {
  /** Marker by candidate. */
  readonly candidates = new Map<string, string>()
  /** Approvals by candidate. */
  readonly approvals = new Map<string, AckedApproval>()
  readonly dismissals = new Set<string>()
  /** Commits that a native push brought to main, by path. */
  readonly pushes = new Set<string>()
  /** Commits that the server took for main, by the marker of their page. */
  readonly served = new Map<string, string>()
  /** Candidates that a push to `refs/for/main` made; also among `candidates`. */
  readonly proposals = new Set<string>()
  /** Notes of the folder that an import has finished with; marker by file name. */
  readonly imported = new Map<string, string>()
  /** Submissions whose answer never came. */
  cut: Submission[] = []
  /** Pushes to the server whose answer never came. */
  cutPushes = 0
  /** Answers that nobody should get. */
  readonly unexpected: string[] = []
  /** Requests that failed with 5xx where that was to be expected. */
  failures = 0

  /** Acknowledged writes of all kinds. */
  get size(): number {
    const { candidates, approvals, dismissals, pushes, served, imported } = this
    return [candidates, approvals, dismissals, pushes, served, imported].reduce((sum, { size }) => sum + size, 0)
  }
}
