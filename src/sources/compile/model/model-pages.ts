import { linkKey } from '../../../rules/links/link-target.ts'
import type { Edge } from '../../../rules/neurons/neuron.ts'
import { slugify, uniqueSlug } from '../../../rules/paths/slug.ts'
import { escapeInline } from '../inline-text.ts'
import type { LinkName } from '../links/name-trie.ts'
import { type TitledPart, uniqueTitle } from '../parts/part-titles.ts'
import { linkableTitle } from '../titles/document-title.ts'
import type { Draft, DraftEdge, DraftPage, Statement } from './model-draft.ts'

/** A part of a document, or the model's page in place of some parts. */
export type WrittenPart = TitledPart & { written?: DraftPage }

const maxSentences = 4
/** Maximum bytes of a page's name in its key. */
const maxSlug = 60

/**
 * Returns the parts, with the pages of a draft in place of the parts that they cover. A page has the key of the first of its parts that no
 * other page covers, so that with a model or without, the same Neuron covers the same part. `taken`: titles, as returned by `linkKey`.
 */
export function writtenParts(
  parts: readonly TitledPart[],
  draft: Draft,
  document: string,
  taken: ReadonlySet<string>,
): WrittenPart[] {
  const covered = new Set(draft.pages.flatMap((page) => page.parts))
  const left = parts.filter((_, index) => !covered.has(index))
  const titles = new Set([...taken, linkKey(document), ...left.map(({ title }) => linkKey(title))])
  const known = new Set(['summary', ...parts.map(({ key }) => key)])
  const used = new Set<string>()
  const pages = draft.pages.flatMap((written) => {
    const own = written.parts.flatMap((index) => parts[index] ?? [])
    const [first] = own
    if (first === undefined) return []
    const { line, path } = first
    const free = own.find(({ key }) => !used.has(key))?.key
    const key = free ?? uniqueSlug(slugify(written.title, maxSlug), (slug) => known.has(slug) || used.has(slug))
    used.add(key)
    const base = linkableTitle(written.title)
    const place = own.length === 1 ? path : []
    const title = uniqueTitle(base, place, document, titles)
    const page: WrittenPart = { key, base, title, name: title, path: place, line, blocks: [], written }
    for (const { blocks } of own) page.blocks.push(...blocks)
    return [page]
  })
  return [...left, ...pages].sort((a, b) => a.line - b.line)
}

/** Returns the model's title of the document, unless a page or Neuron has it. */
export function draftTitle(
  draft: Draft,
  plan: { title: string; parts: readonly TitledPart[] },
  taken: ReadonlySet<string>,
) {
  const title = linkableTitle(draft.title ?? '')
  const isTaken = taken.has(linkKey(title)) || plan.parts.some((part) => linkKey(part.title) === linkKey(title))
  return title === '' || isTaken ? plan.title : title
}

/** Returns sentences as paragraphs, and items as lists. All markup is escaped. */
export function statementsText(statements: readonly Statement[]): string {
  const blocks: { isItem: boolean; texts: string[] }[] = []
  for (const { text, isItem } of statements) {
    const open = blocks.at(-1)
    const goesOn = open?.isItem === isItem && (isItem || open.texts.length < maxSentences)
    if (goesOn) open.texts.push(text)
    else blocks.push({ isItem, texts: [text] })
  }
  return blocks.map(({ isItem, texts }) => (isItem ? listText(texts) : lineText(texts.join(' ')))).join('\n\n')
}

export function listText(texts: readonly string[]): string {
  return texts.map((text) => `- ${lineText(text)}`).join('\n')
}

/** Returns the text with escapes that keep it a plain line, also at its beginning. */
function lineText(text: string): string {
  return escapeInline(text)
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, '$1\\')
    .replace(/^[#>+\-=:]/, '\\$&')
}

/**
 * Resolves the targets of edges: other pages of the document, also by the names that the model gave them, and Neurons by their
 * names.
 */
export class EdgeTargets {
  readonly #titles = new Map<string, string | undefined>()
  readonly #own: ReadonlySet<string>

  constructor(names: readonly LinkName[], document: string, parts: readonly WrittenPart[]) {
    for (const { name, title } of names) {
      const key = linkKey(name)
      // A name that two Neurons share names neither.
      this.#titles.set(key, !this.#titles.has(key) || this.#titles.get(key) === title ? title : undefined)
    }
    for (const { title, written } of parts) {
      if (written !== undefined && !this.#titles.has(linkKey(written.title))) {
        this.#titles.set(linkKey(written.title), title)
      }
      this.#titles.set(linkKey(title), title)
    }
    this.#titles.set(linkKey(document), document)
    this.#own = new Set([document, ...parts.map(({ title }) => title)])
  }

  /** Returns the edges of the page with the title `from`, without duplicates. */
  resolve(edges: readonly DraftEdge[], from: string): Edge[] {
    const resolved = new Map<string, Edge>()
    for (const { type, target } of edges) {
      const title = this.#titles.get(linkKey(target))
      if (title !== undefined && title !== from) resolved.set(`${type} ${title}`, { type, target: title })
    }
    return [...resolved.values()]
  }

  /**
   * Returns reasons, for people, why a curator must decide on edges: a model alone may not mark a Neuron of another origin as wrong
   * or outdated.
   */
  doubtsOf(edges: readonly Edge[]): string[] {
    return edges
      .filter(({ type, target }) => (type === 'supersedes' || type === 'contradicts') && !this.#own.has(target))
      .map(({ type, target }) => `The language model says that this ${type} [[${target}]].`)
  }
}
