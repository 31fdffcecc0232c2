import type { Repository, TreeChange } from '../../git/repository.ts'
import { attachmentLookup } from '../../kb/access/attachment-lookup.ts'
import { blobAtPath, pathsOfSeqId, seqIdAtPath } from '../../kb/projection/file-queries.ts'
import {
  keysOf,
  type LinkRow,
  linksByBareKey,
  linksByKey,
  namesByKey,
  namesOfNeuron,
} from '../../kb/projection/link-queries.ts'
import { namesInFile } from '../../kb/projection/neuron-queries.ts'
import type { MainTables } from '../../kb/projection/projection.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { type FileLookup, meaningOf } from '../../rules/links/file-target.ts'
import { linkedPlaceKey, placeKeys } from '../../rules/links/headings.ts'
import { keptClaim, type NamedNeuron, type NeuronName, namedNeurons } from '../../rules/links/link-target.ts'
import type { Finding, WikiLink } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { memoized } from '../../system/memoized.ts'
import { pauses } from '../../system/pauses.ts'
import { parsePushedPage } from '../clone-check/parse-pushed-page.ts'

/** Maximum number of inbound links that one check looks at. A push that exceeds it gets a warning of {@link tooManyLinks}. */
export const maxInbound = 10_000
const maxShown = 5

type Sql = MainTables
type Lookup = (key: string) => readonly NamedNeuron[]
type InboundLinks = { found: LinkRow[]; isWhole: boolean }
type Meanings = { names: Lookup; files: FileLookup }

/**
 * Finds unchanged Neurons whose links would break because the push removes their target. A renamed Neuron keeps the names that
 * others link to: the server adds them as aliases.
 */
export async function checkInboundLinks(
  sql: Sql,
  changedPaths: ReadonlySet<string>,
  files: readonly CheckedFile[],
): Promise<Finding[]> {
  const before = neuronsAt(sql, changedPaths)
  const now = new Set(files.map(seqIdOf))
  const was = namesAndFiles(sql)
  const is = { ...was, names: namesAfter(sql, was.names, { changedPaths, files }) }
  const pause = pauses()
  const findings: Finding[] = []
  let looked = 0
  for (const [seqId, path] of before) {
    if (now.has(seqId) || pathsOfSeqId(sql, seqId).some((holder) => !changedPaths.has(holder))) continue
    const linking = new Set<string>()
    const links = linksToKeys(sql, keysOf(sql, seqId), maxInbound - looked)
    for (const link of links.found) {
      looked++
      await pause()
      if (link.kb !== null || before.has(link.seqId)) continue
      if (leadsTo(seqId, link, was) && !leadsTo(seqId, link, is)) linking.add(link.seqId)
    }
    if (linking.size > 0) findings.push(lostTarget(path, pathsOf(sql, linking)))
    if (links.isWhole) continue
    const message = `More than ${maxInbound} links lead to the pages that this push removes: the others are not looked at.`
    findings.push(tooManyLinks(path, message))
    break
  }
  return findings
}

/** Returns the links that lead to a Neuron; `isWhole` is false if only the first {@link maxInbound} were looked at. */
export function linksToNeuron(sql: Sql, seqId: string): InboundLinks {
  const known = namesAndFiles(sql)
  const { found, isWhole } = linksToKeys(sql, keysOf(sql, seqId), maxInbound)
  return { found: found.filter((link) => link.kb === null && leadsTo(seqId, link, known)), isWhole }
}

/** Returns the warning that a check is incomplete because of too many links. */
export function tooManyLinks(path: string, message: string): Finding {
  return { rule: 'too-many-links', severity: 'warning', path, line: 1, message }
}

/** Returns the look-ups for links of main. Names are kept, since thousands of links may share one. */
export function namesAndFiles(sql: Sql): Meanings {
  return { names: memoized((key: string) => namesByKey(sql, key)), files: attachmentLookup(sql) }
}

function neuronsAt(sql: Sql, paths: ReadonlySet<string>): Map<string, string> {
  const neurons = new Map<string, string>()
  for (const path of paths) {
    const seqId = seqIdAtPath(sql, path)
    if (seqId !== undefined && namesInFile(sql, seqId)?.path === path) neurons.set(seqId, path)
  }
  return neurons
}

/** Returns a look-up of names as they will be after the push. */
export function namesAfter(
  sql: Sql,
  wasNamed: Lookup,
  { changedPaths, files }: { changedPaths: ReadonlySet<string>; files: readonly CheckedFile[] },
): Lookup {
  const before = neuronsAt(sql, changedPaths)
  const now = new Set(files.map(seqIdOf))
  const added = Map.groupBy(
    files.flatMap((file) => namesIn(sql, file)),
    ({ key }) => key,
  )
  const isKept = ({ seqId }: NamedNeuron) => !before.has(seqId) && !now.has(seqId)
  return memoized((key: string) => [...wasNamed(key).filter(isKept), ...(added.get(key) ?? [])])
}

