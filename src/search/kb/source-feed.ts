import { createHash } from 'node:crypto'
import type { Context } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import { characterStart } from '../../rules/text/whole-characters.ts'
import { sourceTexts } from '../../sources/ingest/source-texts.ts'
import { shownMarkdown } from '../../sources/read-source-text.ts'
import { type Source, tagsOf } from '../../state/sources/source.ts'
import type { IndexedDocument } from '../search-index.ts'

/** The uploaded Sources of a knowledge base, to be indexed. */
export type SearchedSources = {
  /** Returns a mark that changes whenever Sources or their texts may have changed. */
  mark(): Promise<string>
  /** Returns a number that changes whenever {@link mark} may change. */
  changes(): number
  /** Returns versions by the keys in the index. */
  versions(): Promise<ReadonlyMap<string, string>>
  /** Returns a Source by its key; undefined if the key is unknown or the text is missing. */
  document(key: string): Promise<SearchedSource | undefined>
}

/** A Source before it is divided into chunks. */
type SearchedSource = { version: string; length: number; read(): Promise<IndexedDocument> }

/** Maximum characters to parse at a time: a book is too much at once. */
const partLength = 200_000

/** Returns the Sources of a knowledge base whose text was read, for its search index. The key is the Source's id. */
export function searchedSources(kb: KbIdentity, ctx: Context): SearchedSources {
  const { sources, events, parser } = ctx
  let known: { at: number; mark: string } | undefined
  // Every change of a Source is an event.
  const changes = () => events.arrivals(kb.tenantId)
  return {
    changes,
    async mark() {
      const at = changes()
      if (known?.at !== at) known = { at, mark: await sources.readMark(kb.id) }
      return known.mark
    },
    async versions() {
      const found = await sources.read(kb.id)
      return new Map(found.map((source) => [source.id, versionOf(source)]))
    },
    async document(key) {
      const source = await sources.find(kb.tenantId, key)
      if (source === undefined || source.kbId !== kb.id || source.archivedAt !== null) return undefined
      const extracted = source.extractedAt === null ? undefined : await sourceTexts(ctx).find(source)
      if (extracted === undefined) return undefined
      const { id, filename } = source
      const { title = filename } = extracted
      const markdown = shownMarkdown(source, extracted)
      const version = versionOf(source)
      const read = async () => ({
        key: id,
        kind: 'source' as const,
        version,
        title,
        aliases: [filename],
        tags: tagsOf(source),
        path: `${source.path.replace(/^\/|\/$/g, '')}/${filename}`.replace(/^\//, ''),
        changedAt: source.createdAt,
        audience: undefined,
        note: undefined,
        chunks: await chunksOf(markdown, parser),
      })
      return { version, length: markdown.length, read }
    },
  }
}

/** Format of an indexed text. Raise it whenever other parts of a text are indexed. */
const textFormat = 5

function versionOf({ contentHash, extractedAt, filename }: Source): string {
  return `${textFormat} ${contentHash} ${extractedAt} ${filename}`
}

async function chunksOf(markdown: string, parser: ParserPool): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for (const part of partsOf(markdown)) chunks.push(...(await parser.chunks(part)).chunks)
  return chunks
}

/** Yields parts of whole paragraphs, each starting at a heading if one is near enough. */
function* partsOf(markdown: string): Generator<string> {
  for (let start = 0; start < markdown.length; ) {
    const limit = start + partLength
    const end = limit >= markdown.length ? markdown.length : cutBefore(markdown, start, limit)
    yield markdown.slice(start, end)
    start = end
  }
}

function cutBefore(markdown: string, start: number, limit: number): number {
  for (const separator of ['\n# ', '\n## ', '\n\n', '\n']) {
    const at = markdown.lastIndexOf(separator, limit)
    if (at > start + partLength / 2) return at + 1
  }
  return characterStart(markdown, limit)
}

/** Returns a hash of a document's version and chunks: the division into chunks also depends on a time limit. */
export function indexFingerprint({ version, chunks }: IndexedDocument): string {
  const hash = createHash('sha256').update(version)
  for (const { content } of chunks) hash.update('\0').update(content)
  return hash.digest('hex')
}
