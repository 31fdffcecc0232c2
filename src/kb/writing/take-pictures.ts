import { extractPictures } from '../../markdown/file/embedded-pictures.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { isBlocked } from '../projection/file-queries.ts'

/**
 * Extracts the pictures in the texts of pages that a curator brings or approves to files next to them, which the texts name. A page stays
 * as it is if main has a file in that place. Must run within a write.
 */
export async function takePictures<Page extends { path: string; text: string | null }>(
  { parser, projection }: Pick<KnowledgeBase, 'parser' | 'projection'>,
  pages: readonly Page[],
): Promise<{ pages: Page[]; files: Map<string, Buffer> }> {
  const files = new Map<string, Buffer>()
  const taken = await Promise.all(
    pages.map(async (page) => {
      if (page.text === null) return page
      const { text, pictures } = await extractPictures(parser, page.text)
      const folder = page.path.slice(0, page.path.lastIndexOf('/') + 1)
      const named = [...pictures].map(([name, bytes]) => [folder + name, bytes] as const)
      if (named.some(([path]) => isBlocked(projection.write, path, (own) => own === path))) return page
      for (const [path, bytes] of named) files.set(path, bytes)
      return { ...page, text }
    }),
  )
  return { pages: taken, files }
}
