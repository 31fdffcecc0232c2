import { oneLine } from '../../../rules/text/lines.ts'
import { inlineText } from '../inline-text.ts'
import type { TitledPart } from '../parts/part-titles.ts'
import { linkableTitle } from '../titles/linkable-title.ts'
import type { DraftEdge, Statement } from './model-draft.ts'
import { modelHeadings, type ShownLine } from './model-lines.ts'
import { isNamedIn, isSupported } from './model-support.ts'

/** Text that a model was shown. */
export type ShownText = { lines: readonly ShownLine[]; parts: readonly TitledPart[]; title: string; language: string }

type Claim = { text: string; bullet?: boolean; lines: { from: number; to: number } }

/** Maximum number of claims of an answer that are checked; others are ignored. */
const maxClaims = 100
const maxClaim = 600
/** Maximum lines that a claim may cite: a claim that cites everything proves nothing. */
const maxCited = 12
const maxTitle = 100
const maxTag = 40
const maxTags = 3
const maxEdges = 8
const marker = /^(?:(?:[-+*>#]+|\d{1,3}[.)])\s+)+/

/** Returns the claims that the lines support, as plain text without duplicates, and their parts. */
export function supportedClaims(
  claims: readonly Claim[],
  shown: ShownText,
): { statements: Statement[]; parts: number[] } {
  const statements = new Map<string, Statement>()
  const parts = new Set<number>()
  for (const { text: written, bullet = false, lines } of claims.slice(0, maxClaims)) {
    const text = plainLine(written, maxClaim + 1)
    const { from, to } = lines
    if (text.length > maxClaim || from < 1 || to < from || to > shown.lines.length || to - from >= maxCited) continue
    const cited = shown.lines.slice(from - 1, to)
    const below = cited.flatMap(({ part }) => (part === undefined ? [] : [part]))
    const context = [shown.title, ...new Set(below.map((part) => modelHeadings(shown.parts[part])))].join('\n')
    const evidence = { cited: cited.map((line) => line.text), context, language: shown.language }
    if (!isSupported(text, evidence)) continue
    if (!statements.has(text)) statements.set(text, { text, isItem: bullet })
    for (const part of below) parts.add(part)
  }
  return { statements: [...statements.values()], parts: [...parts].sort((a, b) => a - b) }
}

/** Returns a title in words of the document that can be linked to, or an empty text if there is none. */
export function supportedTitle(written: string, shown: ShownText): string {
  const title = linkableTitle(plainLine(written, maxTitle))
  return isNamedIn(title, wholeText(shown), shown.language) ? title : ''
}

/** Returns the terms of the document as tags, except tags that decide who may read a page. */
export function supportedTags(tags: readonly string[], shown: ShownText): string[] {
  const text = wholeText(shown)
  const plain = tags.slice(0, maxClaims).map((tag) =>
    plainLine(tag, maxTag)
      .toLowerCase()
      .replace(/[\s_-]+/g, ' '),
  )
  const usable = plain.filter(
    (tag) =>
      /^[\p{L}\p{M}\p{N}]+(?: [\p{L}\p{M}\p{N}]+)*$/u.test(tag) &&
      tag !== 'internal' &&
      isNamedIn(tag, text, shown.language),
  )
  return [...new Set(usable)].slice(0, maxTags)
}

/** Returns the edges to something the document names, or to one of its own pages. */
export function supportedEdges(
  edges: readonly DraftEdge[],
  shown: ShownText,
  isOwn: (target: string) => boolean,
): DraftEdge[] {
  const text = wholeText(shown)
  return edges
    .slice(0, maxClaims)
    .map(({ type, target }) => ({ type, target: oneLine(target, maxClaim) }))
    .filter(({ target }) => isOwn(target) || isNamedIn(target, text, shown.language))
    .slice(0, maxEdges)
}

function plainLine(text: string, max: number): string {
  return oneLine(inlineText(text.slice(0, max * 4)), max).replace(marker, '')
}

function wholeText({ lines, parts, title }: ShownText): string {
  const headings = new Set(lines.map(({ part }) => modelHeadings(part === undefined ? undefined : parts[part])))
  return [title, ...headings, ...lines.map(({ text }) => inlineText(text))].join('\n')
}
