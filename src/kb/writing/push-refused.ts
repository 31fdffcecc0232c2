import type { Finding } from '../../rules/neurons/neuron.ts'

/** The reason why a ref of a push is rejected; one line, for the pusher's terminal. */
export class PushRefused extends Error {
  /** What is wrong in which file. */
  readonly findings: readonly Finding[]
  /** True if nothing is wrong, and further people have to approve. */
  readonly awaitsApproval: boolean

  constructor(reason: string, findings: readonly Finding[] = [], awaitsApproval = false) {
    super(reason)
    this.awaitsApproval = awaitsApproval
    this.findings = findings
  }
}
