import { isWritableTarget } from '../../../markdown/rewrite/rewrite-links.ts'
import { linkKey } from '../../../rules/links/link-target.ts'
import { fold } from '../../../rules/text/fold.ts'
import { isGenericName } from '../titles/generic-names.ts'

/** A name that a text may use for a Neuron, and the Neuron's title. */
export type LinkName = { name: string; title: string }

/** A range of a line that names a Neuron; offsets in UTF-16 units. */
export type NameMention = { start: number; end: number; title: string }

/** Name of a page. `exact`: spellings that must match exactly. */
type Entry = { title: string; exact?: readonly string[] }
type Node = { next: Map<string, Node>; entry?: Entry | undefined }
type Token = { key: string; start: number; end: number }

const shortestWord = 4
/** Maximum characters of a line that are searched. */
const maxLine = 20_000
const tokenPattern = /[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}_\p{Pd}]/gu
/** Matches a joint of compounds such as `on-call` or `node.js`. */
const joinedBefore = /[\p{L}\p{M}\p{N}_][.\-_/@&+\p{Pd}]?$/u
const capitalInside = /\p{L}.*\p{Lu}/u
/** Matches the end of a text after which a sentence, an item or a cell begins. */
const sentenceStart = /(?:^[\s>*+-]*(?:\d{1,9}[.)]\s+)?|[.!?:…]["'”’»)\]*_~]*\s+|\|\s*)["'“„«‘([*_~]*$/u
/** Maximum characters before a word that are examined for the start of a sentence. */
const maxBefore = 40
const joinedAfter = /^(?:[.\-_/@&+\p{Pd}]?[\p{L}\p{M}\p{N}]|_)/u

/**
 * Finds names in text as whole words, the longest at each word, in a trie of words (Fredkin, "Trie memory", 1960). Case, accents, hyphens
 * and blanks are ignored, as in the target of a link. A single word could mean anything. It is a name only in its exact spelling, and
 * neither at the beginning of a sentence, where any word has a capital, nor if it is a stop word. With fewer than four letters it must be
 * an abbreviation in capitals. A name that two Neurons share names neither.
 */
export class NameTrie {
  readonly #root: Node = { next: new Map() }

  constructor(names: readonly LinkName[], stopWords: ReadonlySet<string>) {
    const titles = new Map<string, { exact: readonly string[]; title: string } | undefined>()
    for (const { name, title } of names) {
      const key = linkKey(name)
      const known = titles.get(key)
      titles.set(
        key,
        titles.has(key) && known?.title !== title
          ? undefined
          : { exact: [...(known?.exact ?? []), name.trim()], title },
      )
    }
    for (const [key, named] of titles) {
      if (named === undefined || !isWritableTarget(named.title)) continue
      const tokens = tokensOf(key)
      const isWord = tokens.length === 1
      if (tokens.length === 0 || isGenericName(key) || (isWord && stopWords.has(key))) continue
      const exact = key.length < shortestWord ? named.exact.filter(isAbbreviation) : named.exact
      if (isWord && exact.length === 0) continue
      this.#add(tokens, isWord ? { title: named.title, exact } : { title: named.title })
    }
  }

  mentionsIn(line: string): NameMention[] {
    const mentions: NameMention[] = []
    const tokens = this.#root.next.size === 0 ? [] : tokensOf(line.slice(0, maxLine))
    for (let at = 0; at < tokens.length; at++) {
      const found = this.#longestAt(tokens, at, line)
      if (found === undefined) continue
      mentions.push(found.mention)
      at = found.last
    }
    return mentions
  }

  #add(tokens: readonly Token[], entry: Entry): void {
    let node = this.#root
    for (const { key } of tokens) {
      const next: Node = node.next.get(key) ?? { next: new Map() }
      node.next.set(key, next)
      node = next
    }
    node.entry = node.entry === undefined || node.entry.title === entry.title ? entry : undefined
  }

  #longestAt(tokens: readonly Token[], from: number, line: string): { mention: NameMention; last: number } | undefined {
    let found: { mention: NameMention; last: number } | undefined
    let node: Node | undefined = this.#root
    const start = tokens[from]?.start ?? 0
    if (joinedBefore.test(line.slice(Math.max(0, start - 3), start))) return undefined
    for (let at = from; at < tokens.length; at++) {
      const token = tokens[at]
      node = token && node.next.get(token.key)
      if (token === undefined || node === undefined) break
      const written = line.slice(start, token.end)
      const fits = node.entry && isNamed(node.entry, written, line, start)
      if (!fits || joinedAfter.test(line.slice(token.end, token.end + 3)) || written.includes('_')) continue
      found = { mention: { start, end: token.end, title: node.entry?.title ?? '' }, last: at }
    }
    return found
  }
}

function isAbbreviation(name: string): boolean {
  return /^\p{Lu}[\p{Lu}\p{N}]+$/u.test(name)
}

function isNamed({ exact }: Entry, written: string, line: string, start: number): boolean {
  if (exact === undefined) return true
  if (!exact.includes(written)) return false
  if (!/^\p{Lu}/u.test(written) || capitalInside.test(written)) return true
  const from = start - maxBefore
  const before = from > 0 ? `…${line.slice(from, start)}` : line.slice(0, start)
  return !sentenceStart.test(before)
}

function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(tokenPattern), ({ 0: token, index }) => ({
    key: fold(token),
    start: index,
    end: index + token.length,
  }))
}
