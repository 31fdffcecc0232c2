/** A request to submit a candidate: the marker is in its title and content, and nowhere else in the world. */
export type Submission = { idempotencyKey: string; marker: string; body: Record<string, unknown> }

export type AckedApproval = { seqId: string; commit: string; marker: string }

/** What the outside world was told, and so must find again whatever happens. */
export class Ledger {
  /** Marker by candidate. */
  readonly candidates = new Map<string, string>()
  /** By candidate. */
  readonly approvals = new Map<string, AckedApproval>()
  readonly dismissals = new Set<string>()
  /** Commits that a native push brought to main. */
  readonly pushes = new Set<string>()
  /** Notes of the folder that an import has finished with; marker by file name. */
  readonly imported = new Map<string, string>()
  /** Submissions whose answer never came. */
  cut: Submission[] = []
  /** Answers that nobody should get. */
  readonly unexpected: string[] = []
  /** Requests that failed with 5xx where that was to be expected. */
  failures = 0

  /** Acknowledged writes of all kinds. */
  get size(): number {
    return this.candidates.size + this.approvals.size + this.dismissals.size + this.pushes.size + this.imported.size
  }
}
