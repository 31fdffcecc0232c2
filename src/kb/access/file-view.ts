import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { fileNameKey } from '../../rules/links/file-target.ts'
import type { LinkAddress } from '../../rules/links/link-target.ts'
import { writtenLinks } from '../../rules/links/written-link.ts'
import { pauses } from '../../system/pauses.ts'
import { referencesToFile } from '../projection/file-queries.ts'
import { isApprovedByPolicy, lastCuratedVersion } from '../projection/version-queries.ts'
import type { KbView } from './kb-view.ts'
import { LinkView } from './link-view.ts'

/** Pages that only the policy approved and that are read again to see whether a curator has let them open a file. */
const maxReread = 20

/** Settings and tools' files, which no link opens. */
const closed = /^kb\.yaml$|(?:^|\/)\./

/**
 * The files of one knowledge base that the audience of a view may read. A page that is seen opens the files that it
 * links to or embeds. What only the policy has approved opens none: whoever may write candidates could read every file by it. So
 * of such a page the last version counts that came otherwise. For one request, since it remembers what it found.
 */
export class FileView {
  readonly #view: KbView
  readonly #links: LinkView
  readonly #isOpen = new Map<string, Promise<boolean>>()
  readonly #references = new Map<string, Promise<Map<string, Set<string>>>>()
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
    if (key === undefined || closed.test(path)) return false
    const references = this.#references.get(key) ?? this.#findReferences(key)
    this.#references.set(key, references)
    const seqIds = (await references).get(path) ?? []
    const { projection } = await this.#view.kb.whole()
    const uncurated: string[] = []
    for (const seqId of seqIds) {
      if (!isApprovedByPolicy(projection.read, seqId)) return true
      uncurated.push(seqId)
    }
    for (const seqId of uncurated.slice(0, maxReread)) if ((await this.#curated(seqId)).has(path)) return true
    return false
  }

  /** Which pages lead to which file, of the links that name one so. */
  async #findReferences(nameKey: string): Promise<Map<string, Set<string>>> {
    const pause = pauses()
    const found = new Map<string, Set<string>>()
    for (const { seqId, page, target, form } of [...this.#view.rows((sql) => referencesToFile(sql, nameKey))]) {
      await pause()
      const path = this.#fileOf({ target, form, from: page })
      if (path !== undefined) found.set(path, (found.get(path) ?? new Set()).add(seqId))
    }
    return found
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
