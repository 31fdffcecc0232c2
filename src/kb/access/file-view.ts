import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { fileNameKey, resolveFile } from '../../rules/links/file-target.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { referencesToFile } from '../projection/file-queries.ts'
import { isApprovedByPolicy, lastCuratedVersion } from '../projection/version-queries.ts'
import type { KbView } from './kb-view.ts'

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
  readonly #isOpen = new Map<string, Promise<boolean>>()

  constructor(view: KbView) {
    this.#view = view
  }

  /** The file that a link of a page names. */
  resolve(target: string, page: string): string | undefined {
    return resolveFile(target, page, this.#view.files)
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
    for (const { seqId, page, target } of [...this.#view.rows((sql) => referencesToFile(sql, key))]) {
      if (this.resolve(target, page) !== path) continue
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
    return links.some(({ target, kb }) => kb === undefined && this.resolve(target, version.path) === path)
  }
}
