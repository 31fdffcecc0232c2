import { openContent, unreadableHead } from '../../markdown/file/content-front-matter.ts'
import { parseFrontMatter } from '../../markdown/file/front-matter.ts'
import type { Extracted } from '../extracted.ts'

type Opened = Required<Pick<Extracted, 'title' | 'warnings' | 'doubts'>> & Pick<Extracted, 'tags' | 'audience'>

/** A document's text without the front matter that opens it, and what that says: title, tags and audience. */
export function openDocument(text: string, doubts: readonly string[]): { content: string; head: Opened } {
  const { content, data, tags, audience, isUnreadable } = openContent(text)
  const { problems } = content === text ? { problems: [] } : parseFrontMatter(text)
  const seenBy = isUnreadable ? [] : audience
  const head = {
    title: typeof data.title === 'string' ? data.title : undefined,
    warnings: problems.map(({ message, line }) => `Front matter, line ${line}: ${message}`),
    doubts: [...doubts, ...(isUnreadable ? [`The document ${unreadableHead}.`] : [])],
    ...(tags.length > 0 && { tags }),
    ...(seenBy && { audience: seenBy }),
  }
  return { content, head }
}
