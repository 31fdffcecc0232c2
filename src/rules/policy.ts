import type { CandidateKind, Zone } from '../contract/vocabulary.ts'
import type { Candidate, Verdict } from './candidates/candidate.ts'
import type { KbSettings, Policy, Zones } from './kb-settings.ts'

export type Judged = {
  kind: CandidateKind
  /** 0 to 1. */
  confidence: number | null
  connector: string
  /** Whether the key that speaks may claim this connector: trust comes from the key, never from the text. */
  trustedConnector: boolean
  /** The caller's `metadata.actionZone`. */
  actionZone: Zone | null
  /** What is wrong with the Neuron that it would change, e.g. that it does not exist. */
  targetProblem: string | null
}

/** Kinds that the service's own pipeline emits: a caller that only says so gets none of their privileges. */
const pipelineKinds: ReadonlySet<CandidateKind> = new Set([
  'ingest-summary',
  'ingest-page-update',
  'cross-ref-suggestion',
  'contradiction-alert',
  'gap-detection',
])

const strictestFirst: readonly Zone[] = ['red', 'yellow', 'green']

/** Whether a KB's policy approves a candidate, and why. The strictest rule comes first and wins. */
export function judge(candidate: Judged, settings: Pick<KbSettings, 'policy' | 'zones'>): Verdict {
  const { policy, zones } = settings
  const zone = zoneOf(candidate, zones ?? { kinds: {}, connectors: {} })
  const warnings = [
    ...(candidate.targetProblem === null ? [] : [candidate.targetProblem]),
    ...(zone === 'red' ? ['This candidate is in the red zone: check it with care.'] : []),
  ]
  const pending = (reason: string): Verdict => ({ approve: false, zone, reason, warnings })
  const approved = (reason: string): Verdict => ({ approve: true, zone, reason, warnings })

  if (zone === 'red' || zone === 'yellow') return pending(`zone ${zone}`)
  if (candidate.targetProblem !== null) return pending('the sender sees no such target')
  if (policy === null || zones === null) return pending('the policy in kb.yaml cannot be read')
  if (zone === 'green') return approved('zone green')
  if (candidate.trustedConnector && policy.autoApproveConnectors.includes(candidate.connector)) {
    return approved(`connector ${candidate.connector} is auto-approved`)
  }
  return judgeConfidence(candidate.confidence, policy, approved, pending)
}

function judgeConfidence(
  confidence: number | null,
  policy: Policy,
  approved: (reason: string) => Verdict,
  pending: (reason: string) => Verdict,
): Verdict {
  if (confidence === null) return pending('no confidence given')
  if (confidence >= policy.threshold) return approved(`confidence ${confidence} >= ${policy.threshold}`)
  if (policy.singleCurator && confidence >= policy.singleCuratorThreshold) {
    return approved(`confidence ${confidence} >= ${policy.singleCuratorThreshold} (single curator)`)
  }
  return pending(`confidence ${confidence} is below every threshold`)
}

/** The candidate in the zone of its kind and connector where that is stricter than its own, with the warnings of both. */
export function inZone<One extends Pick<Candidate, 'kind' | 'confidence' | 'connector' | 'verdict'>>(
  candidate: One,
  settings: Parameters<typeof judge>[1],
): One {
  const { verdict } = candidate
  const untrusted = { trustedConnector: false, actionZone: null, targetProblem: null }
  const judged = judge({ ...candidate, ...untrusted }, settings)
  const zone = strictestFirst.find((one) => one === verdict.zone || one === judged.zone) ?? null
  const warnings = [...new Set([...judged.warnings, ...verdict.warnings])]
  return { ...candidate, verdict: { ...verdict, zone, warnings } }
}

/** The strictest of the zones of the kind, of the connector and of the caller; a green one counts only where it may be claimed. */
function zoneOf(candidate: Judged, zones: Zones): Zone | null {
  const { kind, connector, trustedConnector, actionZone } = candidate
  const byKind = zones.kinds[kind]
  const byConnector = Object.hasOwn(zones.connectors, connector) ? zones.connectors[connector] : undefined
  const claimed = [
    byKind === 'green' && pipelineKinds.has(kind) && !trustedConnector ? undefined : byKind,
    byConnector === 'green' && !trustedConnector ? undefined : byConnector,
    actionZone === 'green' ? undefined : actionZone,
  ]
  return strictestFirst.find((zone) => claimed.includes(zone)) ?? null
}
