import type { Context } from '../../../context.ts'
import { effectiveAudience } from '../../../knowledge/audience.ts'
import { fileNameKey } from '../../../knowledge/links/file-target.ts'
import type { LintFinding } from '../../../knowledge/lint/lint.ts'
import { titleOf } from '../../../store/projection/neuron-queries.ts'
import type { Caller } from '../../caller.ts'
import { surveyLinks } from '../../lint/survey-links.ts'
import { type KbLabel, kbLabel } from '../kb-label.ts'
import { PerCommit } from '../per-commit.ts'

/** Pages without any link, and names that pages link to and that nothing has: of each the first 100, and how many there are. */
export type LooseEnds = {
  kb: KbLabel
  orphans: { seqId: string; title: string }[]
  orphanCount: number
  gaps: { target: string; neurons: number }[]
  gapCount: number
}

const maxListed = 100
const found = new PerCommit<Omit<LooseEnds, 'kb'>>()

/** What hangs in the air among the Neurons that the caller may see. @throws {GanglionError} `not_found` */
export async function readLooseEnds(ctx: Context, caller: Caller, kbName: string): Promise<LooseEnds> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const audience = effectiveAudience(caller.role)
  const ends = await found.get(kb, audience, async () => {
    const findings = await surveyLinks(kb, caller)
    const orphans = findings.flatMap((finding) => (finding.rule === 'orphan' ? [finding.seqId] : []))
    const gaps = findings.filter(isMissing).filter(({ target }) => audience === 'curator' || !isFileName(target))
    return {
      orphans: orphans
        .slice(0, maxListed)
        .map((seqId) => ({ seqId, title: titleOf(kb.projection.read, seqId) ?? seqId })),
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

/** Whether there is a file of that name is not for everybody to know. */
function isFileName(target: string): boolean {
  return fileNameKey(target) !== undefined
}
