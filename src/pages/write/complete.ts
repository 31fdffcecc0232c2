import { type EdgeType, edgeTypes } from '../../contract/enumerations.ts'
import { type Visibility, visibilityFor } from '../../kb/access/visibility.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type FoundName, nextTagKey } from '../../kb/projection/name-queries.ts'
import { findNeuron, neuronsAfter } from '../../kb/projection/neuron-queries.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isWritableTarget } from '../../markdown/file/rewrite-links.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { headingKey, headingsOf } from '../../rules/links/headings.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { findNames } from '../graph/find-names.ts'
import { LinkView } from '../graph/link-view.ts'

/** What is being typed: a link's target, a heading of the page that a link names, or a tag. */
export type Completion = {
  kind: 'link' | 'heading' | 'tag'
  q: string
  /** The target of the link whose heading is typed; empty for the page itself. */
  target?: string | undefined
  /** Of the page that is typed in, if it has one yet. */
  path?: string | undefined
}

/** What may be meant: the text to write, and what tells a person which it is. */
export type Completed = { text: string; hint?: string }

const most = 12

type Reading = { kb: KnowledgeBase; sql: Projection['read']; visibility: Visibility; view: LinkView }

/**
 * Returns what a caller may mean by what they have typed so far, the likeliest first; only what they may see.
 * @throws {GanglionError} `not_found`
 */
export async function complete(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { kind, q, target = '', path = '' }: Completion,
): Promise<Completed[]> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { read: sql } = kb.projection
  const visibility = await visibilityFor(caller, kb)
  const reading = { kb, sql, visibility, view: new LinkView(kb.identity, sql, visibility.ofSeqId) }
  if (kind === 'tag') return tags(reading, q)
  if (kind === 'heading') return headings(reading, { q, target, path })
  const { type, prefix } = typedPart(q)
  const names = await findNames(ctx, caller, kbName, { q: q.slice(prefix.length), limit: most })
  const types = type === undefined && q !== '' ? edgeTypes.filter((name) => name.startsWith(q.toLowerCase())) : []
  return [
    ...types.map((name) => ({ text: `${name}:`, hint: 'type of link' })),
    ...names.map((name) => linkTo(name, { prefix, path, view: reading.view })),
  ]
}

/** The type with which a link begins, and how many characters that takes. */
function typedPart(q: string): { type?: EdgeType; prefix: string } {
  const type = edgeTypes.find((name) => q.startsWith(`${name}:`))
  return type === undefined ? { prefix: '' } : { type, prefix: `${type}:` }
}

/** By the name that was found where a link by it leads there, else by the seqId. */
function linkTo(
  { seqId, title, name }: FoundName,
  { prefix, path, view }: { prefix: string; path: string; view: LinkView },
): Completed {
  const meaning = view.resolve({ target: name, form: 'wiki', from: path })
  const leadsThere = isWritableTarget(name) && 'seqId' in meaning && meaning.seqId === seqId
  return {
    text: prefix + (leadsThere ? name : seqId),
    hint: name === title && leadsThere ? seqId : `${title} · ${seqId}`,
  }
}

async function headings(
  { kb, sql, view }: Reading,
  { q, target, path }: { q: string; target: string; path: string },
): Promise<Completed[]> {
  const meaning = view.resolve({ target, form: 'wiki', from: path })
  const row = 'seqId' in meaning ? findNeuron(sql, meaning.seqId) : undefined
  if (row === undefined) return []
  const page = parseNeuronFile(await kb.repository.readText(row.blob))
  const key = headingKey(q)
  const found = headingsOf(shownContent(page)).filter((heading) => headingKey(heading).includes(key))
  return [...new Set(found)].slice(0, most).map((text) => ({ text }))
}

function tags({ sql, visibility }: Reading, q: string): Completed[] {
  const prefix = tagKey(q)
  const found: Completed[] = []
  for (let key = nextTagKey(sql, prefix, ''); key !== undefined; key = nextTagKey(sql, prefix, key)) {
    const tag = spelledTag(sql, visibility, key)
    if (tag !== undefined && found.push({ text: tag }) === most) break
  }
  return found
}

/** A tag as the first visible Neuron spells it that has it. */
function spelledTag(sql: Reading['sql'], { of }: Visibility, key: string): string | undefined {
  for (const neuron of neuronsAfter(sql, '', key)) {
    if (of(neuron)) return neuron.tags.find((tag) => tagKey(tag) === key)
  }
  return undefined
}
