import type { EdgeType } from '../contract/vocabulary.ts'
import { viewAs } from '../kb/access/kb-view.ts'
import { LinkView } from '../kb/access/link-view.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { NeuronFile } from '../markdown/file/neuron-file.ts'
import { targetKeys } from '../rules/links/link-target.ts'
import { type WrittenLink, writtenLinks } from '../rules/links/written-link.ts'
import { ownTurn } from '../system/pauses.ts'

/** Link that a change adds or removes, as written, and what it leads to now. */
export type LinkChange = {
  type: EdgeType
  target: string
  /** Slug of another knowledge base. */
  kb?: string
  leadsTo: { seqId: string; title: string } | 'a file' | 'what waits with it' | 'nothing' | 'several' | 'elsewhere'
}

/** First added and removed links, and their numbers. */
export type LinkChanges = { gained: LinkChange[]; lost: LinkChange[]; gainedCount: number; lostCount: number }

const maxShown = 50

/**
 * Returns the links that only one side of a change has. A curator sees what each leads to.
 * @param waiting keys of the titles that are pending in the same bundle
 */
export async function linkChanges(
  kb: KnowledgeBase,
  { before, after }: { before: NeuronFile | undefined; after: NeuronFile | undefined },
  path: string,
  waiting: ReadonlySet<string>,
): Promise<LinkChanges> {
  const [old, fresh] = [await linksIn(kb, before), await linksIn(kb, after)]
  const view = new LinkView(await viewAs(kb, { audience: 'curator' }))
  const missingIn = (links: Map<string, WrittenLink>, others: Map<string, WrittenLink>) =>
    [...links].filter(([key]) => !others.has(key)).map(([, link]) => link)
  const shown = (link: WrittenLink) => toChange(view, link, { path, waiting })
  const [gained, lost] = [missingIn(fresh, old), missingIn(old, fresh)]
  return {
    gained: gained.slice(0, maxShown).map(shown),
    lost: lost.slice(0, maxShown).map(shown),
    gainedCount: gained.length,
    lostCount: lost.length,
  }
}

async function linksIn(kb: KnowledgeBase, file: NeuronFile | undefined): Promise<Map<string, WrittenLink>> {
  if (file === undefined) return new Map()
  const { links } = await kb.parser.links(file.content)
  await ownTurn()
  const written = writtenLinks({ edges: file.fields.edges, properties: file.propertyLinks }, links)
  return new Map(written.map((link) => [JSON.stringify([link.type, link.kb, link.target]), link]))
}

function toChange(
  view: LinkView,
  link: WrittenLink,
  { path, waiting }: { path: string; waiting: ReadonlySet<string> },
): LinkChange {
  const { type, target } = link
  if (!view.isOwn(link.kb)) return { type, target, kb: link.kb ?? '', leadsTo: 'elsewhere' }
  const address = { target, form: link.form, from: path }
  const meaning = view.resolve(address)
  if ('seqId' in meaning) {
    const { seqId } = meaning
    return { type, target, leadsTo: { seqId, title: view.titleOf(seqId) } }
  }
  if ('file' in meaning) return { type, target, leadsTo: 'a file' }
  if ('ambiguous' in meaning) return { type, target, leadsTo: 'several' }
  return { type, target, leadsTo: waiting.has(targetKeys(address).key) ? 'what waits with it' : 'nothing' }
}
