import { GanglionError } from '../contract/errors.ts'
import { utcDay } from '../contract/moment.ts'
import type { Neuron } from '../contract/neurons.ts'
import { FileView } from '../kb/access/file-view.ts'
import { type KbView, openView } from '../kb/access/kb-view.ts'
import { LinkView } from '../kb/access/link-view.ts'
import { NamedSources, type ShownFields, shownFields } from '../kb/access/shown-fields.ts'
import { freshnessIn } from '../kb/access/stale-pages.ts'
import type { Context } from '../kb/context.ts'
import { hasManyLinks, linksOf } from '../kb/projection/link-queries.ts'
import { findNeuron, neuronsOfDocument } from '../kb/projection/neuron-queries.ts'
import { commitsByPrefix, createdAt, versionAt } from '../kb/projection/version-queries.ts'
import { allTags, type NeuronFile, parseNeuronFile, shownContent } from '../markdown/file/neuron-file.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { effectiveAudience } from '../rules/access/audience.ts'
import type { Caller } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import { fileNameKey } from '../rules/links/file-target.ts'
import { type WrittenLink, writtenLinks } from '../rules/links/written-link.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { ownTurn, pauses } from '../system/pauses.ts'
import { resolveLinks } from './graph/resolve-links.ts'
import { type Basis, neuronAnswers } from './neuron-answers.ts'

const maxBacklinks = 1000

type AskedNeuron = { kb: string; seqId: string; at?: string }
type ReadNeuron = {
  neuron: Neuron
  file: NeuronFile
  view: KbView
  links: LinkView
  /** Cache dependencies; undefined if there are more, such as another knowledge base. */
  basis: Basis | undefined
}
type Reading = { ctx: Context; caller: Caller; view: KbView; links: LinkView; named: NamedSources }

/**
 * Reads one Neuron, by seqId or document UUID, in its present state or at a commit of main's first-parent line. Its links lead to the
 * present Neurons, and its backlinks are the present ones. Content hidden from the caller's audience is absent: the Neuron itself, targets
 * of its links, and pages that link to it. A past version is shown only if both the present Neuron and that version admit the caller.
 * @throws {GanglionError} `not_found`
 */
export async function readNeuron(ctx: Context, caller: Caller, asked: AskedNeuron): Promise<Neuron> {
  const read = () => readAnew(ctx, caller, asked)
  if (asked.at !== undefined) return (await read()).neuron
  const kb = await ctx.readableKb(caller.tenantId, asked.kb)
  return neuronAnswers(ctx).get(kb, `${effectiveAudience(caller)} ${utcDay(ctx.now())} ${asked.seqId}`, read)
}

/** Reads a Neuron and its file; see {@link readNeuron}. */
export async function readNeuronFile(
  ctx: Context,
  caller: Caller,
  asked: AskedNeuron,
): Promise<Omit<ReadNeuron, 'basis'>> {
  if (asked.at !== undefined) return readAnew(ctx, caller, asked)
  const neuron = await readNeuron(ctx, caller, asked)
  const view = await openView(ctx, caller, asked.kb)
  const row = view.about(neuron.seqId, findNeuron)
  // Main may have moved meanwhile.
  if (row?.commit !== neuron.commit) return readAnew(ctx, caller, asked)
  return { neuron, file: parseNeuronFile(await view.kb.repository.readText(row.blob)), view, links: new LinkView(view) }
}

/** Reads a Neuron and the state it depends on, not from the cache. */
async function readAnew(
  ctx: Context,
  caller: Caller,
  { kb: kbName, seqId: name, at }: AskedNeuron,
): Promise<ReadNeuron> {
  const view = await openView(ctx, caller, kbName)
  const seqId = isUuid(name) ? [...view.rows((sql) => neuronsOfDocument(sql, name))][0]?.seqId : name
  if (seqId === undefined) throw new GanglionError('not_found')
  const reading = { ctx, caller, view, links: new LinkView(view), named: new NamedSources(view, ctx.sources) }
  return at === undefined ? readCurrent(reading, seqId) : readPast(reading, seqId, at)
}

