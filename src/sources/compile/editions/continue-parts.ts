import { linkKey } from '../../../rules/links/link-target.ts'
import { uniqueSlug } from '../../../rules/paths/slug.ts'
import type { WrittenPart } from '../model/model-pages.ts'
import { countedTitle, titleChoices, uniqueTitle } from '../parts/part-titles.ts'
import { matchSections, type OldSection } from './match-sections.ts'
import { overlapsOf } from './overlaps.ts'

/** Page that an earlier edition of the document became. */
export type OldPage = OldSection & {
  /** Key of the page, see `CompiledPage`. */
  key: string
  title: string
  /** Part that it was made from, if its file had the same bytes. */
  part?: string | undefined
}

/** Part that becomes a page. `part`: its own name in its document, whatever earlier editions had. */
export type ContinuedPart = WrittenPart & { part: string; doubt?: string }

type Document = {
  title: string
  /** Titles that its parts must not have, as returned by `linkKey`. */
  taken: ReadonlySet<string>
}

export const summaryKey = 'summary'
/** Maximum bytes of a key. */
const maxKey = 300
/** Minimum resemblance or containment for a document to be the next edition of another. */
const [leastResemblance, leastContainment] = [0.1, 0.3]
const count = / \((\d+)\)$/

/**
 * Gives each part the key of the page that it continues, and that page's title if the document still has it. Other parts get a key and a
 * title that no page ever had. `texts` are the texts of the parts, in Markdown; `olds` are in the order of their document.
 */
export async function continueParts(
  parts: readonly WrittenPart[],
  texts: readonly string[],
  olds: readonly OldPage[],
  { title: document, taken }: Document,
): Promise<ContinuedPart[]> {
  const sections = olds.filter(({ key }) => key !== summaryKey)
  if (sections.length === 0) return parts.map((part) => ({ ...part, part: part.key }))
  const choices = parts.map(({ base, path }) => new Set(titleChoices(base, path, document).map(linkKey)))
  const isNamed = (section: number, title: string) =>
    [title, title.replace(count, '')].some((name) => choices[section]?.has(linkKey(name)))
  const matches = await matchSections(sections, texts, (section, old) => {
    const { part, title = '' } = sections[old] ?? {}
    return part === parts[section]?.key ? 'sure' : isNamed(section, title)
  })
  const kept = matches.map((match, section) => {
    const title = match && sections[match.old]?.title
    return title !== undefined && isNamed(section, title) ? title : undefined
  })
  const continued = new Set(matches.map((match) => match?.old))
  // A page whose removal is pending still has its title.
  const waiting = sections.filter(({ isGone }, old) => !isGone && !continued.has(old))
  const titles = new Set([...taken, linkKey(document), ...waiting.map(({ title }) => linkKey(title))])
  for (const [section, title] of kept.entries()) {
    if (title === undefined) continue
    if (titles.has(linkKey(title))) kept[section] = undefined
    else titles.add(linkKey(title))
  }
  const keys = new Set([summaryKey, ...olds.map(({ key }) => key)])
  return parts.map((part, section) => {
    const match = matches[section]
    const key = match === undefined ? uniqueSlug(part.key, (slug) => keys.has(slug), maxKey) : sections[match.old]?.key
    keys.add(key ?? '')
    const title = kept[section] ?? freeTitle(part, document, titles)
    const doubt = match?.doubt === undefined ? {} : { doubt: match.doubt }
    return { ...part, part: part.key, key: key ?? part.key, title, ...doubt }
  })
}

/**
 * Returns the reason why a curator must check whether a document is the next edition of the previous one. Undefined if it is, or if
 * there is no previous one.
 */
export async function doubtOfDocument(text: string, olds: readonly OldPage[]): Promise<string | undefined> {
  const before = olds.filter(({ isGone }) => !isGone).map((page) => page.text)
  if (before.length === 0) return undefined
  const [[overlap] = []] = await overlapsOf([before.join('\n\n')], [text])
  const { resemblance = 0, containment = 0 } = overlap ?? {}
  if (resemblance >= leastResemblance || containment >= leastContainment) return undefined
  return `Only ${Math.round(resemblance * 100)} % of what this document and the one before it say is the same: it may be another.`
}

function freeTitle({ title, base, path, piece = 1 }: WrittenPart, document: string, titles: Set<string>): string {
  if (!titles.has(linkKey(title))) {
    titles.add(linkKey(title))
    return title
  }
  const free = piece === 1 ? uniqueTitle(base, path, document, titles) : document
  return free === document ? countedTitle(title.replace(count, ''), titles, piece) : free
}
