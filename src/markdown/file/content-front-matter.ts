import type { YamlMap } from '../yaml/yaml-value.ts'
import { fileLayout, namesWhoSees, parseFrontMatter } from './front-matter.ts'
import { isSpelled, readNeuronFields, spelledKeys } from './neuron-fields.ts'

/** A content without the front matter that opened it. */
export type OpenedContent = {
  content: string
  /** Its other keys, but for those of {@link reservedKeys}; empty where it has none. */
  data: YamlMap
  tags: string[]
  audience: string[] | undefined
  /** The reserved keys that were there. */
  dropped: string[]
  /** Whether it may say who sees the page in a way that cannot be read. */
  isUnreadable: boolean
}

/** For people: what is wrong where {@link OpenedContent} is unreadable. */
export const unreadableHead = 'opens with front matter that may hide the page and cannot be read'

/** What only the server gives a page. */
const reservedKeys = ['seqId', 'id', 'candidate', 'sources'] as const

/**
 * Reads a YAML mapping between `---` lines that opens a content as front matter. Any other content stays as it is: `---js`, a
 * thematic break, TOML.
 */
export function openContent(content: string): OpenedContent {
  const text = content.replace(/^\uFEFF?\s*\n(?=---[ \t]*\r?\n)/, '')
  const { data, body, bodyStart, problems, mended, mayHide } = parseFrontMatter(text)
  const isText = problems.length > 0 && problems.every(({ rule }) => rule === 'front-matter-not-a-map')
  const isMapping = fileLayout(text).kind === 'block' && (problems.length === 0 || mended !== undefined)
  if (!isMapping || isText || Object.keys(data).length === 0) {
    const rest = { data: Object.create(null), tags: [], audience: undefined, dropped: [] }
    return { content, ...rest, isUnreadable: mayHide && (!isText || namesWhoSees(text.slice(0, bodyStart))) }
  }
  const { fields, findings } = readNeuronFields(data)
  const isUnreadable = mayHide || findings.some(({ key }) => isSpelled('tags', key) || isSpelled('audience', key))
  const { tags, audience } = fields
  const dropped = reservedKeys.filter((key) => key in data)
  for (const key of [...dropped, ...spelledKeys(data, 'tags'), ...spelledKeys(data, 'audience')]) delete data[key]
  return { content: body.replace(/^\s*\n/, ''), data, tags, audience, dropped, isUnreadable }
}
