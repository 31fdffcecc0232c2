import { setImmediate } from 'node:timers/promises'
import { linkKey } from '../../rules/links/link-target.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { Anchor, Extracted } from '../extracted.ts'
import { entitledSource } from './clean-source.ts'
import type { CompiledPage, PlaceInSource, Span } from './compiled.ts'
import { continueParts, doubtOfDocument, type OldPage, summaryKey } from './editions/continue-parts.ts'
import { gistOf } from './gist.ts'
import { escapeInline } from './inline-text.ts'
import { linkMentions, withoutForgedLinks } from './links/link-text.ts'
import { type LinkName, NameTrie } from './links/name-trie.ts'
import type { Draft } from './model/model-draft.ts'
import {
  draftTitle,
  EdgeTargets,
  listText,
  statementsText,
  type WrittenPart,
  writtenParts,
} from './model/model-pages.ts'
import { type CountedWords, pageWordsFor } from './page-words.ts'
import { type TitledPart, titleParts } from './parts/part-titles.ts'
import { type PlannedPart, planParts } from './parts/plan-parts.ts'
import { pageText, proseOf, type SourceBlock, sizeOf } from './source-blocks.ts'
import { termsOf } from './terms.ts'
import { languageOf, sourceStopWords, sourceWords } from './words.ts'

type Summary = {
  filename: string
  /** Sentences as plain text. */
  gist: readonly string[]
  /** Markdown of the text before the first section. */
  opening: string
  parts: readonly TitledPart[]
  /** Number of parts before the maximum was applied. */
  found: number
  figures: { words: number; pages: number; slides: number; sheets: number }
}

export type CompileInput = {
  extracted: Extracted
  filename: string
  /** Tags given with the upload. */
  tags: readonly string[]
  /** Language of the knowledge base, as a BCP 47 tag. */
  language: string
  /** Names by which texts may mention other Neurons of the knowledge base. */
  names: readonly LinkName[]
  /** The pages of earlier editions, in their order. If the same file is compiled again, its own pages are among them. */
  previous?: readonly OldPage[]
  /** Reasons, in words, why a curator must decide on all its pages. */
  doubts?: readonly string[]
}

/** Draft that a language model wrote of the document, and a notice for the summary. */
export type Writing = { draft?: Draft; notice?: string }

type Judged = Pick<CompiledPage, 'edges' | 'doubts' | 'isUncertain'>

export type DocumentPlan = {
  title: string
  blocks: SourceBlock[]
  /** The blocks before the first part; all blocks if one page is enough. */
  preamble: SourceBlock[]
  parts: TitledPart[]
  /** Number of parts if it were unlimited. */
  found: number
}

/** Maximum characters of a document that becomes one page. */
const maxSinglePage = 6000
/** Maximum characters of a document that are used to detect its language. */
const maxSample = 100_000
/** UTF-16 units of a heading that a title contains at least. */
const maxShown = 90
/** Number of pages after which the event loop gets a turn. */
const turn = 8

/**
 * Compiles a document into pages; deterministic. A small document becomes a single page. A larger one becomes a summary (its best
 * sentences, the text before its first section, an outline) and a page for each section that is large enough. Takes time linear
 * in the text, and yields to the event loop now and then. The text of a draft replaces that of its parts.
 */
