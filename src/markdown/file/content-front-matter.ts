import { type Access, accessClass } from '../../rules/access/audience.ts'
import type { YamlMap } from '../yaml/yaml.ts'
import { withFrontMatter } from './foreign-front-matter.ts'
import { fileLayout, namesWhoSees, opensHidden, parseFrontMatter } from './front-matter.ts'
import { isSpelled, readNeuronFields, spelledKeys } from './neuron-fields.ts'

/** Content split into its opening front matter and the rest. Front matter that cannot be read completely stays in the content. */
export type OpenedContent = {
  content: string
  /** Remaining keys of the front matter, without {@link reservedKeys}. */
  data: YamlMap
  tags: string[]
  audience: string[] | undefined
  /** Reserved keys that were removed. */
  dropped: string[]
  /** True if a part cannot be read, or may restrict the page's readers in a way that cannot be read. */
  isUnreadable: boolean
}

/** Message for people about front matter that cannot be read, see {@link OpenedContent}. */
export const unreadableHead = 'opens with front matter that may hide the page, of which some cannot be read'

/** Keys that only the server sets, and keys that describe a request rather than the page. */
const reservedKeys = [
  ...(['seqId', 'id', 'candidate', 'sources'] as const),
  ...(['baseCommit', 'baseVersion', 'replaceTags', 'onBehalfOf', 'connector'] as const),
]

/** Maximum number of blocks after the first one that are examined. */
const maxBlocks = 3

/** Message for people about the result of {@link narrowsBehind}. */
export const narrowedBehind =
  'The content opens with lines that may say who sees the page, and only the first front matter counts.'

/**
 * Parses a mapping that opens a content as front matter: YAML between `---` lines, or a format of {@link withFrontMatter}. Other content
 * stays unchanged: `---js`, a thematic break. A second block is text, see {@link narrowsBehind}.
 */
export function openContent(content: string): OpenedContent {
  return readContent(content, maxBlocks)
}

function readContent(content: string, blocksLeft: number): OpenedContent {
  const text = withFrontMatter(content)
  const { data, body, bodyStart, problems, mended, mayHide, isCut = false } = parseFrontMatter(text)
  const isText = problems.length > 0 && problems.every(({ rule }) => rule === 'front-matter-not-a-map')
  const isMapping = fileLayout(text).kind === 'block' && (problems.length === 0 || mended !== undefined)
  if (!isMapping || isText || Object.keys(data).length === 0) {
    const head = text.slice(0, bodyStart)
    const isUnreadable = mayHide && (!isText || namesWhoSees(head) || opensHidden(head))
    const audience = isUnreadable ? [] : undefined
    return { content, data: Object.create(null), tags: [], audience, dropped: [], isUnreadable }
  }
  const { fields, findings } = readNeuronFields(data)
  const { tags, audience } = fields
  const isUnreadable =
    mayHide ||
    isCut ||
    findings.some(({ key }) => isSpelled('tags', key) || isSpelled('audience', key)) ||
    narrowsBehind(body, { tags, audience }, blocksLeft)
  const dropped = reservedKeys.filter((key) => key in data)
  for (const key of [...dropped, ...spelledKeys(data, 'tags'), ...spelledKeys(data, 'audience')]) delete data[key]
  return { content: isUnreadable ? content : body.replace(/^\s*\n/, ''), data, tags, audience, dropped, isUnreadable }
}

/**
 * True if the text after front matter begins with another block, or lines like one, that may restrict the readers further. Only the first
 * block takes effect, so such a page must be rejected rather than shown to others.
 */
export function narrowsBehind(body: string, head: Access, blocksLeft = maxBlocks): boolean {
  if (['internal', 'nobody'].includes(accessClass(head))) return false
  if (blocksLeft === 0) return true
  const { tags, audience, isUnreadable } = readContent(body, blocksLeft - 1)
  return isUnreadable || audience !== undefined || accessClass({ tags }) === 'internal'
}
