import { undefinedOn } from '../../contract/errors.ts'
import { mergeBase } from '../../git/history/history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { checkPush } from '../../push/checks/check-push.ts'
import { formatFindings } from '../../push/push-report.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { effectLines } from '../../rules/effect-lines.ts'
import { literal } from '../../rules/text/literal.ts'
import type { Report } from '../forge-adapter.ts'
import { type Linked, publicUrl } from './linked.ts'
import { type Needed, neededText } from './needed-approvals.ts'

/** Returns the result of checking a candidate's head by the rules of a push. */
export async function reportOf(
  { kb, ctx, forge }: Linked,
  {
    candidate,
    needed,
    ...commit
  }: {
    number: number
    head: Oid
    branch: string
    candidate: Pick<CandidateRow, 'id' | 'reason' | 'zone'>
    needed: Needed | undefined
  },
): Promise<Report> {
  const { head } = commit
  const from = await baseOfHead(kb, head)
  const findings = await checkPush(kb, { repository: kb.repository, from, to: head })
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const found = `${errors} errors, ${warnings} warnings`
  // The candidate may be decided on meanwhile.
  const effects = await ctx.tests.effects(kb, [candidate.id])?.catch(undefinedOn())
  const broken = effects?.broken.length ?? 0
  const breaks = broken === 0 ? '' : `; it breaks ${broken} of ${effects?.tests} answer tests`
  const isBroken = errors > 0 || (broken > 0 && (await kb.settings()).onBreak !== 'allow')
  return {
    ...{ ...commit, outcome: isBroken ? 'failed' : outcomeOf(needed) },
    title: `${errors > 0 ? 'The' : `${waitingFor(needed)}; the`} checks found ${found}${breaks}`,
    summary: [
      ...(needed === undefined ? [] : [neededText(needed)]),
      `**Policy:** ${literal(candidate.reason)}${candidate.zone === null ? '' : `, zone ${candidate.zone}`}.`,
      ...[...formatFindings(findings), ...(effects === undefined ? [] : effectLines(effects))].map(
        (line) => `- ${literal(line)}`,
      ),
    ]
      .join('\n')
      .slice(0, forge.limits.body)
      .toWellFormed(),
    findings: findings
      .filter(({ path }) => path !== '')
      .slice(0, forge.limits.findings)
      .map(({ path, line, severity, message }) => ({ path, line, severity, message })),
    url: publicUrl(ctx.urls.candidate(candidate.id)),
  }
}

/** Returns the outcome of a request that passed the checks. */
export function outcomeOf(needed: Needed | undefined): Report['outcome'] {
  return needed === undefined || needed.mergers.length > 0 ? 'waiting' : 'blocked'
}

/** Returns the title of a report without findings: whose approval the request needs. */
function waitingFor(needed: Needed | undefined): string {
  return needed === undefined ? 'Waits for a curator' : awaitingText(needed.awaiting).replace(/\.$/, '')
}

/** Returns the commit of main at which a head, or the branch it was made from, left main. */
async function baseOfHead({ repository }: KnowledgeBase, head: Oid): Promise<Oid> {
  const main = await repository.readRef(mainRef)
  return (main && (await mergeBase(repository, main, head))) ?? head
}