/** Returns the names of a changed file's Neuron, each with the claim that it already has. */
export function namesIn(sql: Sql, file: CheckedFile): (NeuronName & NamedNeuron)[] {
  const { path, neuron } = file
  if (neuron === undefined) return []
  const { title, fields } = neuron
  const known = fields.seqId === undefined ? [] : namesOfNeuron(sql, fields.seqId)
  const named = namedNeurons({ seqId: seqIdOf(file), path, title, aliases: fields.aliases })
  return named.map((name) => ({ ...name, claim: keptClaim(known, name) }))
}

/** Returns the seqId of a Neuron, or its path if it has none yet. */
function seqIdOf({ path, neuron }: CheckedFile): string {
  return neuron?.fields.seqId ?? path
}

function linksToKeys(sql: Sql, keys: readonly string[], max: number): InboundLinks {
  const links: LinkRow[] = []
  for (const key of keys) {
    for (const found of [linksByKey(sql, key), linksByBareKey(sql, key)]) {
      for (const link of found) {
        if (links.length >= max) return { found: links, isWhole: false }
        links.push(link)
      }
    }
  }
  return { found: links, isWhole: true }
}

function leadsTo(seqId: string, link: LinkRow, known: Meanings): boolean {
  const found = meaningOf(link, known)
  return 'seqId' in found && found.seqId === seqId
}

function pathsOf(sql: Sql, seqIds: ReadonlySet<string>): string[] {
  return [...seqIds].map((seqId) => namesInFile(sql, seqId)?.path ?? seqId).sort()
}

function lostTarget(path: string, linking: readonly string[]): Finding {
  const count = linking.length === 1 ? '1 Neuron links' : `${linking.length} Neurons link`
  const message = `${count} to it: ${firstFew(linking.map((from) => oneLine(from, 200)))}.`
  return { rule: 'inbound-links', severity: 'warning', path, line: 1, message }
}

/** Returns the first names of a list, and the number of the others. */
export function firstFew(names: readonly string[]): string {
  const more = names.length > maxShown ? ` and ${names.length - maxShown} more` : ''
  return names.slice(0, maxShown).join(', ') + more
}

/** Maximum number of pages that are read for one push to find links to headings. */
const maxPages = 200
const unlooked = `The page loses headings or blocks: links of others to them were looked for in ${maxPages} pages and ${maxInbound} links only.`

type Linking = { path: string; links: readonly WikiLink[] }

/** Finds headings and blocks that a push removes or renames although other pages link to them: `[[page#Heading]]`. */
export async function checkLostHeadings(
  sql: Sql,
  { repository, changes, parser }: { repository: Repository; changes: readonly TreeChange[]; parser: ParserPool },
  files: readonly CheckedFile[],
): Promise<Finding[]> {
  const now = new Map(files.map((file) => [file.neuron?.fields.seqId, file]))
  const changed = new Map(files.map((file) => [file.path, file]))
  const read = new Map<string, Linking>()
  let isCut = false
  const readLinking = async (seqId: string): Promise<Linking | undefined> => {
    const path = namesInFile(sql, seqId)?.path
    const blob = path === undefined ? undefined : blobAtPath(sql, path)
    if (path === undefined || blob === undefined) return undefined
    const pushed = changed.get(path) ?? now.get(seqId)
    if (pushed !== undefined) return { path: pushed.path, links: pushed.links ?? [] }
    const known = read.get(seqId)
    if (known !== undefined || read.size >= maxPages) {
      isCut ||= known === undefined
      return known
    }
    const { links } = await parsePushedPage(await repository.readTextOnce(blob), parser)
    read.set(seqId, { path, links })
    return { path, links }
  }

  const findings: Finding[] = []
  for (const { path, before } of changes) {
    if (before === undefined || !isNeuronPath(path)) continue
    const page = parseNeuronFile(await repository.readTextOnce(before))
    const { seqId } = page.fields
    const file = seqId === undefined ? undefined : now.get(seqId)
    const kept = file?.neuron?.places
    if (seqId === undefined || file === undefined || kept === undefined) continue
    const lost = new Set([...placeKeys(page.content)].filter((key) => !kept.has(key)))
    if (lost.size === 0) continue
    const { found, isWhole } = linksToNeuron(sql, seqId)
    const inbound = Map.groupBy(found, (link) => link.seqId)
    const shown = new Set<string>()
    isCut = !isWhole
    for (const [from, rows] of inbound) {
      const targets = new Set(rows.map(({ target }) => target))
      const linking = await readLinking(from)
      for (const { target, heading } of linking?.links ?? []) {
        if (heading === undefined || !targets.has(target) || !lost.has(linkedPlaceKey(heading))) continue
        shown.add(`${oneLine(linking?.path ?? '', 200)} (#${oneLine(heading, 100)})`)
      }
    }
    if (shown.size > 0) {
      const message = `Others link to headings or blocks that it no longer has: ${firstFew([...shown].sort())}.`
      findings.push({ rule: 'lost-heading', severity: 'warning', path: file.path, line: 1, message })
    }
    if (isCut) findings.push(tooManyLinks(file.path, unlooked))
  }
  return findings
}
