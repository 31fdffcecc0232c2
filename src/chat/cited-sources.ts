import { visibilityFor } from '../kb/access/visibility.ts'
import type { Context } from '../kb/context.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { SourceReference } from '../rules/neurons/neuron.ts'

/** A place in a Source that a Neuron came from. */
export type CitedSource = Omit<SourceReference, 'sha256'> & { id: string; filename: string }

/** The Sources that Neurons came from, as they say themselves, by seqId: those that the caller may see. @throws {GanglionError} `not_found` */
export async function citedSources(
  ctx: Context,
  caller: Caller,
  kbName: string,
  seqIds: readonly string[],
): Promise<Map<string, CitedSource[]>> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const { ofSeqId, ofSource } = await visibilityFor(caller, kb)
  const found = new Map<string, CitedSource[]>()
  for (const seqId of new Set(seqIds)) {
    const neuron = ofSeqId(seqId) ? findNeuron(kb.projection.read, seqId) : undefined
    if (neuron === undefined) continue
    const { fields } = parseNeuronFile(await kb.repository.readTextOnce(neuron.blob))
    const cited: CitedSource[] = []
    for (const { sha256: _, id, ...place } of fields.sources) {
      const source = id === undefined ? undefined : await ctx.sources.find(caller.tenantId, id)
      if (source?.kbId !== kb.identity.id || !ofSource(source)) continue
      cited.push({ ...place, id: source.id, filename: source.filename })
    }
    found.set(seqId, cited)
  }
  return found
}
