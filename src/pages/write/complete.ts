import { edgeTypes } from '../../contract/enumerations.ts'
import type { EdgeType } from '../../contract/vocabulary.ts'
import { type KbView, viewFor } from '../../kb/access/kb-view.ts'
import { LinkView } from '../../kb/access/link-view.ts'
import type { Context } from '../../kb/context.ts'
import type { FoundName } from '../../kb/projection/link-queries.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { parseNeuronFile, shownContent } from '../../markdown/file/neuron-file.ts'
import { isWritableTarget } from '../../markdown/rewrite/rewrite-links.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { headingKey, headingsOf } from '../../rules/links/headings.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { findNames, folderOf } from '../graph/find-names.ts'
import { countedTags } from '../read-tags.ts'

/** Text being typed: a link's target, a heading of the page that a link names, or a tag. */
export type Completion = {
  kind: 'link' | 'heading' | 'tag'
  q: string
  /** Target of the link whose heading is typed; empty for the page itself. */
  target?: string | undefined
  /** Path of the page being edited, if it exists. */
  path?: string | undefined
}

/** Completion: the text to insert, and a hint for the person. */
export type Completed = { text: string; hint?: string }

const most = 12

/** Returns completions visible to the caller, the likeliest first. @throws {GanglionError} `not_found` */
export async function complete(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { kind, q, target = '', path = '' }: Completion,
): Promise<Completed[]> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  if (kind === 'tag') return tags(kb, caller, q)
  const view = await viewFor(caller, kb)
  const links = new LinkView(view)
  if (kind === 'heading') return headings(view, links, { q, target, path })
  const { type, prefix } = typedPart(q)
  const names = await findNames(ctx, caller, kbName, { q: q.slice(prefix.length), limit: most, near: path })
  const types = type === undefined && q !== '' ? edgeTypes.filter((name) => name.startsWith(q.toLowerCase())) : []
  return [
    ...types.map((name) => ({ text: `${name}:`, hint: 'type of link' })),
    ...names.map((name) => linkTo(name, { prefix, path, links })),
  ]
}

/** Returns the type at the start of a link, and its length with the separator. */
function typedPart(q: string): { type?: EdgeType; prefix: string } {
  const type = edgeTypes.find((name) => q.startsWith(`${name}:`))
  return type === undefined ? { prefix: '' } : { type, prefix: `${type}:` }
}

/** Returns a link by the matched name if it leads there, else by seqId. The hint has the folder, since many pages have similar names. */
function linkTo(
  found: FoundName,
  { prefix, path, links }: { prefix: string; path: string; links: LinkView },
): Completed {
  const { seqId, title, name } = found
  const meaning = links.resolve({ target: name, form: 'wiki', from: path })
  const leadsThere = isWritableTarget(name) && 'seqId' in meaning && meaning.seqId === seqId
  const folder = `${folderOf(found)}/`
  return {
    text: prefix + (leadsThere ? name : seqId),
    hint: name === title && leadsThere ? folder : `${title} · ${folder}`,
  }
}

async function headings(
  view: KbView,
  links: LinkView,
  { q, target, path }: { q: string; target: string; path: string },
): Promise<Completed[]> {
  const meaning = links.resolve({ target, form: 'wiki', from: path })
  const row = 'seqId' in meaning ? view.about(meaning.seqId, findNeuron) : undefined
  if (row === undefined) return []
  const page = parseNeuronFile(await view.kb.repository.readText(row.blob))
  const key = headingKey(q)
  const found = headingsOf(shownContent(page)).filter((heading) => headingKey(heading).includes(key))
  return [...new Set(found)].slice(0, most).map((text) => ({ text }))
}

async function tags(kb: ReadableKb, caller: Caller, q: string): Promise<Completed[]> {
  const prefix = tagKey(q)
  const found = (await countedTags(kb, caller)).filter(({ tag }) => tagKey(tag).startsWith(prefix))
  return found.slice(0, most).map(({ tag }) => ({ text: tag }))
}
