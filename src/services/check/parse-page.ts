import type { CheckedFile, CheckedNeuron } from '../../knowledge/checked-file.ts'
import { parseNeuronFile } from '../../markdown/neuron-file.ts'
import type { ParsedLinks, ParserPool } from '../../markdown/parser-pool.ts'

/** What the check looks at in a page: its front matter, its links, and what is wrong with the text itself. */
export async function parsePage(
  text: string,
  parser: ParserPool,
): Promise<Required<Pick<CheckedFile, 'neuron' | 'links'>>> {
  const { fields, content, contentLine, findings } = parseNeuronFile(text)
  const { links, flag } = await parser.links(content)
  return { neuron: { fields, content, contentLine, findings: [...findings, ...unparsed(flag, contentLine)] }, links }
}

function unparsed(flag: ParsedLinks['flag'], line: number): CheckedNeuron['findings'] {
  if (flag === undefined) return []
  const problem = flag === 'too-slow' ? 'takes too long to parse' : 'cannot be parsed'
  return [{ rule: 'unparsed', severity: 'warning', line, message: `The Markdown ${problem}: its links are not seen.` }]
}
