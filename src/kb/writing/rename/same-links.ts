import { isDeepStrictEqual } from 'node:util'
import type { NeuronFile } from '../../../markdown/file/neuron-file.ts'
import type { ParserPool } from '../../../markdown/pool/parser-pool.ts'
import { shownContent } from '../../../markdown/shown-content.ts'
import { type WrittenLink, writtenLinks } from '../../../rules/links/written-link.ts'

/**
 * True if a page still has the same links, in number and order, among those that `concerns` selects. If not, somebody may have adapted them
 * to the rename already, as editors do.
 * @param known the previous links of the page
 */
export async function hasSameLinks(
  parser: ParserPool,
  file: NeuronFile,
  known: readonly WrittenLink[],
  concerns: (link: WrittenLink) => boolean,
): Promise<boolean> {
  const { links } = await parser.links(shownContent(file))
  const written = writtenLinks({ edges: file.fields.edges, properties: file.propertyLinks }, links)
  const [before, after] = [known, written].map((all) => all.filter(concerns).map(({ target }) => target))
  return isDeepStrictEqual(before, after)
}
