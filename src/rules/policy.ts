import type { CandidateKind, Zone } from '../contract/vocabulary.ts'
import type { Candidate, Verdict } from './candidates/candidate.ts'
import type { KbSettings, Policy, Zones } from './kb-settings.ts'

export type Judged = {
  kind: CandidateKind
  /** Confidence of the sender, from 0 to 1. */
  confidence: number | null
  connector: string
  /** Connector of the interface, `api` or `mcp`. Its zone applies to every sender that may not use `connector`. */
  door: string
  /** True if the key may use `connector`. Trust comes from the key, never from the text. */
  trustedConnector: boolean
  /** Zone that the caller requests in `metadata.actionZone`. */
  actionZone: Zone | null
  /** Problem with the target Neuron, e.g. that it does not exist. */
  targetProblem: string | null
}

/** Kinds that only the service's own pipeline submits. A caller that claims one gets none of its privileges. */
const pipelineKinds: ReadonlySet<CandidateKind> = new Set([
  'ingest-summary',
  'ingest-page-update',
  'cross-ref-suggestion',
  'contradiction-alert',
  'gap-detection',
])

const strictestFirst: readonly Zone[] = ['red', 'yellow', 'green']

/** Returns whether a KB's policy approves a candidate, and why. The strictest rule comes first and wins. */
export function judge(candidate: Judged, settings: Pick<KbSettings, 'policy' | 'zones' | 'deciding'>): Verdict {
  const { policy, zones, deciding } = settings
  const zone = zoneOf(candidate, zones ?? { kinds: {}, connectors: {} })
  const { targetProblem } = candidate
  const warnings = [...(targetProblem === null ? [] : [targetProblem]), ...zoneWarnings(zone)]
  const pending = (reason: string): Verdict => ({ approve: false, zone, reason, warnings })
  const approved = (reason: string): Verdict => ({ approve: true, zone, reason, warnings })

  if (zone === 'red' || zone === 'yellow') return pending(`zone ${zone}`)
  if (targetProblem !== null) return pending('the sender sees no such target')
  if (policy === null || zones === null) return pending('the policy in kb.yaml cannot be read')
  const isNamed = candidate.trustedConnector && isNamedConnector(candidate.connector, { policy, zones })
  if (deciding?.authorMayApprove !== true && !isNamed) {
    return pending('authors may not approve here, and kb.yaml approves no such connector by name')
  }
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

/** True if `kb.yaml` trusts a connector by name: among the approved ones, or in the green zone. */
export function isNamedConnector(connector: string, { policy, zones }: Pick<KbSettings, 'policy' | 'zones'>): boolean {
  return policy?.autoApproveConnectors.includes(connector) === true || connectorZone(connector, zones) === 'green'
}

/** Returns the candidate with the zone of its kind and connector where that is stricter than its own, and the warnings of both. */
export function inZone<One extends Pick<Candidate, 'kind' | 'connector' | 'verdict'>>(
  candidate: One,
  { zones }: Pick<KbSettings, 'zones'>,
): One {
  const { verdict } = candidate
  const claim = { ...candidate, door: candidate.connector, trustedConnector: false, actionZone: null }
  const byKb = zoneOf(claim, zones ?? { kinds: {}, connectors: {} })
  const zone = strictestFirst.find((one) => one === verdict.zone || one === byKb) ?? null
  const warnings = [...new Set([...zoneWarnings(byKb), ...verdict.warnings])]
  return { ...candidate, verdict: { ...verdict, zone, warnings } }
}

/** Returns a verdict in the zone of an earlier one, with its warnings, where that is stricter. */
export function keepZone(verdict: Verdict, before: Verdict): Verdict {
  const { zone } = before
  const isStricter = zone === 'red' || (zone === 'yellow' && verdict.zone !== 'red')
  if (!isStricter || zone === verdict.zone) return verdict
  return { ...verdict, zone, warnings: [...new Set([...before.warnings, ...verdict.warnings])] }
}

function zoneWarnings(zone: Zone | null): string[] {
  return zone === 'red' ? ['This candidate is in the red zone: check it with care.'] : []
}

function connectorZone(connector: string, zones: Zones | null): Zone | undefined {
  return zones && Object.hasOwn(zones.connectors, connector) ? zones.connectors[connector] : undefined
}

/**
 * Returns the strictest zone of kind, connector, entry point and caller. Green counts only where the key may claim it, and a claimed
 * connector never overrides the zone of the entry point.
 */
function zoneOf(
  candidate: Pick<Judged, 'kind' | 'connector' | 'door' | 'trustedConnector' | 'actionZone'>,
  zones: Zones,
): Zone | null {
  const { kind, connector, door, trustedConnector, actionZone } = candidate
  const byKind = zones.kinds[kind]
  const byConnector = connectorZone(connector, zones)
  const byDoor = trustedConnector ? undefined : connectorZone(door, zones)
  const claimed = [
    byKind === 'green' && pipelineKinds.has(kind) && !trustedConnector ? undefined : byKind,
    byConnector === 'green' && !trustedConnector ? undefined : byConnector,
    byDoor === 'green' ? undefined : byDoor,
    actionZone === 'green' ? undefined : actionZone,
  ]
  return strictestFirst.find((zone) => claimed.includes(zone)) ?? null
}
