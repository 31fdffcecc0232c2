import type { Graph } from '../../contract/graph.ts'
import type { Context } from '../../kb/context.ts'
import { PerCommit } from '../../kb/per-commit.ts'
import { effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { readGraph } from './read-graph.ts'

/** Neurons that a drawing can hold. */
const maxNodes = 3000
const graphs = new PerCommit<Graph>()

/** The 3,000 best connected of the Neurons that the caller may see, with the links among them. @throws {GanglionError} `not_found` */
export async function readWholeGraph(ctx: Context, caller: Caller, kbName: string): Promise<Graph> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const read = () => readGraph(ctx, caller, kbName, { depth: 1, limit: maxNodes })
  return graphs.get(kb, effectiveAudience(caller), read)
}
