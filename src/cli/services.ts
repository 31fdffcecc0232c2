import { statfs } from 'node:fs/promises'
import type { Services } from '../http/services.ts'
import type { Ganglion } from '../services/ganglion.ts'
import { approveCandidate } from '../services/queue/approve-candidate.ts'
import { dismissCandidate, reopenCandidate } from '../services/queue/decide-candidate.ts'
import { listCandidates } from '../services/queue/list-candidates.ts'
import { readCandidate } from '../services/queue/read-candidate.ts'
import { submitCandidate } from '../services/queue/submit-candidate.ts'
import { readNeuron } from '../services/read-neuron.ts'

/** Gives the HTTP server its use cases, on one data directory. */
export function servicesOf(ganglion: Ganglion): Omit<Services, 'isReady'> {
  return {
    async authenticate(token) {
      const key = await ganglion.apiKeys.authenticate(token, ganglion.now())
      return (
        key && { keyId: key.id, name: key.name, tenantId: key.tenantId, role: key.role, connectors: key.connectors }
      )
    },
    submitCandidate: (caller, input, options) => submitCandidate(ganglion, caller, input, options),
    approveCandidate: (caller, candidateId, edit) => approveCandidate(ganglion, caller, candidateId, edit),
    dismissCandidate: (caller, candidateId, dismissal) => dismissCandidate(ganglion, caller, candidateId, dismissal),
    reopenCandidate: (caller, candidateId) => reopenCandidate(ganglion, caller, candidateId),
    listCandidates: (caller, query) => listCandidates(ganglion, caller, query),
    getCandidate: (caller, candidateId) => readCandidate(ganglion, caller, candidateId),
    readNeuron: (caller, neuron) => readNeuron(ganglion, caller, neuron),
    async freeDiskRatio() {
      const { bavail, blocks } = await statfs(ganglion.directory.root)
      return bavail / blocks
    },
  }
}
