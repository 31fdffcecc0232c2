import type { Neuron } from '../../contract/neurons.ts'
import { pastDate } from '../../rules/freshness.ts'
import type { Context } from '../context.ts'
import { type LinkRow, linksToRenewed } from '../projection/link-queries.ts'
import {
  isUnchangedSince,
  type NeuronRow,
  type NeuronSummaryRow,
  pagesNamingRenewed,
  type RenewedPage,
  renewedPages,
} from '../projection/neuron-queries.ts'
import type { MainTables } from '../projection/projection.ts'
import { PerCommit } from '../readable-kb.ts'
import type { KbView } from './kb-view.ts'
import { LinkView } from './link-view.ts'
import { NamedSources } from './shown-fields.ts'

type AskedPage = Pick<NeuronRow, 'seqId' | 'path' | 'tags' | 'updatedAt' | 'verified'>
/** Staleness of a page. `newEdition`: id of the latest edition of a cited Source, if it is newer than the page. */
type Staleness = { stale?: true; newEdition?: string }

/** Citations by page, to find stale ones. `links`, `named`: possible citations of renewed pages. `known`: cached results. */
type Citations = {
  renewed: ReadonlyMap<string, RenewedPage>
  links: ReadonlyMap<string, LinkRow[]>
  named: ReadonlyMap<string, { named: string }[]>
  known: Map<string, string | undefined>
}

const citations = new PerCommit<Citations>()

/** Returns which pages of a view are stale: past their date, or older than an edition of a Source that they cite. */
export async function stalenessIn(view: KbView, now: Date): Promise<(page: AskedPage) => Staleness> {
  const { verify } = await view.kb.settings()
  const cited = await citations.get(view.kb, view.audience, async () => citationsIn(view))
  const links = new LinkView(view)
  return (page) => {
    const newEdition = cited.known.getOrInsertComputed(page.seqId, (seqId) =>
      newEditionFor(seqId, view, { cited, links }),
    )
    if (newEdition !== undefined) return { stale: true, newEdition }
    return pastDate(page, verify, now) === undefined ? {} : { stale: true }
  }
}

function citationsIn(view: KbView): Citations {
  const renewed = new Map(Array.from(view.rows(renewedPages), (page) => [page.seqId, page]))
  const rows = <Row extends { seqId: string }>(query: (sql: MainTables) => Row[]) =>
    Map.groupBy(renewed.size === 0 ? [] : view.rows(query), ({ seqId }) => seqId)
  return { renewed, links: rows(linksToRenewed), named: rows(pagesNamingRenewed), known: new Map() }
}

/** Returns the latest edition that is newer than a page which cites its Source but is not compiled from it. */
function newEditionFor(
  seqId: string,
  view: KbView,
  { cited, links }: { cited: Citations; links: LinkView },
): string | undefined {
  const targets = (cited.links.get(seqId) ?? []).flatMap((link) => links.edgeOf(link)?.target ?? [])
  const named = (cited.named.get(seqId) ?? []).map((page) => page.named)
  const editions = [...targets, ...named].flatMap((target) => {
    const { source, position } = cited.renewed.get(target) ?? {}
    if (source === undefined || position === undefined) return []
    return view.about(seqId, (sql) => isUnchangedSince(sql, seqId, position)) ? [source] : []
  })
  return editions.sort().at(-1)
}

/** Returns when pages of a view were verified, and why they are stale. A Source is named only to callers who may see it. */
export async function freshnessIn({ ctx, view, named }: { ctx: Context; view: KbView; named?: NamedSources }) {
  const { tenantId } = view.kb.identity
  const nameable = named ?? new NamedSources(view, ctx.sources)
  const stalenessOf = await stalenessIn(view, ctx.now())
  return async (row: NeuronSummaryRow): Promise<Pick<Neuron, 'verified' | 'owner' | 'stale' | 'newEdition'>> => {
    const { owner } = row
    const verified = await nameable.verified(row.verified ?? undefined)
    const { stale, newEdition: id } = stalenessOf(row)
    const source = id === undefined ? undefined : await ctx.sources.find(tenantId, id)
    return {
      ...(verified && { verified }),
      ...(owner !== null && { owner }),
      ...(stale && { stale }),
      ...(source && view.seesSource(source) && { newEdition: { id: source.id, filename: source.filename } }),
    }
  }
}
