import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { fileNameKey } from '../../rules/links/file-target.ts'
import type { LinkAddress } from '../../rules/links/link-target.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
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
    const kb = await this.#view.kb.whole()
    const uncurated = new Set<string>()
    for (const { seqId, page, target, form } of [...this.#view.rows((sql) => referencesToFile(sql, key))]) {
      if (!this.#leads({ target, form, from: page }, path)) continue
      if (!isApprovedByPolicy(kb.projection.read, seqId)) return true
      uncurated.add(seqId)
    }
    for (const seqId of [...uncurated].slice(0, maxReread)) if (await this.#hasOpened(kb, seqId, path)) return true
    return false
  }

  async #hasOpened({ projection, repository, parser }: KnowledgeBase, seqId: string, path: string): Promise<boolean> {
    const version = lastCuratedVersion(projection.read, seqId)
    if (version === undefined) return false
    const { links } = await parser.links(shownContent(parseNeuronFile(await repository.readText(version.blob))))
    const from = version.path
    return links.some(
      ({ target, form, kb }) => kb === undefined && this.#leads({ target, form: form ?? 'wiki', from }, path),
    )
  }

  #leads(link: LinkAddress, path: string): boolean {
    const meaning = this.#links.resolve(link)
    return 'file' in meaning && meaning.file === path
  }
}
