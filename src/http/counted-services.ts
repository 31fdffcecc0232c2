import type { CandidateStatus } from '../contract/vocabulary.ts'
import type { CandidateAction, Metrics } from './operations.ts'
import type { Services } from './services.ts'

/** Returns services that count actions on candidates, whichever door they come through: API, agents or console. */
export function countCandidates(services: Services, { countCandidate }: Pick<Metrics, 'countCandidate'>): Services {
  function counted<Args extends unknown[], Result extends { status: CandidateStatus }>(
    action: CandidateAction,
    work: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      const result = await work(...args)
      countCandidate(action, result.status)
      return result
    }
  }
  return {
    ...services,
    submitCandidate: counted('submit', services.submitCandidate),
    submitFeedback: counted('submit', services.submitFeedback),
    writePage: counted('submit', services.writePage),
    removePage: counted('submit', services.removePage),
    approveCandidate: counted('approve', services.approveCandidate),
    dismissCandidate: counted('dismiss', services.dismissCandidate),
    reopenCandidate: counted('reopen', services.reopenCandidate),
    commentCandidate: counted('comment', services.commentCandidate),
    async proposeReverse(caller, candidateId) {
      const id = await services.proposeReverse(caller, candidateId)
      countCandidate('submit', 'pending')
      return id
    },
    async proposeFinding(caller, kb, settling) {
      const proposals = await services.proposeFinding(caller, kb, settling)
      for (const _ of proposals.candidateIds) countCandidate('submit', 'pending')
      return proposals
    },
  }
}
