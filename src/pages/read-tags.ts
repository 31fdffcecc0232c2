import { atOneCommit } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { everyTreeRow } from '../kb/projection/neuron-queries.ts'
import { type KbLabel, kbLabel, PerCommit, type ReadableKb } from '../kb/readable-kb.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import { tagKey } from '../rules/neurons/tag.ts'
import { compareText } from '../rules/text/lines.ts'
import { pauses } from '../system/pauses.ts'

export type TagCount = { tag: string; count: number }

export type TagPage = { kb: KbLabel; tags: TagCount[]; total: number; page: number; pages: number }

export type TagQuery = { q: string; page: number }

const pageSize = 200
const counts = new PerCommit<TagCount[]>()

/**
 * Returns the tags of the Neurons visible to the caller, by name, 200 on a page: those that contain the query, ignoring case and accents.
 * @throws {GanglionError} `not_found`
 */
export async function readTags(ctx: Context, caller: Caller, kbName: string, { q, page }: TagQuery): Promise<TagPage> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const all = await countedTags(kb, caller)
  const wanted = tagKey(q)
  const found = wanted === '' ? all : all.filter(({ tag }) => tagKey(tag).includes(wanted))
  const pages = Math.max(1, Math.ceil(found.length / pageSize))
  const shown = Math.min(page, pages)
  const tags = found.slice((shown - 1) * pageSize, shown * pageSize)
  return { kb: await kbLabel(kb), tags, total: found.length, page: shown, pages }
}

/** Returns the tags of the Neurons visible to the caller, by name; counted once for a commit and an audience. */
export function countedTags(kb: ReadableKb, caller: Caller): Promise<TagCount[]> {
  return counts.get(kb, effectiveAudience(caller), () => countTags(kb, caller))
}

async function countTags(kb: ReadableKb, caller: Caller): Promise<TagCount[]> {
  const counted = new Map<string, TagCount>()
  await atOneCommit(kb, caller, async (view) => {
    const pause = pauses()
    for (const neuron of view.rows(everyTreeRow)) {
      await pause()
      for (const tag of neuron.tags) {
        const key = tagKey(tag)
        const known = counted.get(key)
        if (known === undefined) counted.set(key, { tag: tag.replace(/^#/, ''), count: 1 })
        else known.count++
      }
    }
  })
  return [...counted].sort(([a], [b]) => compareText(a, b)).map(([, count]) => count)
}