async function readCurrent(reading: Reading, seqId: string): Promise<ReadNeuron> {
  const { ctx, caller, view, links: linkView, named } = reading
  if (view.about(seqId, hasManyLinks)) await ownTurn()
  const row = view.about(seqId, findNeuron)
  if (row === undefined) throw new GanglionError('not_found')
  const { blob, audience: _audience, isPartial, verified: _, owner: __, ...shown } = row
  // Read before anything else is waited for, so that all is of one commit.
  const written = view.about(seqId, linksOf) ?? []
  const backlinks = backlinksOf(linkView, seqId, maxBacklinks)
  const file = parseNeuronFile(await view.kb.repository.readText(blob))
  const files = await filesOf(reading, row.path, written)
  const fields = await shownFields(view, file, named)
  const freshness = await (await freshnessIn(reading))(row)
  const neuron: Neuron = {
    ...shown,
    content: contentFor(caller, file),
    ...freshness,
    ...presented(fields),
    ...files,
    ...(await resolveLinks(ctx, caller, linkView, { written, path: row.path, files: files.files })),
    backlinks,
    ...(isPartial ? { parsed: 'partial' as const } : {}),
  }
  const isOfCallerOrOthers = named.areOwn || written.some((link) => !linkView.isOwn(link.kb))
  const basis = {
    queue: written.some(({ target }) => fileNameKey(target) !== undefined),
    database: named.known.size > 0 || freshness.stale === true,
  }
  return { neuron, file, view, links: linkView, basis: isOfCallerOrOthers ? undefined : basis }
}

async function readPast(reading: Reading, seqId: string, at: string): Promise<ReadNeuron> {
  const { ctx, caller, view, links: linkView, named } = reading
  const past = await view.aboutHistory(seqId, (sql) => {
    const [commit, ...others] = commitsByPrefix(sql, at)
    const version = commit === undefined || others.length > 0 ? undefined : versionAt(sql, seqId, commit)
    return version && { ...version, createdAt: createdAt(sql, seqId) ?? version.at }
  })
  if (past === undefined || past.blob === null) throw new GanglionError('not_found')
  const backlinks = backlinksOf(linkView, seqId, maxBacklinks)
  const file = parseNeuronFile(await view.kb.repository.readText(past.blob))
  const { fields } = file
  const tags = allTags(file, await view.kb.settings())
  if (!view.sees({ ...fields, tags })) throw new GanglionError('not_found')
  const { links, flag } = await ctx.parser.links(shownContent(file))
  const written = writtenLinks({ edges: fields.edges, properties: file.propertyLinks }, links)
  const files = await filesOf(reading, past.path, written)
  const shown = await shownFields(view, file, named)
  const neuron: Neuron = {
    seqId,
    title: neuronTitle(file, past.path),
    content: contentFor(caller, file),
    version: past.version,
    createdAt: past.createdAt,
    updatedAt: past.at,
    tags,
    ...presented(shown),
    ...files,
    ...(await resolveLinks(ctx, caller, linkView, { written, path: past.path, files: files.files })),
    backlinks,
    ...(flag === undefined ? {} : { parsed: 'partial' as const }),
    documentId: shown.id ?? null,
    path: past.path,
    commit: past.commit,
    candidateId: shown.candidate ?? null,
  }
  return { neuron, file, view, links: linkView, basis: undefined }
}

/** Returns the fields of an answer that come from the page's front matter alone. */
function presented({ sources, verified, owner, properties }: ShownFields) {
  return {
    ...(sources.length > 0 && { sources }),
    ...(verified && { verified }),
    ...(owner !== undefined && { owner }),
    ...(Object.keys(properties).length > 0 && { properties }),
  }
}

/** Returns the content that the caller sees; curators see all of it. */
function contentFor(caller: Caller, file: NeuronFile): string {
  return effectiveAudience(caller) === 'curator' ? unixLines(file.content) : shownContent(file)
}

/** Returns the files that a page's links name and that the caller may read. */
async function filesOf(
  { ctx, view, links }: Reading,
  from: string,
  written: readonly WrittenLink[],
): Promise<Pick<Neuron, 'files'>> {
  const opened = new FileView(view)
  const files: NonNullable<Neuron['files']> = []
  const known = new Set<string>()
  const pause = pauses()
  for (const { target, form, kb } of written) {
    await pause()
    if (kb !== null || form === 'edge' || known.has(target)) continue
    const meaning = links.resolve({ target, form, from })
    if (!('file' in meaning) || !(await opened.opens(meaning.file))) continue
    known.add(target)
    files.push({ target, path: meaning.file, url: ctx.urls.file(view.kb.identity.slug, meaning.file) })
  }
  return files.length === 0 ? {} : { files }
}

export function backlinksOf(links: LinkView, seqId: string, most: number): Neuron['backlinks'] {
  const edges = links.edgesTo(seqId, most).slice(0, most)
  return edges.map(({ source, type }) => ({ seqId: source, title: links.titleOf(source), type }))
}
