import { isDeepStrictEqual } from 'node:util'
import type { NeuronFile } from '../../../markdown/file/neuron-file.ts'
import type { ParserPool } from '../../../markdown/pool/parser-pool.ts'
import { shownContent } from '../../../markdown/shown-content.ts'
import { type WrittenLink, writtenLinks } from '../../../rules/links/written-link.ts'

/**
 * Whether a page still has the same links, in number and order, as far as `concerns` picks them. If not, somebody may have adapted
 * them to the rename already, as editors do.
 * @param known the links of the page as it was
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
