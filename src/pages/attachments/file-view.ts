import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { referencesToFile } from '../../kb/projection/file-queries.ts'
import { isApprovedByPolicy, lastCuratedVersion } from '../../kb/projection/version-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { attachmentLookup } from '../../kb/writing/attachment-lookup.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { type FileLookup, fileNameKey, resolveFile } from '../../rules/links/file-target.ts'

/** Pages that only the policy approved and that are read again to see whether a curator has let them open a file. */
const maxReread = 20

/** Settings and tools' files, which no link opens. */
const closed = /^kb\.yaml$|(?:^|\/)\./

/**
 * The files of one knowledge base that somebody may read who sees these Neurons. A page that is seen opens the files that it
 * links to or embeds. What only the policy has approved opens none: whoever may write candidates could read every file by it. So
 * of such a page the last version counts that came otherwise. For one request, since it remembers what it found.
 */
export class FileView {
  readonly #kb: ReadableKb
  readonly #isVisible: (seqId: string) => boolean
  readonly #files: FileLookup
  readonly #isOpen = new Map<string, Promise<boolean>>()

  constructor(kb: ReadableKb, isVisible: (seqId: string) => boolean) {
    this.#kb = kb
    this.#isVisible = isVisible
    this.#files = attachmentLookup(kb.projection.read, isVisible)
  }

  /** The file that a link of a page names. */
  resolve(target: string, page: string): string | undefined {
    return resolveFile(target, page, this.#files)
  }

  /** Whether a page that is seen opens a file. */
  opens(path: string): Promise<boolean> {
    const known = this.#isOpen.get(path) ?? this.#findReference(path)
    this.#isOpen.set(path, known)
    return known
  }

  async #findReference(path: string): Promise<boolean> {
    const key = fileNameKey(path)
    if (key === undefined || closed.test(path)) return false
    const kb = await this.#kb.whole()
    const { read: sql } = kb.projection
    const uncurated = new Set<string>()
    for (const { seqId, page, target } of [...referencesToFile(sql, key)]) {
      if (!this.#isVisible(seqId) || this.resolve(target, page) !== path) continue
      if (!isApprovedByPolicy(sql, seqId)) return true
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
