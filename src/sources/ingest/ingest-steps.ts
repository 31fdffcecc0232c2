import type { Context } from '../../kb/context.ts'
import { followEvents } from '../../kb/events/derive-events.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { candidatesOfOrigin, neuronsBelow, type OriginRow, originsBelow } from '../../kb/projection/candidate-index.ts'
import { titlesAndAliases } from '../../kb/projection/link-queries.ts'
import { findNeuron, neuronsInOrder } from '../../kb/projection/neuron-queries.ts'
import { seenWith } from '../../kb/writing/rename/name-change.ts'
import { withoutComments } from '../../markdown/comments.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { takenNames } from '../../queue/taken-names.ts'
import { type Access, isInternal, isSeenByMore, narrowed } from '../../rules/access/audience.ts'
import { type Candidate, ingestActor, ingestConnector, lastVerdict } from '../../rules/candidates/candidate.ts'
import { parseMetadata } from '../../rules/candidates/metadata.ts'
import { withoutOrigin } from '../../rules/neurons/sentence-origins.ts'
import { type Source, tagsOf } from '../../state/sources/source.ts'
import { compileDocument } from '../compile/compile-document.ts'
import type { CompiledPage } from '../compile/compiled.ts'
import { type OldPage, summaryKey } from '../compile/editions/continue-parts.ts'
import { leftOut, reportLeftOut } from '../compile/left-out.ts'
import { type CompilerModelOptions, ModelClient } from '../compile/model/model-client.ts'
import { ModelCompiler } from '../compile/model-compiler.ts'
import { qualityDoubts } from '../compile/text-quality.ts'
import { type ExtractOptions, extractDocument } from '../extract/extract.ts'
import { type Extracted, ExtractionError, type Transcriber } from '../extracted.ts'
import { archiveOlder } from './archive-source.ts'
import { commitSource } from './commit-source.ts'
import { formatProblem } from './format-problem.ts'
import type { IngestSteps } from './ingest-source.ts'
import { originalOf, originPrefix } from './source-candidate.ts'
import { modelDrafts, sourceTexts } from './source-texts.ts'

const wikiLink = /\[\[([^[\]]+)\]\]/g

/** Maximum number of warnings about names that other Neurons had first. */
const maxTaken = 20

export type IngestModels = {
  /** Endpoint that turns speech into text; recordings have no text without it. */
  transcriber?: Transcriber | undefined
  /** Language model that writes pages. Without it, or if it fails, pages are made of the document's own sentences. */
  languageModel?: CompilerModelOptions | undefined
  /** Called with the error of a language model that failed. */
  modelFailed?: (error: Error) => void
}

/** A name that a text may use for a Neuron, and the Neuron's title. */
type LinkableName = { name: string; title: string }

