import { isUtf8 } from 'node:buffer'
import { maxTestFileBytes } from '../../contract/answer-tests.ts'
import { narrowedBehind, narrowsBehind } from '../../markdown/file/content-front-matter.ts'
import { type NeuronFile, parseNeuronFile, shownContent } from '../../markdown/file/neuron-file.ts'
import { isTestPath, parseTestFile } from '../../markdown/file/test-file.ts'
import { inlineTags } from '../../markdown/inline-tags.ts'
import { maxLinks } from '../../markdown/links/links.ts'
import { linksToOwnPlaces } from '../../markdown/links/pattern-links.ts'
import { ownTitle } from '../../markdown/neuron-title.ts'
import type { ParseFlag, ParserPool } from '../../markdown/pool/parser-pool.ts'
import { isInternal } from '../../rules/access/audience.ts'
import { checkContent, checkPageText, hasCheckedContent } from '../../rules/check/check-content.ts'
import type { CheckedFile, CheckedNeuron } from '../../rules/check/checked-file.ts'
import { placeKeys } from '../../rules/links/headings.ts'

const asText = 'a part is searched as it is written, and its links are found by their pattern.'
const problems: Readonly<Record<ParseFlag, string>> = {
  'too-complex': `The Markdown is too complex to parse: ${asText}`,
  'too-many-links': `The page has more than ${maxLinks} links: those from here on do not count.`,
  'too-slow': `The Markdown takes too long to parse: ${asText}`,
  failed: `The Markdown cannot be parsed: ${asText}`,
}

/** Parses the parts of a page that are checked: front matter, links, and findings about the text itself. */
export async function parsePushedPage(
  text: string,
  parser: ParserPool,
): Promise<Required<Pick<CheckedFile, 'neuron' | 'links'>>> {
  const { extra, ...file } = parsePageFile(text)
  const { fields, content, contentLine, findings } = file
  const shown = shownContent({ content, extra })
  const { links, flag, cutAt = 1 } = await parser.links(shown)
  const internal = inlineTags(shown).find(({ tag }) => isInternal([tag]))
  const tagged = internal === undefined ? {} : { internalTagLine: contentLine + internal.line - 1 }
  const title = ownTitle(fields, content)
  const places = placeKeys(content)
  const all = [...findings, ...unparsed(flag, contentLine + cutAt - 1)]
  return { neuron: { ...file, title, places, ownPlaces: linksToOwnPlaces(shown), ...tagged, findings: all }, links }
}

/** Parses a Neuron's file. It is an error if the content sets who sees the page and the front matter does not. */
function parsePageFile(text: string): NeuronFile {
  const file = parseNeuronFile(text)
  const { fields, content, contentLine: line, findings } = file
  if (!narrowsBehind(content, fields)) return file
  const message = `${narrowedBehind} Say it in the front matter.`
  return { ...file, findings: [...findings, { rule: 'front-matter-unread', severity: 'error', line, message }] }
}

/** Parses a page from its bytes, which may not be text. */
export async function parsePageBytes(bytes: Buffer, parser: ParserPool): ReturnType<typeof parsePushedPage> {
  const text = bytes.toString('utf8')
  const { neuron, links } = await parsePushedPage(text, parser)
  return { neuron: { ...neuron, findings: [...neuron.findings, ...textFindings(bytes, text)] }, links }
}

/** Returns findings about the text of a page as a whole, or about bytes that are not text. */
function textFindings(bytes: Buffer, text: string): CheckedNeuron['findings'] {
  if (isUtf8(bytes) && !text.includes('\0')) return checkPageText(text)
  const line = text.slice(0, text.search(/[\0\ufffd]/)).split('\n').length
  return [{ rule: 'encoding', severity: 'error', line, message: 'The file is not UTF-8 text.' }]
}

function unparsed(flag: ParseFlag | undefined, line: number): CheckedNeuron['findings'] {
  if (flag === undefined) return []
  const rule = flag === 'too-many-links' ? flag : 'unparsed'
  return [{ rule, severity: 'warning', line, message: problems[flag] }]
}

/** True if the content of a file that is no page is checked. */
export function isReadByCheck(file: { path: string; size: number }): boolean {
  return hasCheckedContent(file) || (isTestPath(file.path) && file.size <= maxTestFileBytes)
}

/** Returns the findings about the text of a file that is no page. */
export function checkOtherFile(path: string, text: string): NonNullable<CheckedFile['findings']> {
  return [...checkContent(path, text), ...(isTestPath(path) ? parseTestFile(text).findings : [])]
}
