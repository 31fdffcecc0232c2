import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { hasReadableSize } from '../../markdown/file/front-matter.ts'
import { editNeuron, formatNeuron, type NeuronChanges, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { narrowed } from '../../rules/access/audience.ts'
import type { Candidate } from '../../rules/candidates/candidate.ts'
import { parseMetadata, readMetadata } from '../../rules/candidates/metadata.ts'
import type { NeuronFields } from '../../rules/neurons/neuron.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { newPath, requestedPath } from '../new-path.ts'
import { isBlocked } from '../projection/file-queries.ts'
import { findNeuron, type NeuronRow } from '../projection/neuron-queries.ts'
import { documentOfSeqId, versionOfBlob } from '../projection/version-queries.ts'
import { baseOf, type MainView, mergeFrontMatter, mergeIntoTarget, proposedContent } from './merge-candidate.ts'
import { followFiles } from './rename/follow-files.ts'

/** State of main for computing the result of a candidate. `leaves`: paths that other candidates of the same approval vacate. */
export type ProposalView = MainView & { parser: ParserPool; leaves?: ReadonlySet<string> }

/** Changes of a curator on the way from candidate to Neuron. */
export type ApprovalEdit = {
  content?: string | undefined
  title?: string | undefined
  tags?: string[] | undefined
  /** Tags to add to the page's own, and an audience that narrows its own. */
  adds?: { tags: readonly string[]; audience?: readonly string[] | undefined }
  /** Commit whose version of the target `content` was written against, after a conflict. */
  base?: string | undefined
}

/** Ids of a new Neuron. A preview has neither. */
export type NewIds = { seqId?: string; id?: string }

/** Result of a candidate on main: one page, or without text its removal. */
export type Proposal = {
  path: string
  text: string | null
  /** Previous path of a page that the candidate moves. */
  movedFrom?: string | undefined
  title: string
  target: NeuronRow | undefined
}

/** Metadata keys that get a front matter key of their own, or control the approval; all others are stored in `metadata`. */
const surfaced: ReadonlySet<string> = new Set([
  ...['connector', 'sourceUrl', 'tags', 'audience', 'targetNeuron', 'actionZone', 'path'],
  ...['baseCommit', 'baseVersion', 'replaceTags', 'onBehalfOf'],
])

/**
 * Returns the page that a candidate proposes, on top of main.
 * @throws {GanglionError} `target_not_found`, `target_unreadable`, `merge_conflict`
 * @throws {ValidationError} if its front matter would be too large to be read
 */
export async function proposalOf(
  view: ProposalView,
  candidate: Candidate,
  { edit = {}, ids = {} }: { edit?: ApprovalEdit; ids?: NewIds } = {},
): Promise<Proposal> {
  if (candidate.target === null) return newPage(view, candidate, edit, ids)
  const target = findNeuron(view.sql, candidate.target)
  if (target === undefined) return restoredPage(view, candidate, edit, ids)
  // The target did not exist at that time; the Neuron with its number is newer.
  if (candidate.base === null) throw new GanglionError('target_not_found')
  if (candidate.removes) return removal(candidate, target)
  return changedPage(view, candidate, { edit, ids, target })
}

async function newPage(view: ProposalView, candidate: Candidate, edit: ApprovalEdit, ids: NewIds): Promise<Proposal> {
  const title = edit.title ?? candidate.title
  const path = newPath(view, candidate, title)
  const content = proposedContent(candidate, edit)
  const { frontMatter } = candidate
  if (frontMatter !== null) {
    const { fields } = parseNeuronFile(frontMatter)
    const given = {
      ...(edit.tags === undefined && edit.adds === undefined
        ? {}
        : { tags: withAdded(edit.tags ?? fields.tags, edit) }),
      ...audienceOf(fields.audience, edit.adds?.audience),
    }
    const changes = { ...ids, ...given, title, candidate: candidate.id }
    const text = await withinLimits(changes, (fitting) => editNeuron(frontMatter, fitting, content))
    return { path, text, title, target: undefined }
  }
  const inherited = inheritedFields(candidate)
  const fields: NeuronFields = {
    aliases: [],
    edges: [],
    sources: [],
    noteShared: false,
    ...inherited,
    tags: withAdded(edit.tags ?? inherited.tags, edit),
    ...audienceOf(inherited.audience, edit.adds?.audience),
    ...ids,
    title,
  }
  const text = withinLimits(fields, (fitting) => formatNeuron(fitting, content))
  return { path, text, title, target: undefined }
}

/** Returns a whole page that restores a deleted Neuron. */
function restoredPage(view: ProposalView, candidate: Candidate, edit: ApprovalEdit, ids: NewIds): Promise<Proposal> {
  const { fields } = parseNeuronFile(candidate.frontMatter ?? '')
  const { target: seqId } = candidate
  if (seqId === null || fields.seqId !== seqId || candidate.removes) throw new GanglionError('target_not_found')
  const id = documentOfSeqId(view.sql, seqId) ?? fields.id ?? ids.id
  return newPage(view, candidate, edit, { ...ids, seqId, ...(id === undefined ? {} : { id }) })
}

async function changedPage(
  view: ProposalView,
  candidate: Candidate,
  { edit, ids, target }: { edit: ApprovalEdit; ids: NewIds; target: NeuronRow },
): Promise<Proposal> {
  const content = await mergeIntoTarget(view, candidate, edit, target)
  const current = await view.readText(target.blob)
  const page = await mergeFrontMatter(view, candidate, target, current)
  const { fields } = parseNeuronFile(page)
  const inherited: Partial<NeuronFields> & Pick<NeuronFields, 'tags'> =
    candidate.frontMatter === null ? inheritedFields(candidate) : { tags: [], candidate: candidate.id }
  const own = candidate.frontMatter !== null ? fields.title : candidate.renames ? candidate.title : undefined
  const written = neuronTitle({ fields, content }, target.path)
  const title = edit.title ?? own ?? written
  const changes: NeuronChanges = {
    ...inherited,
    tags: withAdded(edit.tags ?? (await mergeTags(view, candidate, fields.tags)), edit),
    ...audienceOf(audienceOf(fields.audience, inherited.audience).audience, edit.adds?.audience),
    ...documentIdOf(target, ids),
    ...(title === written ? {} : { title }),
  }
  const text = await withinLimits(changes, (fitting) => editNeuron(page, fitting, content))
  const path = wishedMove(view, candidate, target)
  if (path === undefined) return { path: target.path, text, title, target }
  const moved = await followFiles(view, { seqId: target.seqId, from: target.path, path, text })
  return { path, text: moved, movedFrom: target.path, title, target }
}

function withAdded(tags: readonly string[], { adds }: ApprovalEdit): string[] {
  return [...new Set([...tags, ...(adds?.tags ?? [])])]
}

/** Returns a page's own audience, or its intersection with a requested one. */
function audienceOf(
  own: readonly string[] | undefined,
  wished: readonly string[] | undefined,
): Pick<NeuronFields, 'audience'> {
  const audience = wished === undefined || own === undefined ? (wished ?? own) : narrowed(wished, own)
  return audience === undefined ? {} : { audience: [...audience] }
}

/** Adds the tags of a correction. If it replaces the list, only tags that others have added since its base are kept. */
async function mergeTags(view: MainView, candidate: Candidate, current: readonly string[]): Promise<string[]> {
  const { metadata, frontMatter } = candidate
  if (frontMatter !== null) return [...current]
  const { tags, replaceTags } = readMetadata(parseMetadata(metadata).data)
  if (!replaceTags) return [...new Set([...current, ...tags])]
  const known = parseNeuronFile((await baseOf(view, candidate)) ?? '').fields.tags
  return [...new Set([...tags, ...current.filter((tag) => !known.includes(tag))])]
}

/** Returns the path to which a whole page was moved since its base; undefined if that is taken, or main has moved it, too. */
function wishedMove(view: ProposalView, candidate: Candidate, target: NeuronRow): string | undefined {
  const wished = candidate.frontMatter === null || candidate.base === null ? undefined : requestedPath(candidate)
  if (wished === undefined || wished === target.path) return undefined
  const isMove = versionOfBlob(view.sql, target.seqId, candidate.base ?? '')?.path === target.path
  const isOwn = pathKey(wished) === pathKey(target.path)
  const isFree = (path: string) => path === target.path || view.leaves?.has(path) === true
  return isMove && (isOwn || !isBlocked(view.sql, wished, isFree)) ? wished : undefined
}

function documentIdOf({ documentId }: NeuronRow, { id }: NewIds): Pick<NeuronFields, 'id'> {
  const given = documentId ?? id
  return given === undefined ? {} : { id: given }
}

/** Returns a removal. If the page has changed since, it conflicts, because nobody meant to remove the changes. */
function removal({ base, ...candidate }: Candidate, target: NeuronRow): Proposal {
  if (base === null || base === target.blob) return { path: target.path, text: null, title: target.title, target }
  const content = unixLines(candidate.content)
  const conflicts = [{ line: 1, base: content, current: content, proposed: '' }]
  throw new GanglionError('merge_conflict', undefined, { conflicts, commit: target.commit })
}

/**
 * Formats the file with all inherited fields, or without the metadata, which its candidate keeps, if the front matter would be too large to
 * be read.
 * @throws {ValidationError} if the rest alone is too large
 */
function withinLimits<Fields extends NeuronChanges>(fields: Fields, write: (fields: Fields) => string): string {
  for (const fitting of [fields, { ...fields, metadata: undefined }]) {
    const text = write(fitting)
    if (hasReadableSize(text)) return text
  }
  throw new ValidationError({ tags: ['make the front matter larger than 16 KB'] })
}

/** Returns the front matter that a Neuron inherits from its candidate. */
function inheritedFields(
  candidate: Candidate,
): Pick<NeuronFields, 'candidate' | 'connector' | 'tags' | 'audience' | 'sourceUrl' | 'metadata'> {
  const { data } = parseMetadata(candidate.metadata)
  const { tags, audience, sourceUrl } = readMetadata(data)
  const rest = Object.fromEntries(Object.entries(data).filter(([key]) => !surfaced.has(key)))
  return {
    tags,
    ...(audience && { audience }),
    connector: candidate.connector,
    candidate: candidate.id,
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    ...(Object.keys(rest).length === 0 ? {} : { metadata: JSON.stringify(rest) }),
  }
}
