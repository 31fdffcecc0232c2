import type { LoggedEvent } from '../../../../src/contract/events.ts'
import type { File, History } from '../history.ts'
import type { IngestLedger } from './ingest-ledger.ts'
import type { SourceRow } from './ingest-rows.ts'

/** After so many starts a Source fails: the server may have ended because of it. */
const maxStarts = 10

/** Returns the problems of the Sources of a settled deployment, given the acknowledgements. */
export function auditSources(rows: readonly SourceRow[], ledger: IngestLedger): string[] {
  const known = new Set(rows.map(({ id }) => id))
  return [
    ...ledger.unexpected,
    ...[...ledger.sources.keys()].filter((id) => !known.has(id)).map((id) => `the Source ${id} is lost`),
    ...rows.filter(({ id }) => !ledger.sources.has(id)).map(({ id }) => `nobody was told of the Source ${id}`),
    ...rows.filter(({ id }) => ledger.abandoned.has(id)).map(({ id }) => `${id} was abandoned, and is a Source`),
    ...rows.flatMap((row) => wrongEnd(row, ledger)),
    ...doubledBytes(rows),
  ]
}

function wrongEnd({ id, status, error_message, content_hash, archived_at }: SourceRow, ledger: IngestLedger): string[] {
  const { document, cycle } = ledger.sources.get(id) ?? {}
  const isArchived = ledger.archived.has(id)
  const problems = [
    ...(content_hash === document?.sha256 ? [] : [`${id} has other bytes than it was uploaded with`]),
    ...((archived_at !== null) === isArchived ? [] : [`${id} is archived at ${archived_at}, told was ${isArchived}`]),
  ]
  const found = `${document?.filename} (${id}) is ${status}: ${error_message}`
  if (isArchived && status === 'failed' && error_message === 'It was archived before it was ingested.') return problems
  if (status === 'failed' && (error_message ?? '') === '') return [...problems, found]
  const isWornOut =
    status === 'failed' &&
    error_message?.startsWith(`The server ended ${maxStarts} times`) === true &&
    ledger.cycle >= (cycle ?? 0) + maxStarts
  if (isWornOut) return problems
  return status === (document?.fate === 'success' ? 'success' : 'failed') ? problems : [...problems, found]
}

/** Returns duplicate bytes. Without `force`, bytes are accepted again only once their Source is archived. */
function doubledBytes(rows: readonly SourceRow[]): string[] {
  return [...Map.groupBy(rows, ({ content_hash }) => content_hash)].flatMap(([hash, same]) =>
    same.flatMap(({ id, is_forced, created_at }, at) => {
      const earlier = same.slice(0, at).filter(({ archived_at }) => archived_at === null || archived_at > created_at)
      return is_forced === 1 || earlier.length === 0 ? [] : [`${id} was taken, and ${earlier[0]?.id} has ${hash}`]
    }),
  )
}

/** Returns events of Sources that differ from what happened. */
export function auditEvents(
  rows: readonly SourceRow[],
  ledger: IngestLedger,
  events: readonly LoggedEvent[],
): string[] {
  const told = Map.groupBy(events, ({ documentId }) => documentId)
  return rows.flatMap((row) => wrongStory(row, told.get(row.id) ?? [], ledger))
}

/** A Source is uploaded once; each ingest of it ends once, and begins once, but for one that failed before it began. */
function wrongStory(row: SourceRow, events: readonly LoggedEvent[], ledger: IngestLedger): string[] {
  const { document } = ledger.sources.get(row.id) ?? {}
  const letters: Readonly<Record<string, string>> = {
    'source.uploaded': 'u',
    'ingest.started': 's',
    'ingest.completed': 'c',
    'ingest.failed': 'f',
    'ingest.progress': '',
  }
  const story = events.map(({ kind }) => letters[kind] ?? '?').join('')
  const again = ledger.again.get(row.id) ?? { taken: 0, cut: 0 }
  const runs = [...story].filter((letter) => letter === 'c' || letter === 'f').length
  const starts = [...story].filter((letter) => letter === 's').length
  const end = story.endsWith('c') ? 'success' : 'failed'
  const isRight = /^u(?:s?f|sc)(?:s[cf])*$/.test(story)
  const isCounted = runs > again.taken && runs <= again.taken + again.cut + 1 && starts === row.attempt
  return isRight && isCounted && end === row.status
    ? []
    : [`${document?.filename} (${row.id}, ${row.status}, ${JSON.stringify(again)}) is told of as '${story}'`]
}

/** Returns the problems of the Neurons that were compiled from Sources. */
export function auditNeurons(
  rows: readonly SourceRow[],
  { line, files, queue }: History,
  ledger: IngestLedger,
  events: readonly LoggedEvent[],
): string[] {
  const origins = new Map(queue.map((record) => [String(record.data.id), originOf(record)]))
  // Somebody may have changed a page since.
  const firstCandidates = new Map(
    line
      .flatMap((commit) => commit.files)
      .toReversed()
      .map(({ data }) => [data.seqId, String(data.candidate)]),
  )
  const ofSource = Map.groupBy(
    files
      .filter(({ data }) => data.connector === 'ingest')
      .map((file) => ({ file, ...origins.get(firstCandidates.get(file.data.seqId) ?? '') })),
    ({ id }) => id,
  )
  const completed = new Map(
    events.filter(({ kind }) => kind === 'ingest.completed').map((event) => [event.documentId, event]),
  )
  const keysOfKind = new Map<string, string>()
  const problems = [...ofSource.keys()]
    .filter((id) => !rows.some((row) => row.id === id))
    .map((id) => `there are Neurons of ${id}, which is no Source`)
  for (const { id } of rows) {
    const { document } = ledger.sources.get(id) ?? {}
    const pages = ofSource.get(id) ?? []
    const { neurons = 0, pending = 0 } = completed.get(id) ?? {}
    const keys = pages.map(({ key = '' }) => key.replaceAll(document?.marker ?? '', '*')).sort()
    if (new Set(keys).size < keys.length) problems.push(`${id} is there twice: ${keys.join(', ')}`)
    if (neurons !== keys.length || pending > 0) {
      problems.push(`${id} has ${keys.length} Neurons, told were ${neurons}, and ${pending} that wait`)
    }
    problems.push(...pages.flatMap(({ file }) => wrongPage(file, { id, marker: document?.marker ?? '' })))
    if (keys.length === 0) continue
    const kind = document?.kind ?? ''
    const usual = keysOfKind.get(kind) ?? keys.join()
    keysOfKind.set(kind, usual)
    if (keys.join() !== usual) problems.push(`${id} has ${keys.join()}, others of its kind (${kind}) ${usual}`)
  }
  return problems
}

function wrongPage({ path, text }: File, { id, marker }: { id: string; marker: string }): string[] {
  return text.includes(marker) && text.includes(`id: ${id}`) ? [] : [`${path} is not of ${id}`]
}

/** The Source and the part of it that a candidate was compiled from. */
function originOf({ data }: File): { id: string; key: string } {
  const { filename = '' }: { filename?: string } = JSON.parse(String(data.metadata ?? '{}'))
  const [id = '', ...key] = filename.split('/')
  return { id, key: key.join('/') }
}
