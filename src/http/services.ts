import type {
  Approval,
  CandidateDetail,
  CandidateEdit,
  CandidateInput,
  CandidatePage,
  CandidateQuery,
  CandidateReceipt,
  CandidateState,
  Dismissal,
} from '../contract/candidates.ts'
import type { Neuron } from '../contract/neurons.ts'
import type { Caller } from '../services/caller.ts'

/** What the routes need of the layers below. Methods throw `GanglionError` and `ValidationError`. */
export interface Services {
  /** Nobody, for a token that is malformed, unknown, expired or revoked. */
  authenticate(token: string): Promise<Caller | undefined>
  submitCandidate(
    caller: Caller,
    input: CandidateInput,
    options: { idempotencyKey?: string },
  ): Promise<CandidateReceipt>
  approveCandidate(caller: Caller, candidateId: string, edit: CandidateEdit): Promise<Approval>
  dismissCandidate(caller: Caller, candidateId: string, dismissal: Dismissal): Promise<CandidateState>
  reopenCandidate(caller: Caller, candidateId: string): Promise<CandidateState>
  listCandidates(caller: Caller, query: CandidateQuery): Promise<CandidatePage>
  getCandidate(caller: Caller, candidateId: string): Promise<CandidateDetail>
  readNeuron(caller: Caller, neuron: { kb: string; seqId: string; at?: string }): Promise<Neuron>
  /** Whether requests can be served; false while starting. */
  isReady(): boolean
  /** Free space of the data directory's disk, 0 to 1. */
  freeDiskRatio(): Promise<number>
}