export async function compileDocument(
  input: CompileInput,
  { draft, notice = '' }: Writing = {},
): Promise<CompiledPage[]> {
  const { extracted, filename, language, previous = [], doubts = [] } = input
  const plan = planDocument(input)
  const { blocks, preamble } = plan
  const taken = takenBy(input.names)
  const title = draft === undefined ? plan.title : draftTitle(draft, plan, taken)
  const drafted = draft === undefined ? plan.parts : writtenParts(plan.parts, draft, title, taken)
  const parts = await continueParts(drafted, drafted.map(textOf), previous, { title, taken })
  const found = plan.found - plan.parts.length + parts.length
  await setImmediate()

  const head = { name: title, text: proseOf(preamble) }
  const texts = [head, ...parts.map((part) => ({ name: part.title, text: proseOf(part.blocks) }))]
  const stopWords = sourceStopWords(textLanguage(texts, language))
  const terms = termsOf(texts, stopWords)
  await setImmediate()

  const words = pageWordsFor(language)
  const names = new NameTrie([...input.names, ...siblingNames(parts)], stopWords)
  const linked = (text: string, own: readonly string[]) =>
    linkMentions(withoutForgedLinks(text, isMarkdown(filename)), names, new Set([title, ...own].map(linkKey)))
  const targets = new EdgeTargets(input.names, title, parts)
  const judged = (drafted: Draft['edges'] = [], from = title, doubt?: string): Judged => {
    const edges = targets.resolve(drafted, from)
    const all = [...(doubt === undefined ? [] : [doubt]), ...doubts, ...targets.doubtsOf(edges)]
    return {
      ...(edges.length > 0 && { edges }),
      ...(all.length > 0 && { doubts: all }),
      ...(doubt !== undefined && { isUncertain: true }),
    }
  }
  const opening = linked(pageText(preamble), [])
  const summary: CompiledPage = {
    key: summaryKey,
    kind: 'summary',
    title,
    content: opening,
    tags: joinTags(input.tags, draft?.tags.length ? draft.tags : terms.document),
    ...judged(draft?.edges, title, await doubtOfDocument(pageText(blocks), previous)),
    place: anchoredPlace(extracted.anchors, 1, lastLine(blocks)),
  }
  if (parts.length === 0) {
    summary.content = paragraphs(listText(draft?.gist ?? []), opening, notice)
    return [summary]
  }

  const gist = draft?.gist.length ? draft.gist : gistOf(blocks, language, stopWords)
  const count = texts.reduce((sum, { text }) => sum + sourceWords(text, language).length, 0)
  const figures = { ...extentOf(extracted.anchors), words: count }
  const file = oneLine(filename, filename.length)
  summary.content = paragraphs(summaryText({ filename: file, gist, opening, parts, found, figures }, words), notice)
  const pages = [summary]
  for (const [index, part] of parts.entries()) {
    if (index % turn === 0) await setImmediate()
    const place = anchoredPlace(extracted.anchors, part.line, lastLine(part.blocks))
    const { key, written, doubt } = part
    const origin = words.from(`[[${title}]]`, words.place(place))
    const content = paragraphs(linked(textOf(part), [part.title]), origin)
    const tags = joinTags(input.tags, written?.tags.length ? written.tags : (terms.own[index + 1] ?? []))
    const more = judged(written?.edges, part.title, doubt)
    pages.push({ key, part: part.part, kind: 'part', title: part.title, content, tags, ...more, place })
  }
  return pages
}

/**
 * Plans the title and the parts of a document. The plan depends on the document alone, except that titles of Neurons of another origin are
 * avoided.
 */
export function planDocument({
  extracted,
  filename,
  names,
}: Pick<CompileInput, 'extracted' | 'filename' | 'names'>): DocumentPlan {
  const taken = takenBy(names)
  const { title, blocks } = entitledSource(extracted, filename, taken)
  return { title, blocks, ...partsOf(blocks, title, taken) }
}

function takenBy(names: readonly LinkName[]): Set<string> {
  return new Set(names.map(({ name }) => linkKey(name)))
}

function lastLine(blocks: readonly SourceBlock[]): number {
  return blocks.reduce((last, { line, lines }) => Math.max(last, line + lines.length - 1), 1)
}

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

function partsOf(
  blocks: SourceBlock[],
  title: string,
  taken: ReadonlySet<string>,
): { preamble: SourceBlock[]; parts: TitledPart[]; found: number } {
  const whole = { preamble: blocks, parts: [], found: 0 }
  if (sizeOf(blocks) <= maxSinglePage) return whole
  const { parts, ...plan } = planParts(blocks)
  if (parts.length > 1) return { ...plan, parts: titleParts(parts, title, taken) }
  // Uses the blocks of the plan, which left out some, not all blocks of the document.
  const kept = parts.flatMap((part) => [...(part.heading ? [part.heading] : []), ...part.blocks])
  return { ...whole, preamble: [...plan.preamble, ...kept] }
}

