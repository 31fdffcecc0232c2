import { isDeepStrictEqual } from 'node:util'
import { type Context, onePer } from '../../kb/context.ts'
import { headsOf, mainSettings, readTables } from '../../kb/kb-access.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import {
  countNeurons,
  countWaiting,
  type NeuronCounts,
  type WaitingCounts,
} from '../../kb/projection/overview-queries.ts'
import type { ProjectionHeads } from '../../kb/projection/projection.ts'
import { type Audience, maySee } from '../../rules/access/audience.ts'

/** Counts for a knowledge base at its present commits. */
export type KbFigures = {
  title: string
  main: string | undefined
  neurons: NeuronCounts
  waiting: WaitingCounts
  defaultAudience: readonly string[]
}

export const kbFigures = onePer((ctx: Context) => new KbFiguresCache(ctx))

/**
 * Cache of figures. They depend on main and the queue, so they are counted once for each state of the two. A knowledge base is opened only
 * if its tables are behind its commits.
 */
class KbFiguresCache {
  readonly #ctx: Context
  readonly #known = new Map<string, { heads: ProjectionHeads; figures: KbFigures }>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  async of(identity: KbIdentity): Promise<KbFigures> {
    const heads = await headsOf(this.#ctx, identity)
    const known = this.#known.get(identity.id)
    if (known !== undefined && isDeepStrictEqual(known.heads, heads)) return known.figures
    const counted = await readTables(this.#ctx, identity, (sql) => ({
      neurons: countNeurons(sql),
      waiting: countWaiting(sql),
    }))
    const settings = await mainSettings(this.#ctx, identity)
    const [title, defaultAudience] = [settings?.title ?? identity.slug, settings?.defaultAudience ?? []]
    const figures = { title, main: heads.main, ...counted, defaultAudience }
    this.#known.set(identity.id, { heads, figures })
    return figures
  }
}

/** Returns the number of Neurons that an audience may see. */
export function visibleNeurons({ neurons, defaultAudience }: KbFigures, audience: Audience): number {
  if (audience === 'curator') return neurons.total
  const seen = neurons.open.filter((each) => maySee(audience, { audience: each.audience, tags: [] }, defaultAudience))
  return seen.reduce((sum, { count }) => sum + count, 0)
}