/** Reads, compiles and commits Sources of a deployment. */
export function ingestSteps(
  ctx: Context,
  { transcriber, languageModel, modelFailed: failed = () => {} }: IngestModels = {},
): IngestSteps {
  const drafts = modelDrafts(ctx)
  const compiler = languageModel && new ModelCompiler({ client: new ModelClient(languageModel), drafts, failed })
  return {
    extract: (source, context) => extractSource(ctx, source, { transcriber, ...context }),
    async compile(source, extracted, context) {
      const kb = await ctx.kb(source.tenantId, source.kbId)
      const { language, defaultAudience } = await kb.settings()
      const { filename, editionOf, contentHash: sha256 } = source
      const tags = [...new Set([...tagsOf(source), ...(extracted.tags ?? [])])]
      const audience = extracted.audience && narrowed(extracted.audience, defaultAudience)
      const withAudience = (pages: CompiledPage[]) =>
        audience === undefined ? pages : pages.map((page) => ({ ...page, audience }))
      const names = await linkableNames(kb, editionOf, { tags, audience })
      const previous = await previousPages(kb, { editionOf, sha256 })
      const quality = qualityDoubts(extracted)
      const plain = await compileDocument({ extracted, filename, tags, language, names, previous, doubts: quality })
      if (!plain.some(({ content }) => hasText(content)))
        throw new ExtractionError('empty', 'The document holds no text but its title.')
      const loss = reportLeftOut(await leftOut(extracted, plain))
      const doubts = [...quality, ...loss.doubts]
      const told = [...quality, ...loss.warnings]
      const input = { extracted, filename, tags, language, names, previous, doubts }
      // Text that only curators may see is not sent to a model.
      if (compiler === undefined || isInternal(tags) || audience?.length === 0) {
        const pages = loss.doubts.length === 0 ? plain : await compileDocument(input)
        return { pages: withAudience(pages), warnings: told }
      }
      const titles = [...new Set(names.map(({ title }) => title))]
      const { pages, warnings } = await compiler.compile({ ...input, titles, scope: kb.identity.id }, context)
      return { pages: withAudience(pages), warnings: [...told, ...warnings] }
    },
    async commit(source, pages) {
      const { sources, events, now } = ctx
      const { id, tenantId, kbId, filename, contentHash: sha256, editionOf, sourceUrl } = source
      const kb = await ctx.kb(tenantId, kbId)
      // Archives older editions before anything is written, so that none of them is written afterwards.
      await archiveOlder(ctx, source)
      const isWanted = async () => (await sources.get(id))?.archivedAt === null
      const ingested = { id, filename, sha256, editionOf, sourceUrl, isWanted }
      const { seqIds, pending, commit } = await commitSource(ctx, kb, ingested, pages)
      // Logs the events of the pages before the event that ends the ingest.
      await followEvents(events, kb, now)
      const { read: sql } = kb.projection
      const { defaultAudience } = await kb.settings()
      const taken = seqIds.flatMap((seqId) => takenNames(sql, seqId, seenWith(sql, seqId, defaultAudience)))
      return { seqIds, pending, commit, warnings: taken.slice(0, maxTaken).map(({ message }) => message) }
    },
  }
}

/**
 * Returns the names by which a Source's pages may link to Neurons: of those that everybody who sees the pages may see, since a link reveals
 * that the name exists. Neurons of the Source itself are left out, so that compiling it again gives the same pages.
 * @param pages who sees the pages
 */
export async function linkableNames(kb: KnowledgeBase, documentId: string, pages: Access): Promise<LinkableName[]> {
  const { read: sql } = kb.projection
  const { defaultAudience } = await kb.settings()
  const excluded = neuronsBelow(sql, ingestConnector, originPrefix(documentId))
  for (const neuron of neuronsInOrder(sql)) {
    if (isSeenByMore(pages, neuron, defaultAudience)) excluded.add(neuron.seqId)
  }
  return titlesAndAliases(sql)
    .filter(({ seqId }) => !excluded.has(seqId))
    .map(({ name, title }) => ({ name, title }))
}

/**
 * Extracts the text of Sources again if it is missing, as after a restore, one after the other. Must run on only one of the nodes that
 * share the state.
 * @returns a function that stops it
 */
export function rereadSources(
  ctx: Context,
  { transcriber, onError }: { transcriber: Transcriber | undefined; onError: (error: unknown) => void },
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const reread = async () => {
    for (const source of await ctx.sources.ingested()) {
      if (signal.aborted) return
      try {
        if (source.extractedAt !== null && (await sourceTexts(ctx).has(source))) continue
        await extractSource(ctx, source, { transcriber, signal })
        await ctx.events.wakeAll(source.tenantId)
      } catch (error) {
        if (!signal.aborted) onError(error)
      }
    }
  }
  const running = reread().catch(onError)
  return async () => {
    stopping.abort()
    await running
  }
}

/** Returns the text of a Source, from the last extraction or from its bytes. @throws {ExtractionError} */
async function extractSource(
  ctx: Context,
  source: Source,
  options: Pick<ExtractOptions, 'signal' | 'onProgress'> & { transcriber: Transcriber | undefined },
): Promise<Extracted> {
  const { blobs, sources, directory, now } = ctx
  const { ocrLanguages } = await (await ctx.kb(source.tenantId, source.kbId)).settings()
  const kept = await sourceTexts(ctx).find(source)
  // Text that was recognised in other languages is read again.
  const isOutdated = kept?.recognised !== undefined && `${kept.recognised.languages ?? ''}` !== `${ocrLanguages}`
  const known = isOutdated ? undefined : kept
  if (known !== undefined && source.extractedAt !== null) return known
  const { contentHash, filename, fileType } = source
  const { transcriber, ...more } = options
  const read = () =>
    blobs.withFile(contentHash, async (file) => {
      const problem = await formatProblem(file, fileType)
      if (problem !== undefined) throw new ExtractionError('wrong-type', problem)
      return extractDocument(
        { file, filename, fileType, transcriber, ocrLanguages },
        { ...more, scratchIn: directory.incoming },
      )
    })
  const extracted = known ?? (await read())
  // A process that was killed may have stored the text without recording that.
  if (known === undefined) await sourceTexts(ctx).keep(source, extracted)
  const change = { extractedAt: now().toISOString(), ...(await hiddenBy(ctx, source, extracted)) }
  await sources.change(source.id, ['pending', 'ready', 'processing', 'success'], change)
  return extracted
}

