import { CandidateKind } from '../../contract/vocabulary.ts'
import { trailersBetween } from '../../git/history/history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import type { Verdict } from '../../rules/candidates/candidate.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import { judge } from '../../rules/policy.ts'

/** What the commits of a change say that it is. Anybody can write that. */
export type Claim = { candidateId?: string; kind: CandidateKind; connector: string; confidence: number | null }

export type ClaimedVerdict = { claim: Claim; verdict: Verdict }

const names = ['Candidate', 'Kind', 'Connector', 'Confidence'] as const
const maxCommits = 1000
const curatorsEdit: Claim = { kind: 'user-correction', connector: 'git', confidence: null }

/** The candidate for which the commits of a range claim to change each path; the latest commit counts. @throws {GitError} */
export async function claimsBetween(repository: Repository, from: Oid, to: Oid): Promise<Map<string, Claim>> {
  const claims = new Map<string, Claim>()
  for (const { trailers, paths } of await trailersBetween(repository, { from, to, names, max: maxCommits })) {
    const { Candidate: candidateId, Kind, Connector: connector = curatorsEdit.connector, Confidence = '' } = trailers
    const kind = CandidateKind.safeParse(Kind).data
    if (candidateId === undefined || kind === undefined) continue
    const confidence = /^(?:0|0?\.\d+|1(?:\.0+)?)$/.test(Confidence) ? Number(Confidence) : null
    for (const path of paths) if (!claims.has(path)) claims.set(path, { candidateId, kind, connector, confidence })
  }
  return claims
}

/** What a policy says of a change; nothing that the change says of itself earns trust. */
export function judgeClaim(claim: Claim | undefined, settings: Pick<KbSettings, 'policy' | 'zones'>): ClaimedVerdict {
  const { kind, connector, confidence } = claim ?? curatorsEdit
  const judged = { kind, connector, confidence, trustedConnector: false, actionZone: null, targetProblem: null }
  return { claim: claim ?? curatorsEdit, verdict: judge(judged, settings) }
}
