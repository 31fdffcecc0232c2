import { type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { type BroughtVersion, broughtVersions } from '../projection/written-versions.ts'
import type { KbView } from './kb-view.ts'
import { accessIn } from './neuron-access.ts'

/** Version as a caller sees it. `text`: its content; for readers without hidden parts. */
export type ShownVersion = BroughtVersion & { file: NeuronFile; text: string }

/** Returns the versions of a Neuron that a caller may see, oldest first; none if its history is hidden. */
export async function shownVersions(kb: KnowledgeBase, view: KbView, seqId: string): Promise<ShownVersion[]> {
  if (!(await view.seesHistory(seqId))) return []
  const settings = await kb.settings()
  const versions: ShownVersion[] = []
  for (const version of broughtVersions(kb.projection.read, seqId)) {
    const file = parseNeuronFile(await kb.repository.readTextOnce(version.blob))
    if (!view.sees(accessIn(file, settings))) continue
    const text = view.audience === 'curator' ? unixLines(file.content) : shownContent(file)
    versions.push({ ...version, file, text })
  }
  return versions
}
