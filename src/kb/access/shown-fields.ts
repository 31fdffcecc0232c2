import { accessIn, type NeuronFile, parseNeuronFile, shownContent } from '../../markdown/file/neuron-file.ts'
import type { YamlMap } from '../../markdown/yaml/yaml.ts'
import type { NeuronFields, SourceReference, Verified } from '../../rules/neurons/neuron.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { tagsOf } from '../../state/sources/source.ts'
import type { Sources } from '../../state/sources/sources.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { type BroughtVersion, broughtVersions } from '../projection/written-versions.ts'
import type { KbView } from './kb-view.ts'

/**
 * Front matter of a page that an audience sees. The API returns these fields, and clones and mirrors write them; no other key leaves the
 * server. `properties`: keys named by `publish.keys` in `kb.yaml`.
 */
export type ShownFields = Pick<
  NeuronFields,
  'seqId' | 'id' | 'title' | 'tags' | 'edges' | 'candidate' | 'sources' | 'verified' | 'owner'
> & { properties: YamlMap }

/** Returns the front matter of a page that the audience of a view sees. */
export async function shownFields(
  view: KbView,
  { fields, extra }: Pick<NeuronFile, 'fields' | 'extra'>,
  named: NamedSources,
): Promise<ShownFields> {
  const { seqId, id, title, tags, edges, candidate, sources, owner, aliases, sourceUrl } = fields
  const verified = await named.verified(fields.verified)
  const own: YamlMap = { ...extra, ...(aliases.length > 0 && { aliases }), ...(sourceUrl && { sourceUrl }) }
  const { publishedKeys } = await view.kb.settings()
  const properties = publishedKeys.flatMap((key) => {
    const value = Object.hasOwn(own, key) ? own[key] : undefined
    return value === undefined ? [] : [[key, value] as const]
  })
  return {
    ...(seqId !== undefined && { seqId }),
    ...(id !== undefined && { id }),
    ...(title !== undefined && { title }),
    ...{ tags, edges, sources: await named.shown(sources) },
    ...(candidate !== undefined && { candidate }),
    ...(verified && { verified }),
    ...(owner !== undefined && { owner }),
    properties: Object.fromEntries(properties),
  }
}

/**
 * Sources that pages may name to the audience of a view. A Source that this server does not know may be internal, so only curators see its
 * name. Caches look-ups: for one request, or for one pass over a history.
 */
export class NamedSources {
  /** True if the audience may know of a Source, by its id. */
  readonly known: Map<string, boolean>
  /** True if an answer depends on who uploaded a Source. */
  areOwn = false
  readonly #view: KbView
  readonly #sources: Pick<Sources, 'withIds'>

  constructor(view: KbView, sources: Pick<Sources, 'withIds'>, known: Iterable<[string, boolean]> = []) {
    this.#view = view
    this.#sources = sources
    this.known = new Map(known)
  }

  /** Looks up the Sources that are not cached yet. */
  async look(ids: Iterable<string>): Promise<void> {
    const asked = [...new Set(ids)].filter((id) => !this.known.has(id))
    for (const id of asked) this.known.set(id, this.#view.audience === 'curator')
    if (asked.length === 0 || this.#view.audience === 'curator') return
    for (const source of await this.#sources.withIds(this.#view.kb.identity.tenantId, asked)) {
      this.known.set(source.id, this.#view.seesSource(source))
      if (!this.#view.sees({ tags: tagsOf(source) })) this.areOwn = true
    }
  }

  /** Returns the references that may be shown. References without an id were written by hand and are always included. */
  async shown(references: readonly SourceReference[]): Promise<SourceReference[]> {
    await this.look(references.flatMap(({ id }) => id ?? []))
    return references.filter(({ id }) => id === undefined || this.known.get(id) === true)
  }

  /** Returns who verified a page, without the edition of a Source that must not be named. */
  async verified(verified: Verified | undefined): Promise<Verified | undefined> {
    if (verified?.edition === undefined) return verified
    const { edition, ...rest } = verified
    await this.look([edition])
    return this.known.get(edition) === true ? verified : rest
  }
}

/** Version as a caller sees it. `text`: its content; for readers without hidden parts. */
export type ShownVersion = BroughtVersion & { file: NeuronFile; text: string }

/** Returns the versions of a Neuron that a caller may see, oldest first; none if its history is hidden. */
export async function shownVersions(kb: KnowledgeBase, view: KbView, seqId: string): Promise<ShownVersion[]> {
  if (!(await view.seesHistory(seqId))) return []
  const settings = await kb.settings()
  const versions: ShownVersion[] = []
  for (const version of broughtVersions(kb.projection.read, seqId)) {
    const file = parseNeuronFile(await kb.repository.readTextOnce(version.blob))
    if (!view.sees(accessIn(file, settings))) continue
    const text = view.audience === 'curator' ? unixLines(file.content) : shownContent(file)
    versions.push({ ...version, file, text })
  }
  return versions
}
