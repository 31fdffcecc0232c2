import { openView } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { SourceReference } from '../rules/neurons/neuron.ts'

/** Place in a Source that a Neuron came from. */
export type CitedSource = Omit<SourceReference, 'sha256'> & { id: string; filename: string }

/** Returns the Sources that Neurons name as their origin and the caller may see, by seqId. @throws {GanglionError} `not_found` */
export async function citedSources(
  ctx: Context,
  caller: Caller,
  kbName: string,
  seqIds: readonly string[],
): Promise<Map<string, CitedSource[]>> {
  const view = await openView(ctx, caller, kbName)
  const { repository, identity } = view.kb
  const found = new Map<string, CitedSource[]>()
  for (const seqId of new Set(seqIds)) {
    const neuron = view.about(seqId, findNeuron)
    if (neuron === undefined) continue
    const { fields } = parseNeuronFile(await repository.readTextOnce(neuron.blob))
    const cited: CitedSource[] = []
    for (const { sha256: _, id, ...place } of fields.sources) {
      const source = id === undefined ? undefined : await ctx.sources.find(caller.tenantId, id)
      if (source?.kbId !== identity.id || !view.seesSource(source)) continue
      cited.push({ ...place, id: source.id, filename: source.filename })
    }
    found.set(seqId, cited)
  }
  return found
}
