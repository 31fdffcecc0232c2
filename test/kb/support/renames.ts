import type { KnowledgeBase } from '../../../src/kb/knowledge-base.ts'
import type { Rename } from '../../../src/kb/writing/rename/name-change.ts'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { writtenBed } from './written-neurons.ts'

/** A knowledge base whose Neurons have these texts, by path below `neurons/`. */
export async function kbWith(files: Record<string, string>): Promise<KnowledgeBase> {
  const bed = await writtenBed(files)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  if (kb === undefined) throw new Error('no knowledge base')
  await kb.sync()
  return kb
}

/** The Neuron with the identity that a file gives it; `path` is below `neurons/`. */
export function renameTo(path: string, text: string): Rename {
  const { seqId = '', title = '', aliases } = parseNeuronFile(text).fields
  return { seqId, after: { path: `neurons/${path}`, title, aliases } }
}
