import { attachmentLookup } from '../../kb/access/attachment-lookup.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type LinkRow, linksOf, namesByKey } from '../../kb/projection/link-queries.ts'
import { namesInFile } from '../../kb/projection/neuron-queries.ts'
import { maxLinks } from '../../markdown/links/links.ts'
import { claimsIn, firstHolders, stubOf } from '../../push/checks/check-surroundings.ts'
import { checkNames } from '../../rules/check/check-names.ts'
import { fileLookup, resolveFile } from '../../rules/links/file-target.ts'
import { type NamedNeuron, resolveTarget } from '../../rules/links/link-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { PlannedFile } from './import-plan.ts'
import type { NoteNotice } from './read-notes.ts'

export type UnresolvedLink = { path: string; target: string; reason: 'missing' | 'ambiguous' }

/** Links of these Neurons that lead to no Neuron, or to several, and to no file that came along or is there. */
export function unresolvedLinks(
  kb: KnowledgeBase,
  seqIds: readonly string[],
  attachments: readonly PlannedFile[],
): UnresolvedLink[] {
  const { read: sql } = kb.projection
  // As they are named in the folder, and where they are now.
  const brought = fileLookup(attachments.flatMap(({ origin, path }) => [...new Set([`neurons/${origin}`, path])]))
  const lookups = [brought, attachmentLookup(sql)]
  const known = new Map<string, NamedNeuron[]>()
  const named = (key: string) => {
    const neurons = known.get(key) ?? namesByKey(sql, key)
    known.set(key, neurons)
    return neurons
  }
  const reasonOf = (link: LinkRow): UnresolvedLink['reason'] | undefined => {
    const found = resolveTarget(link, named)
    const isFile = () => lookups.some((files) => resolveFile(link.target, link.from, files) !== undefined)
    if ('seqId' in found || isFile()) return undefined
    return 'missing' in found ? 'missing' : 'ambiguous'
  }
  return seqIds.flatMap((seqId) =>
    linksOf(sql, seqId).flatMap((link): UnresolvedLink[] => {
      const isForeign = link.kb !== null && link.kb !== kb.identity.slug
      const reason = isForeign ? undefined : reasonOf(link)
      return reason === undefined ? [] : [{ path: link.from, target: link.target, reason }]
    }),
  )
}

/** Where the links of a page are too many: which ones do not count. */
export function cutLinks({ projection: { read: sql } }: KnowledgeBase, seqIds: readonly string[]): NoteNotice[] {
  return seqIds.flatMap((seqId) => {
    const links = linksOf(sql, seqId)
    const last = links.filter(({ line }) => line !== null)[maxLinks - 1]
    if (last === undefined) return []
    const message = `Of the page's links the first ${maxLinks} count; the last of them leads to ${oneLine(last.target, 200)}.`
    return [{ path: last.from, line: last.line ?? 1, message }]
  })
}

/** Names that these Neurons share with each other or with those that were there. */
export async function sameNames(
  { projection: { read: sql } }: KnowledgeBase,
  seqIds: readonly string[],
): Promise<Finding[]> {
  const stubs = (all: Iterable<string>) =>
    [...all].map((seqId) => stubOf(sql, namesInFile(sql, seqId)?.path ?? '', seqId))
  const files = stubs(seqIds)
  const paths = new Set(files.map(({ path }) => path))
  const found = checkNames([...files, ...stubs(await firstHolders(sql, files))], claimsIn(sql))
  return found.filter(({ path }) => paths.has(path))
}
