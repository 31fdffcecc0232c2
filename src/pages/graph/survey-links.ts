import { atOneCommit } from '../../kb/access/kb-view.ts'
import { LinkView } from '../../kb/access/link-view.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { neuronsOfConnector } from '../../kb/projection/candidate-index.ts'
import { everyLink, everyName } from '../../kb/projection/link-queries.ts'
import { everySeqId } from '../../kb/projection/neuron-queries.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isKnownBy, targetKeys } from '../../rules/links/link-target.ts'
import { impactOf, LinkSurvey, type LintedName, type LintFinding, takenName } from '../../rules/lint/link-survey.ts'
import { lintConnector } from '../../rules/lint/lint-candidate.ts'
import { NameIndex } from '../../rules/lint/lint-names.ts'
import { pauses } from '../../system/pauses.ts'

export async function surveyLinks(kb: KnowledgeBase, caller?: Caller): Promise<LintFinding[]> {
  const found = await atOneCommit(kb, caller, async (view) => {
    const pause = pauses()
    const links = new LinkView(view)
    const survey = new LinkSurvey()
    for (const { kb: linked, ...link } of view.rows(everyLink)) {
      await pause()
      const { key, bareKey = key } = targetKeys(link)
      const subject = link.form === 'markdown' ? key : bareKey
      const meaning = links.isOwn(linked) ? links.resolve(link) : undefined
      const isHidden = meaning !== undefined && 'file' in meaning && !view.files.has(meaning.file)
      survey.add({ ...link, key: subject, meaning: isHidden ? { missing: true } : meaning })
    }
    const names = new NameIndex()
    const findings: LintFinding[] = []
    let same: LintedName[] = []
    const isFile = (key: string) => view.files.byKey(key).length > 0
    for (const name of view.rows(everyName)) {
      await pause()
      if (isKnownBy(name.kind)) names.add(name.key, name.seqId)
      if (same[0]?.key !== name.key) {
        findings.push(...takenName(same, isFile))
        same = []
      }
      same.push(name)
    }
    findings.push(...takenName(same, isFile))
    // Pages proposed by lint itself need no links to them.
    const own = neuronsOfConnector(kb.projection.read, lintConnector)
    const neurons = view.rows(everySeqId).flatMap(({ seqId }) => (own.has(seqId) ? [] : [seqId]))
    for (const finding of survey.findings(neurons, (key) => names.likely(key))) {
      await pause()
      findings.push(finding)
    }
    return findings
  })
  return found.sort((a, b) => impactOf(b) - impactOf(a))
}
