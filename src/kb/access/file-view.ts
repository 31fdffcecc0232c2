import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isTestPath } from '../../markdown/file/test-file.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { fileNameKey } from '../../rules/links/file-target.ts'
import type { LinkAddress } from '../../rules/links/link-target.ts'
import { writtenLinks } from '../../rules/links/written-link.ts'
import { pauses } from '../../system/pauses.ts'
import { type FileReference, referencesToFile } from '../projection/file-queries.ts'
import { isApprovedByPolicy, lastCuratedVersion } from '../projection/version-queries.ts'
import type { KbView } from './kb-view.ts'
import { LinkView } from './link-view.ts'

/** Pages that only the policy approved and that are read again to see whether a curator has let them open a file. */
const maxReread = 20

/** The links that name a file so which are not resolved yet, and by file the pages of the others. */
type References = { links: Iterator<FileReference>; pages: Map<string, string[]> }

/** Settings and tools' files, which no link opens; nor does one open answer tests, which say what curators see. */
const closed = /^kb\.yaml$|(?:^|\/)\./

/**
 * The files of one knowledge base that the audience of a view may read: those that a visible page links to or embeds. A version that
 * only the policy has approved opens no file, since otherwise an app could read every file by a candidate; the last version that
 * came by other means counts instead. For one request, since it remembers what it found.
 */
export class FileView {
  readonly #view: KbView
  readonly #links: LinkView
  readonly #isOpen = new Map<string, Promise<boolean>>()
  readonly #references = new Map<string, References>()
  readonly #opened = new Map<string, Promise<Set<string>>>()

  constructor(view: KbView) {
    this.#view = view
    this.#links = new LinkView(view)
  }

  /** The blob of a file that is no Neuron and that the audience may read. */
  async blobOf(path: string): Promise<string | undefined> {
    const blob = this.#view.files.blobOf(path)
    return blob !== undefined && (await this.opens(path)) ? blob : undefined
  }

  /** Whether the audience may read a file: curators any, others one that a page opens which they see. */
  async opens(path: string): Promise<boolean> {
    if (this.#view.audience === 'curator') return true
    const known = this.#isOpen.get(path) ?? this.#findReference(path)
    this.#isOpen.set(path, known)
    return known
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

  /** The pages that lead to a file. Each link of its name is resolved once, and only as far as pages are asked for. */
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
      const found = pages.get(file) ?? []
      found.push(link.seqId)
      pages.set(file, found)
    }
  }

  #referencesOf(nameKey: string): References {
    const rows = () => [...this.#view.rows((sql) => referencesToFile(sql, nameKey))]
    const references = this.#references.get(nameKey) ?? { links: rows().values(), pages: new Map() }
    this.#references.set(nameKey, references)
    return references
  }

  /** The files that the last version of a page opened which a curator has approved. */
  #curated(seqId: string): Promise<Set<string>> {
    const known = this.#opened.get(seqId) ?? this.#findOpened(seqId)
    this.#opened.set(seqId, known)
    return known
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
