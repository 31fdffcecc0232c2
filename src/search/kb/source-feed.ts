import type { Context } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import { characterStart } from '../../rules/text/whole-characters.ts'
import { sourceTexts } from '../../sources/ingest/source-texts.ts'
import { shownMarkdown } from '../../sources/read-source-text.ts'
import { type Source, tagsOf } from '../../state/sources/source.ts'
import type { IndexedDocument } from '../search-index.ts'

/** The uploaded Sources of a knowledge base, as the index takes them. */
export type SearchedSources = {
  /** Other whenever there may be others, or others of their texts. */
  mark(): Promise<string>
  /** Another number whenever {@link mark} may be another. */
  changes(): number
  /** By their keys in the index. */
  versions(): Promise<ReadonlyMap<string, string>>
  /** Nothing for a key that is none, or of a text that is not there. */
  document(key: string): Promise<SearchedSource | undefined>
}

/** A Source before it is divided. */
type SearchedSource = { version: string; length: number; read(): Promise<IndexedDocument> }

/** Characters that are parsed at a time: a book is too much at once. */
const partLength = 200_000

/** The Sources of a knowledge base whose text was read, for its search index. A key is a Source's id. */
export function searchedSources(kb: KbIdentity, ctx: Context): SearchedSources {
  const { sources, events, parser } = ctx
  let known: { at: number; mark: string } | undefined
  // Whatever changes a Source is told.
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

/** Raised whenever other parts of a text are indexed. */
const textFormat = 5

function versionOf({ contentHash, extractedAt, filename }: Source): string {
  return `${textFormat} ${contentHash} ${extractedAt} ${filename}`
}

async function chunksOf(markdown: string, parser: ParserPool): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for (const part of partsOf(markdown)) chunks.push(...(await parser.chunks(part)).chunks)
  return chunks
}

/** Parts of whole paragraphs, each begun at a heading where there is one near enough. */
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