/** Returns the tags that hide a Source whose front matter hides its pages: its text and name would reveal them. */
async function hiddenBy(ctx: Context, source: Source, { tags = [], audience }: Extracted): Promise<{ tags?: string }> {
  const own = tagsOf(source)
  const { defaultAudience } = await (await ctx.kb(source.tenantId, source.kbId)).settings()
  const asRead = { tags, audience: audience && narrowed(audience, defaultAudience) }
  const isHidden = isSeenByMore({ tags: own }, asRead, defaultAudience)
  return isHidden ? { tags: [...own, 'internal'].join(',') } : {}
}

/** True if a page shows words, numbers or symbols. */
function hasText(content: string): boolean {
  return /[\p{L}\p{N}\p{S}]/u.test(withoutComments(content).replace(/^\[[^\]\n]+\]:.*$/gm, ''))
}

/**
 * Returns the pages that earlier editions of a document have become, as ingest proposed them last, approved ones before pending ones. They
 * are in the order of the last summary's contents.
 */
async function previousPages(
  kb: KnowledgeBase,
  { editionOf, sha256 }: { editionOf: string; sha256: string },
): Promise<OldPage[]> {
  const { read: sql } = kb.projection
  const prefix = originPrefix(editionOf)
  const readText = (oid: string) => kb.repository.readText(oid)
  const pages: OldPage[] = []
  for (const origin of originsBelow(sql, ingestConnector, prefix)) {
    const past = candidatesOfOrigin(sql, ingestConnector, origin).filter(({ removes }) => !removes)
    const [latest] = past
    if (latest === undefined) continue
    const { record } = await originalOf(readText, latest)
    const { approval } = latest
    const isGone =
      approval === undefined ? latest.status === 'dismissed' : findNeuron(sql, approval.seqId) === undefined
    pages.push({
      key: origin.slice(prefix.length),
      title: record.title,
      text: withoutOrigin(record.content),
      isGone,
      refused: await refusedText(readText, past),
      part: partOf(record, sha256),
    })
  }
  return inOrder(pages)
}

/** Returns the part of a file from which a page was made, if the file had these bytes. */
function partOf({ frontMatter, metadata }: Candidate, sha256: string): string | undefined {
  const { part } = parseMetadata(metadata).data
  const isSame = parseNeuronFile(frontMatter ?? '').fields.sources.some((source) => source.sha256 === sha256)
  return isSame && typeof part === 'string' ? part : undefined
}

/** Returns the text that a curator last rejected as the page's next version: it may be about something else. */
async function refusedText(
  readText: (oid: string) => Promise<string>,
  past: readonly OriginRow[],
): Promise<string | undefined> {
  for (const row of past) {
    if (row.status !== 'dismissed') continue
    const { record } = await originalOf(readText, row)
    const isUncertain = parseMetadata(record.metadata).data.isUncertain === true
    if (isUncertain && lastVerdict(record)?.by.id !== ingestActor.id) return withoutOrigin(record.content)
  }
  return undefined
}

/** Sorts pages by the contents; pages that are not listed there come last. */
function inOrder(pages: readonly OldPage[]): OldPage[] {
  const contents = pages.find(({ key }) => key === summaryKey)?.text ?? ''
  const places = new Map(Array.from(contents.matchAll(wikiLink), ([, title = ''], at) => [title, at]))
  const placeOf = ({ title }: OldPage) => places.get(title) ?? Number.POSITIVE_INFINITY
  return pages.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : Number(placeOf(one) > placeOf(other))))
}
