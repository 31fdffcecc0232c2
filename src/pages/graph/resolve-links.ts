import type { Neuron } from '../../contract/neurons.ts'
import { openView } from '../../kb/access/kb-view.ts'
import { LinkView } from '../../kb/access/link-view.ts'
import type { Context } from '../../kb/context.ts'
import { effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { WrittenLink } from '../../rules/links/written-link.ts'
import { pauses } from '../../system/pauses.ts'

type Shown = Pick<Neuron, 'links' | 'unresolved'>

/** Maximum number of Neurons listed for an ambiguous link. */
const maxCandidates = 10

/**
 * Resolves a Neuron's links for a caller, in order: those that lead to one Neuron, each once, and those that lead to none or to several. A
 * link to a file that is no Neuron is neither, if the caller may read the file; otherwise it leads to none. An edge leads to Neurons only.
 * @param options the links of the page at `path`, and the files that they name and that the caller may read
 */
export async function resolveLinks(
  ctx: Context,
  caller: Caller,
  own: LinkView,
  { written, path, files = [] }: { written: readonly WrittenLink[]; path: string; files?: Neuron['files'] },
): Promise<Shown> {
  const readable = new Set(files.map(({ target }) => target))
  const isCurator = effectiveAudience(caller) === 'curator'
  const views = await viewsOf(ctx, caller, own, new Set(written.map(({ kb }) => kb)))
  const links = new Map<string, Shown['links'][number]>()
  const unresolved: Shown['unresolved'] = []
  const pause = pauses()
  for (const { form, type, kb, target, line } of written) {
    await pause()
    const view = views.get(kb)
    // The page is in no folder of another knowledge base.
    const meaning = view?.resolve({ target, form, from: view === own ? path : '' }) ?? { missing: true }
    if ('seqId' in meaning) {
      const { slug } = view?.identity ?? own.identity
      const link = { type, target: meaning.seqId, ...(view === own ? {} : { kb: slug }) }
      links.set(JSON.stringify(link), link)
    } else if (!('file' in meaning && (isCurator || (kb === null && readable.has(target)))) || form === 'edge') {
      const reason =
        'ambiguous' in meaning
          ? ({ reason: 'ambiguous', candidates: meaning.ambiguous.slice(0, maxCandidates) } as const)
          : ({ reason: 'missing' } as const)
      unresolved.push({ type, target, ...(kb === null ? {} : { kb }), ...reason, line })
    }
  }
  return { links: [...links.values()], unresolved }
}

/** Opens the tenant's knowledge bases that links name, each as the caller sees it; `null` is the page's own. */
export async function viewsOf(
  ctx: Context,
  caller: Caller,
  own: LinkView,
  names: ReadonlySet<string | null>,
): Promise<Map<string | null, LinkView>> {
  const views = new Map<string | null, LinkView>()
  for (const name of names) {
    if (own.isOwn(name)) views.set(name, own)
    // A knowledge base that does not exist, or cannot be opened now, must not fail the page.
    const other =
      name === null || own.isOwn(name) ? undefined : await openView(ctx, caller, name).catch(() => undefined)
    if (other !== undefined) views.set(name, new LinkView(other))
  }
  return views
}
