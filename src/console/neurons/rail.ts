import type { AppContext } from '../../app/open-context.ts'
import { neuronPage, tagPage, treePage } from '../../contract/console-paths.ts'
import { undefinedOn } from '../../contract/errors.ts'
import type { Neuron } from '../../contract/neurons.ts'
import { countedTags } from '../../pages/read-tags.ts'
import { readTree, type TreeEntry, type TreePage } from '../../pages/read-tree.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { type Html, html, icon } from '../layout/html-template.ts'
import type { PageKb } from '../layout/page.ts'

/** Maximum number of entries of a folder, and of tags. Their pages list all. */
const most = { entries: 40, tags: 8 }

/** Place of a page in the tree: its folders, outermost first, and the Neuron that it shows, or else the last folder. */
type Place = { folders: readonly string[]; neuron?: Pick<Neuron, 'seqId' | 'title'> }

/** Renders the tree of a knowledge base with the folders of one page open, and its most used tags, for the sidebar. */
export async function kbRail(ctx: AppContext, caller: Caller, kb: string, { folders, neuron }: Place): Promise<Html> {
  const levels: TreePage[] = []
  for (let depth = 0; depth <= folders.length; depth++) {
    const folder = folders.slice(0, depth).join('/')
    // The folder of an old version may no longer exist.
    const level = await readTree(ctx, caller, kb, { folder, limit: most.entries }).catch(undefinedOn('not_found'))
    if (level === undefined) break
    levels.push(level)
  }
  const tags = await countedTags(await ctx.readableKb(caller.tenantId, kb), caller)
  const used = tags.toSorted((one, other) => other.count - one.count).slice(0, most.tags)
  const slug = levels[0]?.kb.slug ?? kb
  return html`<nav class="rail-tree" aria-label="Tree"><strong class="rail-title">Tree</strong>${branch(levels, neuron)}</nav>
    ${
      used.length > 0 &&
      html`<nav aria-label="Most used tags"><strong class="rail-title">Tags</strong><ul class="tags">
        ${used.map(({ tag }) => html`<li><a class="badge" href="${tagPage(slug, tag)}" dir="auto">${tag}</a></li>`)}</ul></nav>`
    }`
}

function branch([level, ...deeper]: readonly TreePage[], neuron: Place['neuron']): Html | undefined {
  if (level === undefined) return undefined
  const { kb, folder, entries, nextCursor } = level
  const open = deeper[0]?.folder
  const isHere = (path: string) => neuron === undefined && deeper.length === 1 && path === open
  // Sorts by what is shown: file names may end in random characters.
  const shown = (entry: TreeEntry) => (entry.kind === 'folder' ? `0 ${entry.name}` : `1 ${entry.title} ${entry.seqId}`)
  // The page itself may be beyond the first entries of its folder.
  const isCut = neuron !== undefined && deeper.length === 0 && nextCursor !== null
  const isMissing = isCut && !entries.some((entry) => isOf(entry, neuron))
  const all = isMissing ? [...entries, { kind: 'page' as const, name: '', ...neuron }] : entries
  const inOrder = all.toSorted((one, other) => (shown(one) < shown(other) ? -1 : 1))
  return html`<ul>${inOrder.map((entry) =>
    entry.kind === 'folder'
      ? html`<li><a href="${treePage(kb.slug, entry.path)}"${isHere(entry.path) && html` aria-current="true"`}>${icon(entry.path === open ? 'chevron-down' : 'chevron-right')} <bdi>${entry.name}</bdi></a>
        ${entry.path === open && branch(deeper, neuron)}</li>`
      : html`<li><a class="page" href="${neuronPage(kb.slug, entry.seqId)}"${isOf(entry, neuron) && html` aria-current="page"`}><bdi>${entry.title}</bdi></a></li>`,
  )}
  ${nextCursor !== null && html`<li><a href="${treePage(kb.slug, folder)}">More…</a></li>`}</ul>`
}

function isOf(entry: TreeEntry, neuron: Place['neuron']): boolean {
  return entry.kind === 'page' && entry.seqId === neuron?.seqId
}

export function foldersOf(path: string): string[] {
  return path.split('/').slice(1, -1)
}

/** Renders the knowledge base and the folders above a page or folder, each as a link. */
export function crumbs(kb: PageKb, folders: readonly string[]): Html {
  return html`<nav class="crumbs" aria-label="Folders"><ol>
    <li><a href="${treePage(kb.slug, '')}" dir="auto">${kb.title}</a></li>
    ${folders.map(
      (name, at) =>
        html`<li><a href="${treePage(kb.slug, folders.slice(0, at + 1).join('/'))}" dir="auto">${name}</a></li>`,
    )}
  </ol></nav>`
}
