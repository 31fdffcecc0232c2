import { attachmentLookup } from '../../kb/access/attachment-lookup.ts'
import { pathsOfSeqId, seqIdAtPath } from '../../kb/projection/file-queries.ts'
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
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import type { FileLookup } from '../../rules/links/file-target.ts'
import { meaningOf } from '../../rules/links/link-meaning.ts'
import { keptClaim, type NamedNeuron, type NeuronName, namedNeurons } from '../../rules/links/link-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { memoized } from '../../system/memoized.ts'
import { pauses } from '../../system/pauses.ts'

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
    if (linking.size > 0) findings.push(finding(path, pathsOf(sql, linking)))
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

/** Returns the warning that a check has not looked at everything. */
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

function finding(path: string, linking: readonly string[]): Finding {
  const count = linking.length === 1 ? '1 Neuron links' : `${linking.length} Neurons link`
  const shown = linking.slice(0, maxShown).map((from) => oneLine(from, 200))
  const more = linking.length > maxShown ? ` and ${linking.length - maxShown} more` : ''
  const message = `${count} to it: ${shown.join(', ')}${more}.`
  return { rule: 'inbound-links', severity: 'warning', path, line: 1, message }
}
