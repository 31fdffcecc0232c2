import { attachmentLookup } from '../../kb/access/attachment-lookup.ts'
import { goesBy } from '../../kb/kb-identity.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { filePaths } from '../../kb/projection/file-queries.ts'
import {
  countLinks,
  doubtfulLinksOf,
  type LinkRow,
  linksOf,
  namesByKey,
  sharesName,
} from '../../kb/projection/link-queries.ts'
import { namesInFile } from '../../kb/projection/neuron-queries.ts'
import { maxLinks } from '../../markdown/links/links.ts'
import { claimsIn, firstHolders, stubOf } from '../../push/checks/check-surroundings.ts'
import { checkNames } from '../../rules/check/check-names.ts'
import { fileLookup, isSpelledOtherwise, placeFromFolder, resolveFile } from '../../rules/links/file-target.ts'
import { isFolder, type NamedNeuron, resolveTarget } from '../../rules/links/link-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { PlannedFile } from './import-plan.ts'
import type { NoteNotice } from './read-notes.ts'

/** Broken link. `folder`: the target is a folder without a page. */
export type UnresolvedLink = { path: string; target: string; reason: 'missing' | 'ambiguous' | 'folder' }

/**
 * Number of links of the imported Neurons by target: a Neuron, an imported or existing file, or another knowledge base. `notices`:
 * links spelled differently than their file.
 */
export type LinksReport = Record<'neurons' | 'files' | 'otherKbs', number> & {
  unresolved: UnresolvedLink[]
  notices: NoteNotice[]
}

export function accountForLinks(
  kb: KnowledgeBase,
  seqIds: readonly string[],
  attachments: readonly PlannedFile[],
): LinksReport {
  const { read: sql } = kb.projection
  // Looks files up by the names in the folder, and by the present paths.
  const brought = fileLookup(attachments.flatMap(({ origin, path }) => [...new Set([`neurons/${origin}`, path])]))
  const lookups = [brought, attachmentLookup(sql)]
  const known = new Map<string, NamedNeuron[]>()
  const named = (key: string) => {
    const neurons = known.get(key) ?? namesByKey(sql, key)
    known.set(key, neurons)
    return neurons
  }
  const folders = new Set(Iterator.from(filePaths(sql)).flatMap(foldersOf))
  const isToFolder = ({ target, from }: LinkRow) =>
    isFolder(target) || folders.has((placeFromFolder(target, from) ?? '').toLowerCase())
  const report: LinksReport = { neurons: 0, files: 0, otherKbs: 0, unresolved: [], notices: [] }
  const meaningOf = (link: LinkRow): 'neurons' | 'files' | 'otherKbs' | UnresolvedLink['reason'] => {
    if (link.kb !== null && !goesBy(kb.identity, link.kb)) return 'otherKbs'
    const found = resolveTarget(link, named)
    if ('seqId' in found) return 'neurons'
    const file = lookups.flatMap((files) => resolveFile(link.target, link.from, files) ?? [])[0]
    if (file !== undefined) {
      if (link.form === 'markdown' && isSpelledOtherwise(link.target, file)) {
        const message = `The link to ${oneLine(link.target, 200)} means ${oneLine(file, 200)}, which is spelled otherwise.`
        report.notices.push({ path: link.from, line: link.line ?? 1, message })
      }
      return 'files'
    }
    if ('ambiguous' in found) return 'ambiguous'
    return isToFolder(link) ? 'folder' : 'missing'
  }
  for (const seqId of seqIds) {
    const doubtful = doubtfulLinksOf(sql, seqId)
    report.neurons += countLinks(sql, seqId) - doubtful.length
    for (const link of doubtful) {
      const meaning = meaningOf(link)
      if (meaning === 'neurons' || meaning === 'files' || meaning === 'otherKbs') report[meaning]++
      else report.unresolved.push({ path: link.from, target: link.target, reason: meaning })
    }
  }
  return report
}

function foldersOf(path: string): string[] {
  const names = path.toLowerCase().split('/').slice(0, -1)
  return names.map((_, depth) => names.slice(0, depth + 1).join('/'))
}

/** Returns pages with too many links, and the first link of each that is ignored. */
export function cutLinks(
  { projection: { read: sql } }: KnowledgeBase,
  partial: readonly { seqId: string }[],
): NoteNotice[] {
  return partial.flatMap(({ seqId }) => {
    const links = linksOf(sql, seqId)
    const last = links.filter(({ line }) => line !== null)[maxLinks - 1]
    if (last === undefined) return []
    const message = `Of the page's links the first ${maxLinks} count; the last of them leads to ${oneLine(last.target, 200)}.`
    return [{ path: last.from, line: last.line ?? 1, message }]
  })
}

/** Returns names that these Neurons share with each other or with earlier ones. */
export async function sameNames(
  { projection: { read: sql } }: KnowledgeBase,
  seqIds: readonly string[],
): Promise<Finding[]> {
  const stubs = (all: Iterable<string>) =>
    [...all].map((seqId) => stubOf(sql, namesInFile(sql, seqId)?.path ?? '', seqId))
  const files = stubs(seqIds.filter((seqId) => sharesName(sql, seqId)))
  const paths = new Set(files.map(({ path }) => path))
  const found = checkNames([...files, ...stubs(await firstHolders(sql, files))], claimsIn(sql))
  return found.filter(({ path }) => paths.has(path))
}
