import { isPastDate } from '../../rules/freshness.ts'
import { pauses } from '../../system/pauses.ts'
import { PerCommit } from '../per-commit.ts'
import type { NeuronRow } from '../projection/neuron-queries.ts'
import { isUnchangedSince, pagesNaming, renewedPages } from '../projection/renewed-pages.ts'
import type { KbView } from './kb-view.ts'
import { LinkView } from './link-view.ts'

type AskedPage = Pick<NeuronRow, 'seqId' | 'path' | 'tags' | 'updatedAt' | 'verified'>
/** `newEdition`: id of the latest edition of a Source that the page cites, where it came after the page. */
type Staleness = { stale?: true; newEdition?: string }

const outdated = new PerCommit<ReadonlyMap<string, string>>()

/** Says which pages of a view are stale: past their date, or older than an edition of a Source that they cite. */
export async function stalenessIn(view: KbView, now: Date): Promise<(page: AskedPage) => Staleness> {
  const { verify } = await view.kb.settings()
  const editions = await outdated.get(view.kb, view.audience, () => outdatedPages(view))
  return (page) => {
    const newEdition = editions.get(page.seqId)
    if (newEdition !== undefined) return { stale: true, newEdition }
    return isPastDate(page, verify, now) ? { stale: true } : {}
  }
}

/** The editions that pages which only cite their Source do not know, by seqId. */
async function outdatedPages(view: KbView): Promise<ReadonlyMap<string, string>> {
  const links = new LinkView(view)
  const pause = pauses()
  const editions = new Map<string, string>()
  for (const { seqId, source, position } of [...view.rows(renewedPages)]) {
    await pause()
    const linking = links.edgesTo(seqId, Number.POSITIVE_INFINITY).filter(({ type }) => type === 'cites')
    const naming = view.rows((sql) => pagesNaming(sql, seqId))
    for (const citing of [...linking.map((edge) => edge.source), ...Array.from(naming, (page) => page.seqId)]) {
      if (source <= (editions.get(citing) ?? '')) continue
      if (view.about(citing, (sql) => isUnchangedSince(sql, citing, position))) editions.set(citing, source)
    }
  }
  return editions
}
