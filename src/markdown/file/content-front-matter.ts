import { type Access, accessClass } from '../../rules/access/audience.ts'
import type { YamlMap } from '../yaml/yaml-value.ts'
import { withFrontMatter } from './foreign-front-matter.ts'
import { fileLayout, namesWhoSees, opensHidden, parseFrontMatter } from './front-matter.ts'
import { isSpelled, readNeuronFields, spelledKeys } from './neuron-fields.ts'

/** A content without the front matter that opened it; with it where not all of that can be read. */
export type OpenedContent = {
  content: string
  /** Its other keys, but for those of {@link reservedKeys}; empty where it has none. */
  data: YamlMap
  tags: string[]
  audience: string[] | undefined
  /** The reserved keys that were there. */
  dropped: string[]
  /** Whether some of it cannot be read, or it may say who sees the page in a way that cannot be. */
  isUnreadable: boolean
}

/** For people: what is wrong where {@link OpenedContent} is unreadable. */
export const unreadableHead = 'opens with front matter that may hide the page, of which some cannot be read'

/** What only the server gives a page, and what a sender says of its request, not of the page. */
const reservedKeys = ['seqId', 'id', 'candidate', 'sources', 'baseCommit', 'baseVersion', 'replaceTags'] as const

/** Blocks behind the first one that are looked at. */
const maxBlocks = 3

/** For people: what {@link narrowsBehind} finds. */
export const narrowedBehind =
  'The content opens with lines that may say who sees the page, and only the first front matter counts.'

/**
 * Reads a mapping that opens a content as front matter: YAML between `---` lines, or what {@link withFrontMatter} knows of other
 * tools. Any other content stays as it is: `---js`, a thematic break. One behind it is text, see {@link narrowsBehind}.
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
 * Whether what stands behind front matter opens with more of it, or with lines like it, that may hide the page from more readers.
 * Only the first block counts, so no door lets such a page pass as one that others see.
 */
export function narrowsBehind(body: string, head: Access, blocksLeft = maxBlocks): boolean {
  if (['internal', 'nobody'].includes(accessClass(head))) return false
  if (blocksLeft === 0) return true
  const { tags, audience, isUnreadable } = readContent(body, blocksLeft - 1)
  return isUnreadable || audience !== undefined || accessClass({ tags }) === 'internal'
}
