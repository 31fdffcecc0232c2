import type { Oid } from '../objects/object.ts'

/** A ref that a push wants to move: from nothing it is made, to nothing it is deleted. */
export type RefUpdate = { ref: string; from: Oid | undefined; to: Oid | undefined }

/** Verdict on a push before any of it is accepted; the lines are for the pusher's terminal. */
export type Judgement = { accepted: boolean; lines: readonly string[] }

/** Result for one ref, and why it was rejected. */
export type RefOutcome = {
  ref: string
  refused?: string /** True if it is refused only until further people approve. */
  awaitsApproval?: boolean
}

/** Result of a push, one outcome for each ref; the lines are for the pusher's terminal. */
export type PushReport = { outcomes: readonly RefOutcome[]; lines: readonly string[] }

/** Port of the part that decides about pushes. */
export type Receiver = {
  /** Judges a push whose objects lie apart, in the folder `quarantine` (undefined where it brings none): refused, they are gone. */
  judge(updates: readonly RefUpdate[], quarantine: string | undefined, options: readonly string[]): Promise<Judgement>
  /** Takes a push that was found good: moves the refs itself, durably. `options` are those of `git push -o`, here and above. */
  receive(updates: readonly RefUpdate[], options: readonly string[]): Promise<PushReport>
}
