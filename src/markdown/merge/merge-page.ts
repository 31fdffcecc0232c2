import { type Merge, mergeText } from '../../rules/neurons/merge.ts'
import { fileLayout } from '../file/front-matter.ts'
import { FrontMatterError } from '../file/front-matter-edit.ts'
import { editNeuron, parseNeuronFile } from '../file/neuron-file.ts'
import type { Versions } from './merge-fields.ts'
import { mergeBlocks } from './merge-front-matter.ts'

/**
 * Three-way merge of pages: front matter by keys, as in `mergeBlocks`, and content by lines. Line numbers of conflicts refer to the current
 * file. Merges by lines alone if front matter cannot be parsed.
 */
export function mergePages({ base, current, proposed }: Versions<string>): Merge {
  if (current === proposed || base === proposed) return { text: current }
  if (base === current) return { text: proposed }
  const pages = { base: partsOf(base), current: partsOf(current), proposed: partsOf(proposed) }
  const { contentLine, body } = pages.current
  const block = mergeBlocks(
    { base: pages.base.block, current: pages.current.block, proposed: pages.proposed.block },
    new Set(),
  )
  const content = mergeText(pages.base.content, pages.current.content, pages.proposed.content)
  if ('text' in block && 'text' in content) {
    try {
      return { text: editNeuron(block.text + body, {}, content.text) }
    } catch (error) {
      if (!(error instanceof FrontMatterError)) throw error
      return mergeText(base, current, proposed)
    }
  }
  const inContent = 'text' in content ? [] : content.conflicts
  return {
    conflicts: [
      ...('text' in block ? [] : block.conflicts),
      ...inContent.map((conflict) => ({ ...conflict, line: conflict.line + contentLine - 1 })),
    ],
  }
}

function partsOf(page: string) {
  const { bodyStart } = fileLayout(page)
  const { content, contentLine } = parseNeuronFile(page)
  return { block: page.slice(0, bodyStart), body: page.slice(bodyStart), content, contentLine }
}
