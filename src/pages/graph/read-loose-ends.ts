import { viewFor } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { titleOf } from '../../kb/projection/neuron-queries.ts'
import { type KbLabel, kbLabel, PerCommit } from '../../kb/readable-kb.ts'
import { effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { fileNameKey } from '../../rules/links/file-target.ts'
import type { LintFinding } from '../../rules/lint/link-survey.ts'
import { surveyLinks } from './survey-links.ts'

/** Pages without any link, and names that pages link to but nothing has: the first 100 of each, and their number. */
export type LooseEnds = {
  kb: KbLabel
  orphans: { seqId: string; title: string }[]
  orphanCount: number
  gaps: { target: string; neurons: number }[]
  gapCount: number
}

const maxListed = 100
const found = new PerCommit<Omit<LooseEnds, 'kb'>>()

/** Returns the loose ends among the Neurons visible to the caller. @throws {GanglionError} `not_found` */
export async function readLooseEnds(ctx: Context, caller: Caller, kbName: string): Promise<LooseEnds> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const audience = effectiveAudience(caller)
  const ends = await found.get(kb, audience, async () => {
    const findings = await surveyLinks(kb, caller)
    const view = await viewFor(caller, kb)
    const orphans = findings.flatMap((finding) => (finding.rule === 'orphan' ? [finding.seqId] : []))
    const gaps = findings.filter(isMissing).filter(({ target }) => audience === 'curator' || !isFileName(target))
    return {
      orphans: orphans.slice(0, maxListed).map((seqId) => ({ seqId, title: view.about(seqId, titleOf) ?? seqId })),
      orphanCount: orphans.length,
      gaps: gaps.slice(0, maxListed).map(({ target, neurons }) => ({ target, neurons })),
      gapCount: gaps.length,
    }
  })
  return { kb: await kbLabel(kb), ...ends }
}

function isMissing(finding: LintFinding): finding is Extract<LintFinding, { rule: 'gap' | 'missing-target' }> {
  return finding.rule === 'gap' || finding.rule === 'missing-target'
}

/** True for a file name: whether such a file exists must not be revealed. */
function isFileName(target: string): boolean {
  return fileNameKey(target) !== undefined
}
