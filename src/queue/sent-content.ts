import type { CandidateInput, Warning } from '../contract/candidates.ts'
import { openContent, unreadableHead } from '../markdown/file/content-front-matter.ts'
import { isInternal, narrowed } from '../rules/access/audience.ts'
import { parseMetadata, readMetadata, SentFields, unfitKeys } from '../rules/candidates/metadata.ts'
import type { KbSettings } from '../rules/kb-settings.ts'

/** Effective content and metadata of a candidate. */
type SentContent = {
  content: string
  metadata: string | null
  fields: ReturnType<typeof readMetadata>
  /** Warnings about differences from the sent content. */
  warnings: Warning[]
  /** True if front matter of the content is unreadable and may hide the page. */
  isUnreadable: boolean
}

export const unreadable = `The content ${unreadableHead}: a curator decides.`

/**
 * Splits off the front matter that opens a content. Its keys count as metadata unless the metadata has a key of that name. A tag that hides
 * the page always counts, and an audience can only narrow. Where some of it cannot be read, only curators see the page.
 */
export function splitFrontMatter(
  input: Pick<CandidateInput, 'content' | 'metadata'>,
  { defaultAudience }: Pick<KbSettings, 'defaultAudience'>,
): SentContent {
  const sent = parseMetadata(input.metadata)
  const { content, data, tags, dropped: reserved, isUnreadable, ...head } = openContent(input.content)
  const audience = isUnreadable ? [] : head.audience
  const { title: _, ...found } = data
  const unfit = unfitKeys(found)
  const dropped = [...reserved, ...unfit]
  const own = Object.fromEntries(Object.entries(found).filter(([key]) => !unfit.includes(key)))
  const { tags: sentTags = undefined } = sent.data
  const allTags =
    sentTags === undefined ? tags : [...readMetadata(sent.data).tags, ...tags.filter((tag) => isInternal([tag]))]
  const { audience: sentAudience } = readMetadata(sent.data)
  const wished = sentAudience ?? audience
  const kept = wished && narrowed(narrowed(wished, audience ?? wished), defaultAudience)
  const isNarrowed = wished?.some((name) => !kept?.includes(name)) ?? false
  const merged = { ...own, ...sent.data, ...(tags.length > 0 && { tags: allTags }), ...(kept && { audience: kept }) }
  const isSame = content === input.content && !isNarrowed && !isUnreadable
  const metadata = isSame ? sent.text : parseMetadata(merged).text
  const warnings: Warning[] = []
  if (dropped.length > 0) {
    const message = `The front matter of the content has keys that do not count there, or have no fitting value; they were dropped: ${dropped.join(', ')}.`
    warnings.push({ code: 'reserved_keys', message })
  }
  if (isNarrowed) {
    const message = `An audience only narrows who sees a page; of this one counts: ${kept?.join(', ') || 'nothing, so that only curators see it'}.`
    warnings.push({ code: 'audience_narrowed', message })
  }
  if (isUnreadable) warnings.push({ code: 'front_matter_unreadable', message: unreadable })
  return { content, metadata, fields: readMetadata(parseMetadata(metadata).data, SentFields), warnings, isUnreadable }
}