function textOf(part: WrittenPart): string {
  return part.written === undefined ? pageText(shownBlocks(part)) : statementsText(part.written.statements)
}

/** Returns the blocks of a part, with its heading if the title does not show all of it. */
function shownBlocks({ heading, blocks }: PlannedPart): SourceBlock[] {
  const line = heading?.lines[0] ?? ''
  return heading && (line.length > maxShown || line.includes('](')) ? [heading, ...blocks] : blocks
}

/** Returns the titles of the document's own parts, except single words, which could mean anything. */
function siblingNames(parts: readonly TitledPart[]): LinkName[] {
  return parts.flatMap(({ title }) => (title.includes(' ') ? { name: title, title } : []))
}

function textLanguage(texts: readonly { text: string }[], fallback: string): string {
  let sample = ''
  for (const { text } of texts) if (sample.length < maxSample) sample += `${text.slice(0, maxSample)}\n`
  return languageOf(sourceWords(sample, fallback), fallback)
}

/** Whether a file is notes, which may contain wiki links. In other formats brackets are plain text. */
function isMarkdown(filename: string): boolean {
  return /\.(?:md|markdown|txt)$/i.test(filename)
}

/** Returns the tags of the upload, then terms as tags, without duplicates. */
function joinTags(tags: readonly string[], terms: readonly string[]): string[] {
  const joined = new Map<string, string>()
  for (const tag of [...tags, ...terms.map((term) => term.replaceAll(' ', '-'))]) {
    if (!joined.has(tagKey(tag))) joined.set(tagKey(tag), tag)
  }
  return [...joined.values()]
}

/**
 * Returns the place in the original of a range of lines (1-based); empty if there is no anchor at or before the first. Anchors
 * must be in the order of their lines.
 */
function anchoredPlace(anchors: readonly Anchor[], first: number, last: number): PlaceInSource {
  const begin = anchors.findLast(({ line }) => line <= first)
  const end = anchors.findLast(({ line }) => line <= last)
  return {
    ...spanOf('pages', begin?.page, end?.page),
    ...spanOf('slides', begin?.slide, end?.slide),
    ...(begin?.sheet !== undefined && { sheet: begin.sheet }),
    ...(begin?.time !== undefined && { time: begin.time }),
  }
}

function spanOf(name: 'pages' | 'slides', first: number | undefined, last = first): { [name: string]: Span } {
  return first === undefined || last === undefined ? {} : { [name]: [first, Math.max(first, last)] }
}

/** Counts the pages, slides and sheets that anchors name. */
function extentOf(anchors: readonly Anchor[]): { pages: number; slides: number; sheets: number } {
  let [pages, slides] = [0, 0]
  const sheets = new Set<string>()
  for (const { page = 0, slide = 0, sheet } of anchors) {
    pages = Math.max(pages, page)
    slides = Math.max(slides, slide)
    if (sheet !== undefined) sheets.add(sheet)
  }
  return { pages, slides, sheets: sheets.size }
}

/** Returns the Markdown of a document's summary: its best sentences, its opening, its parts, its figures. */
function summaryText({ filename, gist, opening, parts, found, figures }: Summary, words: CountedWords): string {
  return [
    gist.map((sentence) => `- ${escapeInline(sentence)}`).join('\n'),
    opening,
    `## ${words.contents}`,
    outlineOf(parts),
    found > parts.length ? words.joined(found, parts.length) : '',
    words.figures(escapeInline(filename), { ...figures, parts: parts.length }),
  ]
    .filter((text) => text !== '')
    .join('\n\n')
}

/** Returns the parts as a nested list of wiki links, below the sections that contain them. */
function outlineOf(parts: readonly TitledPart[]): string {
  const lines: string[] = []
  let open: string[] = []
  for (const { path, name, title } of parts) {
    const parted = path.findIndex((section, depth) => open[depth] !== section)
    for (const [depth, section] of path.entries()) {
      if (parted >= 0 && depth >= parted) lines.push(`${'  '.repeat(depth)}- ${escapeInline(section)}`)
    }
    lines.push(`${'  '.repeat(path.length)}- [[${title}]]`)
    open = name === undefined ? path : [...path, name]
  }
  return lines.join('\n')
}
