import type { Finding } from '../../rules/neurons/neuron.ts'

/** Thrown if a ref of a push is rejected. The message is one line for the pusher's terminal. */
export class PushRefused extends Error {
  /** Findings by file. */
  readonly findings: readonly Finding[]
  /** True if nothing is wrong, but further people must approve. */
  readonly awaitsApproval: boolean

  constructor(reason: string, findings: readonly Finding[] = [], awaitsApproval = false) {
    super(reason)
    this.awaitsApproval = awaitsApproval
    this.findings = findings
  }
}
