import { isDeepStrictEqual } from 'node:util'
import { type NeuronFile, parseNeuronFile, shownContent } from '../../../markdown/file/neuron-file.ts'
import type { ParserPool } from '../../../markdown/pool/parser-pool.ts'
import { isWritableTarget, type RetargetedLink, rewriteLinks } from '../../../markdown/rewrite/rewrite-links.ts'
import {
  type FileLookup,
  fileNameKey,
  meaningOf,
  placeFromFolder,
  resolveFile,
} from '../../../rules/links/file-target.ts'
import { fileKeys, folderPath } from '../../../rules/links/link-target.ts'
import { type WrittenLink, writtenLinks } from '../../../rules/links/written-link.ts'
import { attachmentLookup } from '../../access/attachment-lookup.ts'
import { fileTargets } from '../../projection/file-queries.ts'
import { linksOf, namesByKey } from '../../projection/link-queries.ts'
import type { Projection } from '../../projection/projection.ts'
import { relativePath } from './name-change.ts'

type Sql = Projection['read']

/** Page that moves: its path on main, its new path, and its text to write. */
type MovedPage = { seqId: string; from: string; path: string; text: string }

/** Files that the same commit writes (true) or removes (false), by path. */
export type ChangedFiles = ReadonlyMap<string, boolean>

/**
 * Returns the text of a moving page with its links to attachments rewritten, so that they lead to the same files from the new folder. An
 * alias, which preserves links to pages, cannot preserve these, so this does not depend on `rename.rewriteLinks`. A link stays if it still
 * leads to its file, if that file is removed or moves in the same commit, or if it leads to another file that the same commit writes. A
 * page whose links to files changed together with its path may have been adapted already: there only links that would lead nowhere are
 * rewritten. A text whose links cannot be rewritten stays as it is.
 * @param sql the state before the commit
 */
export async function followFiles(
  { sql, parser }: { sql: Sql; parser: ParserPool },
  { seqId, from, path, text }: MovedPage,
  changed: ChangedFiles = new Map(),
): Promise<string> {
  if (folderPath(from) === folderPath(path) || fileTargets(sql, seqId).length === 0) return text
  const files = { before: attachmentLookup(sql), after: changedLookup(attachmentLookup(sql), changed) }
  const newTarget = (link: RetargetedLink) => newFileTarget(sql, link, { from, path, files, changed })
  const isAsBefore = await hasSameLinks(
    parser,
    parseNeuronFile(text),
    linksOf(sql, seqId),
    (link) => newTarget(link) !== undefined,
  )
  const rewritten = await rewriteLinks(parser, text, (link) => {
    const mayRewrite = isAsBefore || resolveFile(link.target, path, files.after) === undefined
    const target = mayRewrite ? newTarget(link) : undefined
    return target === undefined ? undefined : { target }
  })
  return rewritten ?? text
}

/** Returns the target that leads to the same file from the new path; undefined if the link may stay. */
function newFileTarget(
  sql: Sql,
  { target, form, kb }: RetargetedLink,
  move: { from: string; path: string; files: { before: FileLookup; after: FileLookup }; changed: ChangedFiles },
): string | undefined {
  const { from, path, files, changed } = move
  if (kb !== null || form === 'edge' || fileNameKey(target) === undefined) return undefined
  const meaning = meaningOf({ target, form, from }, { names: (key) => namesByKey(sql, key), files: files.before })
  if (!('file' in meaning) || !files.after.has(meaning.file)) return undefined
  const { file } = meaning

  // A Markdown link is resolved by most programs only relative to its folder.
  const isPlace = form === 'markdown' && placeFromFolder(target, from) === file
  const leads = (candidate: string) =>
    resolveFile(candidate, path, files.after) === file && (!isPlace || placeFromFolder(candidate, path) === file)
  const now = resolveFile(target, path, files.after)
  const isReplaced = now !== undefined && now !== file && changed.get(now) === true
  if (isReplaced || leads(target)) return undefined
  const way = relativePath(path, file)
  const dotted = way.startsWith('../') || (form === 'markdown' && !target.trim().startsWith('./')) ? way : `./${way}`
  const isWritable = (candidate: string) => form === 'markdown' || isWritableTarget(candidate)
  return [dotted, `/${file}`].find((candidate) => isWritable(candidate) && leads(candidate))
}

/** Returns a look-up of the files after the commit. */
export function changedLookup({ has, byKey }: FileLookup, changed: ChangedFiles): FileLookup {
  const written = [...changed].flatMap(([path, isWritten]) => (isWritten ? [path] : []))
  return {
    has: (path) => changed.get(path) ?? has(path),
    byKey: (key) => [
      ...byKey(key).filter((path) => !changed.has(path)),
      ...written.filter((path) => fileKeys(path).includes(key)),
    ],
  }
}

/**
 * True if a page still has the same links, in number and order, among those that `concerns` selects. If not, somebody may have adapted them
 * to the rename already, as editors do.
 * @param known the previous links of the page
 */
export async function hasSameLinks(
  parser: ParserPool,
  file: NeuronFile,
  known: readonly WrittenLink[],
  concerns: (link: WrittenLink) => boolean,
): Promise<boolean> {
  const { links } = await parser.links(shownContent(file))
  const written = writtenLinks({ edges: file.fields.edges, properties: file.propertyLinks }, links)
  const [before, after] = [known, written].map((all) => all.filter(concerns).map(({ target }) => target))
  return isDeepStrictEqual(before, after)
}
