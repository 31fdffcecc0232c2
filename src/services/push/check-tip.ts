import type { Oid } from '../../git/object.ts'
import { PushTooLarge } from '../../git/pushed-objects.ts'
import type { Repository, TreeChange } from '../../git/repository.ts'
import { checkKb } from '../../knowledge/check.ts'
import type { CheckedFile } from '../../knowledge/checked-file.ts'
import type { SettingsProblem } from '../../knowledge/kb-settings.ts'
import type { Finding } from '../../knowledge/neuron.ts'
import { isNeuronPath } from '../../knowledge/neuron-path.ts'
import { parseSeqId } from '../../knowledge/seq-id.ts'
import { parseKbFile } from '../../markdown/kb-file.ts'
import type { ParserPool } from '../../markdown/parser-pool.ts'
import { wasGiven } from '../../store/neuron-queries.ts'
import type { Projection } from '../../store/projection.ts'
import { parsePageBytes } from '../check/parse-page.ts'
import { maxParsedBytes } from '../check/read-checkout.ts'
import type { KbIdentity, KnowledgeBase } from '../knowledge-base.ts'
import { checkInboundLinks } from './check-inbound.ts'
import { readSurroundings } from './check-surroundings.ts'

/** Files that are read at a time. */
const chunkFiles = 500
const maxTextBytes = 256 * 1024 * 1024
const submodule = '160000'
/** Found in the trees, where whole folders can be compared; and what the server itself gives. */
const otherwiseFound: ReadonlySet<string> = new Set(['path-collision', 'missing-seq-id'])

/** What is wrong with the files that a push changes, as they are in its last commit. Reads what else matters from the projection. */
export async function checkTip(
  kb: KnowledgeBase,
  { repository, changes, parser }: { repository: Repository; changes: readonly TreeChange[]; parser: ParserPool },
): Promise<Finding[]> {
  const files = await readChanged(repository, changes, parser)
  const problems = await settingsProblems(kb.identity, repository, changes)
  return kb.projection.withSnapshot(async (sql) => {
    const { prefix } = kb.identity
    const changedPaths = new Set(changes.map(({ path }) => path))
    const { stubs, previousSeqIds, findings } = await readSurroundings(sql, changedPaths, files)
    const found = checkKb([...files, ...stubs], problems, { prefix, previousSeqIds })
    return [
      ...found.filter(({ path, rule }) => changedPaths.has(path) && !otherwiseFound.has(rule)),
      ...unknownSeqIds(sql, files, prefix),
      ...(await checkInboundLinks(sql, changedPaths, files)),
      ...findings,
    ]
  })
}

async function readChanged(
  repository: Repository,
  changes: readonly TreeChange[],
  parser: ParserPool,
): Promise<CheckedFile[]> {
  const files: CheckedFile[] = []
  let textBytes = 0
  const read = async (path: string, oid: Oid): Promise<CheckedFile> => {
    const object = await repository.find(oid)
    // A commit of another repository.
    if (object?.type !== 'blob') return { path, oid, size: 0, mode: submodule }
    const { data } = object
    const file = { path, oid, size: data.length }
    if (!isNeuronPath(path) || data.length > maxParsedBytes) return file
    textBytes += data.length
    if (textBytes > maxTextBytes) throw new PushTooLarge('The push changes too much text: push it in parts.')
    const { neuron, links } = await parsePageBytes(data, parser)
    // No rule looks at the content, which is most of a page.
    return { ...file, neuron: { ...neuron, content: '' }, links }
  }
  for (let start = 0; start < changes.length; start += chunkFiles) {
    const chunk = changes.slice(start, start + chunkFiles)
    const reading = chunk.flatMap(({ path, after }) => (after === undefined ? [] : [read(path, after)]))
    files.push(...(await Promise.all(reading)))
  }
  return files
}

/** What is wrong with `kb.yaml`, where the push changes it. */
async function settingsProblems(
  identity: KbIdentity,
  repository: Repository,
  changes: readonly TreeChange[],
): Promise<SettingsProblem[]> {
  const change = changes.find(({ path }) => path === 'kb.yaml')
  if (change === undefined) return []
  if (change.after === undefined) {
    return [{ path: 'kb.yaml', severity: 'error', message: 'must not be removed' }]
  }
  const object = await repository.find(change.after)
  const { settings, problems } = parseKbFile(object?.type === 'blob' ? object.data.toString('utf8') : '')
  const fixed = (['id', 'slug', 'prefix'] as const)
    .filter((key) => settings[key] !== null && settings[key] !== identity[key])
    .map((key): SettingsProblem => ({ path: key, severity: 'error', message: `must stay ${identity[key]}` }))
  return [...problems, ...fixed]
}

/** New Neurons get their seqId from the server, and a deleted one may come back with its own. */
function unknownSeqIds(sql: Projection['read'], files: readonly CheckedFile[], prefix: string): Finding[] {
  return files.flatMap(({ path, neuron }): Finding[] => {
    const { seqId } = neuron?.fields ?? {}
    if (seqId === undefined || parseSeqId(seqId)?.prefix !== prefix || wasGiven(sql, seqId)) return []
    const message = `The seqId ${seqId} was never given: leave it out, and the server gives one.`
    return [{ rule: 'unknown-seq-id', severity: 'error', path, line: 1, message }]
  })
}
