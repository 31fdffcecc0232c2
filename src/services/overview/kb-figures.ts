import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Repository } from '../../git/repository.ts'
import { type Audience, maySee } from '../../knowledge/audience.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { blobAtPath } from '../../store/projection/file-queries.ts'
import {
  countNeurons,
  countWaiting,
  type NeuronCounts,
  readProjectionAt,
  type WaitingCounts,
} from '../../store/projection/overview-queries.ts'
import { type Projection, type ProjectionHeads, projectionFile } from '../../store/projection/projection.ts'
import type { Ganglion } from '../ganglion.ts'
import { mainRef, queueRef } from '../knowledge-base/kb-refs.ts'
import type { KbIdentity } from '../knowledge-base/knowledge-base.ts'

/** What a knowledge base holds, in numbers, at its present commits. */
export type KbFigures = {
  title: string
  /** The commit of main. */
  main: string | undefined
  neurons: NeuronCounts
  waiting: WaitingCounts
  defaultAudience: readonly string[]
}

type Counted = { kbYaml: string | undefined; neurons: NeuronCounts; waiting: WaitingCounts }

/**
 * The figures of knowledge bases. They follow from main and the queue, so that they are counted once for each state of the
 * two. A knowledge base is opened only if its tables are behind its commits.
 */
export class KbFiguresCache {
  readonly #ganglion: Ganglion
  readonly #known = new Map<string, { heads: ProjectionHeads; figures: KbFigures }>()

  constructor(ganglion: Ganglion) {
    this.#ganglion = ganglion
  }

  async of(identity: KbIdentity): Promise<KbFigures> {
    await this.#ganglion.bringUp(identity)
    const repository = new Repository(this.#ganglion.directory.repository(identity.id))
    try {
      const heads = { main: await repository.readRef(mainRef), queue: await repository.readRef(queueRef) }
      const known = this.#known.get(identity.id)
      if (known !== undefined && isDeepStrictEqual(known.heads, heads)) return known.figures
      const file = join(this.#ganglion.directory.index(identity.id), projectionFile)
      const counted = readProjectionAt(file, heads, count) ?? (await this.#countOpened(identity))
      const text = counted.kbYaml === undefined ? '' : await repository.readText(counted.kbYaml)
      const { title, defaultAudience } = parseKbFile(text).settings
      const { neurons, waiting } = counted
      const figures = { title: title ?? identity.slug, main: heads.main, neurons, waiting, defaultAudience }
      this.#known.set(identity.id, { heads, figures })
      return figures
    } finally {
      repository.close()
    }
  }

  async #countOpened(identity: KbIdentity): Promise<Counted> {
    const kb = await this.#ganglion.openKb(identity)
    return count(kb.projection.read)
  }
}

function count(sql: Projection['read']): Counted {
  return { kbYaml: blobAtPath(sql, 'kb.yaml'), neurons: countNeurons(sql), waiting: countWaiting(sql) }
}

/** How many Neurons an audience may see. */
export function visibleNeurons({ neurons, defaultAudience }: KbFigures, audience: Audience): number {
  if (audience === 'curator') return neurons.total
  const seen = neurons.open.filter((each) => maySee(audience, { audience: each.audience, tags: [] }, defaultAudience))
  return seen.reduce((sum, { count }) => sum + count, 0)
}
