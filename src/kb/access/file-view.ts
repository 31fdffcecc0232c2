import { parseNeuronFile, shownContent } from '../../markdown/file/neuron-file.ts'
import { isTestPath } from '../../markdown/file/test-file.ts'
import { fileNameKey } from '../../rules/links/file-target.ts'
import type { LinkAddress } from '../../rules/links/link-target.ts'
import { writtenLinks } from '../../rules/links/written-link.ts'
import { memoized } from '../../system/memoized.ts'
import { pauses } from '../../system/pauses.ts'
import { type FileReference, referencesToFile } from '../projection/file-queries.ts'
import { isApprovedByPolicy, lastCuratedVersion } from '../projection/version-queries.ts'
import type { KbView } from './kb-view.ts'
import { LinkView } from './link-view.ts'

/** Maximum pages whose latest version only the policy approved and whose last curated version is read to find the files that it opens. */
const maxReread = 20

/** Unresolved links to files of one name, and the pages with resolved links by file. */
type References = { links: Iterator<FileReference>; pages: Map<string, string[]> }

/** Settings and files of tools, which no link opens. Answer tests are closed too, since they quote what curators see. */
const closed = /^kb\.yaml$|(?:^|\/)\./

/**
 * Files of one knowledge base that the audience of a view may read: those that a visible page links to or embeds. A version approved by the
 * policy alone opens no file, since otherwise an app could read every file with a candidate; the latest version approved otherwise counts
 * instead. Caches its results, so use it for one request.
 */
export class FileView {
  readonly #view: KbView
  readonly #links: LinkView
  readonly #isReferenced = memoized((path: string) => this.#findReference(path))
  readonly #referencesOf = memoized((nameKey: string): References => {
    const rows = [...this.#view.rows((sql) => referencesToFile(sql, nameKey))]
    return { links: rows.values(), pages: new Map() }
  })
  /** Returns the files that a page's latest version approved by a curator opens. */
  readonly #curated = memoized((seqId: string) => this.#findOpened(seqId))

  constructor(view: KbView) {
    this.#view = view
    this.#links = new LinkView(view)
  }

  /** Returns the blob of a file that is no Neuron and that the audience may read. */
  async blobOf(path: string): Promise<string | undefined> {
    const blob = this.#view.files.blobOf(path)
    return blob !== undefined && (await this.opens(path)) ? blob : undefined
  }

  /** True if the audience may read a file: curators any, others one that a page they see opens. */
  async opens(path: string): Promise<boolean> {
    return this.#view.audience === 'curator' || this.#isReferenced(path)
  }

  async #findReference(path: string): Promise<boolean> {
    const key = fileNameKey(path)
    if (key === undefined || closed.test(path) || isTestPath(path)) return false
    const { projection } = await this.#view.kb.whole()
    const uncurated = new Set<string>()
    for await (const seqId of this.#pagesTo(path, key)) {
      if (!isApprovedByPolicy(projection.read, seqId)) return true
      uncurated.add(seqId)
    }
    for (const seqId of [...uncurated].slice(0, maxReread)) if ((await this.#curated(seqId)).has(path)) return true
    return false
  }

  /** Yields the pages that lead to a file. Each link of its name is resolved once, and only on demand. */
  async *#pagesTo(path: string, nameKey: string): AsyncGenerator<string> {
    const pause = pauses()
    const { links, pages } = this.#referencesOf(nameKey)
    for (let at = 0; ; ) {
      const known = pages.get(path)?.[at]
      if (known !== undefined) {
        at++
        yield known
        continue
      }
      await pause()
      const { value: link } = links.next()
      if (link === undefined) return
      const file = this.#fileOf({ ...link, from: link.page })
      if (file === undefined) continue
      pages.getOrInsertComputed(file, () => []).push(link.seqId)
    }
  }

  async #findOpened(seqId: string): Promise<Set<string>> {
    const { projection, repository, parser } = await this.#view.kb.whole()
    const version = lastCuratedVersion(projection.read, seqId)
    if (version === undefined) return new Set()
    const { path: from, blob } = version
    const file = parseNeuronFile(await repository.readText(blob))
    const { links } = await parser.links(shownContent(file))
    const written = writtenLinks({ edges: file.fields.edges, properties: file.propertyLinks }, links)
    return new Set(written.flatMap(({ kb, ...link }) => (kb === null && this.#fileOf({ ...link, from })) || []))
  }

  #fileOf(link: LinkAddress): string | undefined {
    const meaning = this.#links.resolve(link)
    return 'file' in meaning ? meaning.file : undefined
  }
}
