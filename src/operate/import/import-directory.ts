import { basename, extname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { consolidateImport, repositoryLoad } from '../../git/maintenance.ts'
import { readAhead } from '../../kb/follow/followed-kb.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { broughtNeurons } from '../../kb/projection/candidate-index.ts'
import { blobAtPath, filePaths } from '../../kb/projection/file-queries.ts'
import { partialNeurons } from '../../kb/projection/neuron-queries.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import { fileLayout } from '../../markdown/file/front-matter.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { checkShownFiles } from '../../push/checks/check-shown-files.ts'
import { audiences } from '../../rules/access/audience.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { fileKeys, linkKey } from '../../rules/links/link-target.ts'
import { counted } from '../../rules/text/numbers.ts'
import { importAttachments } from './import-attachments.ts'
import { type ImportConflict, type ImportCounts, importBatch } from './import-batch.ts'
import { accountForLinks, cutLinks, type LinksReport, sameNames, type UnresolvedLink } from './import-links.ts'
import { findMoves } from './import-moves.ts'
import { importConnector, type PlannedFile, planImport, type Skipped } from './import-plan.ts'
import { fromLogseq, readLogseqGraph } from './logseq-links.ts'
import { proposeRemovals } from './propose-removals.ts'
import { fileBatches, type NoteNotice, readNotes } from './read-notes.ts'

/** Matches a link with a label in Dendron's syntax. In a table the pipe is escaped. */
const labelled = /^([^|]*?)\\?\|([^|]*)$/s

/** Matches the prefix of another vault of the workspace, which is a folder of the import. */
const vault = /^\s*dendron:\/\/[^/]+\//

export type ImportReport = ImportCounts & {
  /** Number of files in the folder, without skipped ones. `attachments`: by suffix, most frequent first. */
  files: { notes: number; attachments: { type: string; files: number }[] }
  attachments: number
  /** New files whose path differs from that in the folder. */
  renamed: { from: string; to: string }[]
  skipped: Skipped[]
  /** Links of new and changed Neurons: their targets, and broken ones. */
  links: Omit<LinksReport, 'unresolved' | 'notices'>
  unresolved: UnresolvedLink[]
  /** Notes that were renamed in the folder since the last run, and stay the same Neurons. */
  moved: { from: string; to: string }[]
  /** Notes of earlier imports that are no longer in the folder. */
  vanished: { path: string; seqId: string; neuronPath: string }[]
  /** Number of candidates that propose to remove the Neurons of vanished notes. */
  removalsProposed: number
  /** Conflicts of changes here and in the folder, each with a pending candidate. */
  conflicts: ImportConflict[]
  /** Notices for the authors of the notes. */
  notices: NoteNotice[]
  /** Paths of new and changed Neurons with a part that is too complex to parse, or with links that are left out. */
  partial: string[]
}

export type ImportOptions = {
  actor: Actor
  now: () => Date
  /** Name that distinguishes this folder from another whose files have the same names. Default: the folder's own name. */
  source?: string | undefined
  /** True to propose the removal of Neurons whose notes have vanished from the folder. */
  prune?: boolean | undefined
  /** True to count tags in texts, which is the default for an Obsidian vault unless `kb.yaml` says otherwise. */
  inlineTags?: boolean | undefined
  /** True if no server reads the knowledge base meanwhile. */
  isAlone?: boolean
  onProgress?: (done: number, total: number) => void
}

/**
 * Imports a folder of Markdown into a knowledge base: each note becomes a Neuron with its candidate, one commit a batch. A repeated run
 * imports what has changed since, also after an interrupted run. Edits of a curator are merged, and a conflict leaves a pending candidate.
 */
export async function importDirectory(
  kb: KnowledgeBase,
  dir: string,
  {
    actor,
    now,
    onProgress,
    isAlone = false,
    prune = false,
    inlineTags = false,
    source = basename(resolve(dir)),
  }: ImportOptions,
): Promise<ImportReport> {
  const there = filePaths(kb.projection.read)
  const plan = await planImport(dir, source, { known: there, gitDir: kb.repository.gitDir, parser: kb.parser })
  const { attachments, skipped } = plan
  const report: ImportReport = {
    ...{ created: 0, updated: 0, unchanged: 0, pending: 0, attachments: 0 },
    ...{ files: { notes: plan.notes.length, attachments: typesOf(attachments) } },
    ...{ links: { neurons: 0, files: 0, otherKbs: 0 } },
    ...{ renamed: [], skipped, unresolved: [], conflicts: [], notices: [], partial: [] },
    ...{ moved: [], vanished: [], removalsProposed: 0 },
  }
  const known = broughtNeurons(kb.projection.read, importConnector, `${source}/`)
  if (plan.notes.length === 0 && known.size === 0) throw new NothingToRead(report)
  for (const { type, files } of report.files.attachments.filter(({ type }) => textTypes.has(type))) {
    const message = `${counted(files, `${type} file`)} became attachments, whose text is not read.`
    report.notices.push({ path: dir, line: 1, message })
  }
  const { obsidian, dendron, logseq } = plan.vaults
  if (
    (inlineTags || obsidian !== undefined) &&
    (await turnOnInlineTags(kb, { isAsked: inlineTags, actor, at: now() }))
  ) {
    const message = 'inlineTags is true from now on: #tags in the text of Neurons are tags, and #internal hides them.'
    report.notices.push({ path: 'kb.yaml', line: 1, message })
  }
  const settings = await kb.settings()
  const knownAudiences = new Set([...audiences, ...settings.defaultAudience])
  const options = { knownAudiences, inlineTags: settings.inlineTags }
  const noteNames = dendron === undefined ? undefined : namesOf(plan.notes)
  const graph = logseq === undefined ? undefined : await readLogseqGraph(plan.notes)
  const convert = async (text: string) => {
    const shown = graph === undefined ? text : fromLogseq(text, graph)
    return noteNames === undefined ? shown : await fromDendron(kb.parser, shown, noteNames)
  }
  if (dendron !== undefined) {
    report.notices.push({ path: dendron, line: 1, message: 'Links are read as Dendron writes them: [[label|target]].' })
  }
  if (logseq !== undefined) {
    const message = 'Links are read as Logseq writes them: ((id of a block)), and names with a pipe.'
    report.notices.push({ path: logseq, line: 1, message }, ...(graph?.notices ?? []))
  }
  const { moved, vanished } = await findMoves(kb, plan, { known, sourceName: source, ...options })
  const originOf = (path: string) => path.slice(source.length + 1)
  report.vanished = vanished.map(({ origin, seqId, path: neuronPath }) => ({
    path: originOf(origin),
    seqId,
    neuronPath,
  }))
  const notes = plan.notes.map((note): PlannedFile => {
    const former = moved.get(note.source)
    if (former === undefined) return note
    report.moved.push({ from: originOf(former.origin), to: note.origin })
    return { ...note, formerSource: former.origin }
  })
  const total = notes.length + attachments.length
  let done = 0
  const advance = (files: number) => {
    done += files
    onProgress?.(done, total)
  }
  const noteRename = (from: string, path: string) => {
    if (path !== `neurons/${from}`) report.renamed.push({ from, to: path })
  }
  const attachedFiles = new Map(attachments.map(({ path }) => [path, true] as const))
  const written = attachments.map(({ path }) => ({ path, after: '' }))
  report.notices.push(...(await checkShownFiles(kb.projection.read, written)))
  const seqIds: string[] = []
  const { gitDir } = kb.repository
  const { packs } = await repositoryLoad(gitDir)
  const reading = async (batch: PlannedFile[]) => ({
    files: batch.length,
    read: await readNotes(batch, { ...options, parser: kb.parser, convert }),
  })
  const isFirst = isAlone && known.size === 0 && notes.length > there.length
  await kb.inBulk(isFirst, async () => {
    for await (const { files, read } of readAhead(fileBatches(notes), reading)) {
      skipped.push(...read.skipped)
      report.notices.push(...read.notices)
      const { counts, written, created, conflicts } = await kb.write((staging) =>
        importBatch(kb, staging, read.notes, { actor, at: now(), attachments: attachedFiles }),
      )
      seqIds.push(...written)
      report.conflicts.push(...conflicts)
      for (const key of ['created', 'updated', 'unchanged', 'pending'] as const) report[key] += counts[key]
      for (const { origin, path } of created) noteRename(origin, path)
      advance(files)
    }
    const isNothingRead = report.created + report.updated + report.unchanged + report.pending === 0
    if (isNothingRead && known.size === 0) throw new NothingToRead(report)
    const brought = await importAttachments(kb, attachments, { actor, now, onRead: advance })
    report.attachments = brought.imported.length
    skipped.push(...brought.skipped)
    for (const { origin, path } of brought.imported) noteRename(origin, path)
    if (prune) report.removalsProposed = await proposeRemovals(kb, vanished, { actor, at: now() })
  })
  const isLarge = (await repositoryLoad(gitDir)).packs > packs + 1
  // The import is complete; the server consolidates later if this fails.
  const consolidated = isLarge ? consolidateImport(gitDir).catch(() => {}) : undefined
  const { unresolved, notices: misspelled, ...links } = accountForLinks(kb, seqIds, attachments)
  const left = new Set(skipped.map(({ path }) => path))
  const isTaken = ({ origin }: PlannedFile) => !left.has(origin)
  const files = { notes: notes.filter(isTaken).length, attachments: typesOf(attachments.filter(isTaken)) }
  Object.assign(report, { unresolved, links, files })
  report.notices.push(...misspelled, ...(await sameNames(kb, seqIds)))
  const partial = partialNeurons(kb.projection.read, seqIds)
  report.partial = partial.map(({ path }) => path)
  report.notices.push(...cutLinks(kb, partial))
  await consolidated
  return report
}

/** Suffixes of text files that people write for other programs. */
const textTypes = new Set([
  '.mdx',
  '.mdown',
  '.markdn',
  '.rst',
  '.org',
  '.adoc',
  '.txt',
  '.html',
  '.htm',
  '.tex',
  '.wiki',
  '.textile',
])

/** Thrown if the folder has no readable note. */
class NothingToRead extends Error {
  constructor({ files: { notes, attachments }, skipped }: Pick<ImportReport, 'files' | 'skipped'>) {
    const others = attachments.map(({ type, files }) => `${files} ${type}`).join(', ') || 'none'
    const [first] = skipped
    const reason =
      first === undefined ? '' : ` Skipped: ${skipped.length}, such as ${first.path}, which ${first.reason}.`
    const found = notes === 0 ? 'The folder has no notes (.md, .markdown).' : `None of the ${notes} notes can be read.`
    super(`${found} Other files: ${others}.${reason} Nothing was imported.`)
  }
}

function typesOf(files: readonly PlannedFile[]): ImportReport['files']['attachments'] {
  const types = Map.groupBy(files, ({ origin }) => extname(origin).toLowerCase() || 'without a type')
  return [...types].map(([type, of]) => ({ type, files: of.length })).sort((a, b) => b.files - a.files)
}

/**
 * Makes tags in texts count, by a commit to `kb.yaml` that keeps its comments.
 * @param options.isAsked true if the operator asked for it; otherwise a setting in `kb.yaml` wins
 * @returns true if it had to be turned on
 */
function turnOnInlineTags(
  kb: KnowledgeBase,
  { isAsked, actor, at }: { isAsked: boolean; actor: Actor; at: Date },
): Promise<boolean> {
  return kb.write(async (staging) => {
    const blob = blobAtPath(kb.projection.write, 'kb.yaml')
    const text = blob === undefined ? '' : await staging.readText(blob)
    const document = parseDocument(text)
    const { settings, problems } = parseKbFile(text)
    if (problems.some(({ severity }) => severity === 'error')) {
      if (isAsked) throw new Error('kb.yaml has errors; mend it first.')
      return false
    }
    if (settings.inlineTags || (!isAsked && document.has('inlineTags'))) return false
    document.set('inlineTags', true)
    await commitToMain(kb, staging, {
      files: new Map([['kb.yaml', document.toString({ lineWidth: 0 })]]),
      subject: 'Let #tags in the text of notes count',
      trailers: [['Connector', 'import']],
      decided: { operator: actor },
      at,
    })
    return true
  })
}

function namesOf(notes: readonly PlannedFile[]): Set<string> {
  return new Set(notes.flatMap(({ origin }) => fileKeys(origin.replace(/\.[^.]+$/, ''))))
}

/**
 * Converts the links of a Dendron note: `[[label|target]]` becomes `[[target|label]]`, unless only the label is the name of a note.
 * `undefined` if the note cannot be parsed.
 * @param noteNames keys of the notes' names; see `linkKey`
 */
async function fromDendron(
  parser: ParserPool,
  text: string,
  noteNames: ReadonlySet<string>,
): Promise<string | undefined> {
  const { bodyStart } = fileLayout(text)
  const body = text.slice(bodyStart)
  if (!body.includes('|')) return text
  const places = await parser.linkPlaces(body)
  if (places === undefined) return undefined
  let result = text.slice(0, bodyStart)
  let at = 0
  for (const place of places) {
    if (place.alias === undefined) continue
    const start = body.lastIndexOf('[[', place.start) + '[['.length
    const { at: close, separator } = place.alias
    result += body.slice(at, start) + swapped(body.slice(start, close), separator, noteNames)
    at = close
  }
  return result + body.slice(at)
}

function swapped(inner: string, separator: string, noteNames: ReadonlySet<string>): string {
  const [, label, written] = labelled.exec(inner) ?? []
  if (label === undefined || written === undefined) return inner
  const target = written.replace(vault, '').trim()
  const isNote = (name: string) => noteNames.has(linkKey(name.replace(/#.*$/s, '')))
  if (target === '' || (isNote(label) && !isNote(target))) return inner
  return `${target}${separator}${label.trim()}`
}
