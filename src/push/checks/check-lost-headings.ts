import type { Repository, TreeChange } from '../../git/repository.ts'
import { blobAtPath } from '../../kb/projection/file-queries.ts'
import { namesInFile } from '../../kb/projection/neuron-queries.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { linkedPlaceKey, placeKeys } from '../../rules/links/headings.ts'
import type { Finding, WikiLink } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { parsePushedPage } from '../clone-check/parse-pushed-page.ts'
import { linksToNeuron, maxInbound, tooManyLinks } from './check-inbound.ts'

/** Maximum number of pages that are read for one push to find links to headings. */
const maxPages = 200
const maxShown = 5
const unlooked = `The page loses headings or blocks: links of others to them were looked for in ${maxPages} pages and ${maxInbound} links only.`

type Sql = Projection['read']
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
    if (shown.size > 0) findings.push(finding(file.path, [...shown].sort()))
    if (isCut) findings.push(tooManyLinks(file.path, unlooked))
  }
  return findings
}

function finding(path: string, linking: readonly string[]): Finding {
  const more = linking.length > maxShown ? ` and ${linking.length - maxShown} more` : ''
  const message = `Others link to headings or blocks that it no longer has: ${linking.slice(0, maxShown).join(', ')}${more}.`
  return { rule: 'lost-heading', severity: 'warning', path, line: 1, message }
}
