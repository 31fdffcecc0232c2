import { diffArrays } from 'diff'
import { lineChanges } from './line-changes.ts'

/** A block of one page or of both. A changed block has both versions, and `marked` if its words can be marked in one text. */
export type BlockChange =
  | { type: 'same'; after: string }
  | { type: 'added'; after: string }
  | { type: 'removed'; before: string }
  | { type: 'changed'; before: string; after: string; marked?: string | undefined }

/** Compared blocks. `isTruncated`: the pages continue. */
export type BlockDiff = { blocks: BlockChange[]; isTruncated: boolean }

const maxBlocks = 2000

/** Compares two pages block by block. Where blocks were removed and others added, they are paired in order. */
export function blockDiff(before: readonly string[], after: readonly string[]): BlockDiff {
  const blocks: BlockChange[] = []
  let removed: string[] = []
  const flush = () => {
    blocks.push(...removed.map((block): BlockChange => ({ type: 'removed', before: block })))
    removed = []
  }
  for (const { sign, line: block } of lineChanges(before.slice(0, maxBlocks), after.slice(0, maxBlocks))) {
    if (sign === '-') removed.push(block)
    else if (sign === ' ') {
      flush()
      blocks.push({ type: 'same', after: block })
    } else {
      const old = removed.shift()
      if (old === undefined) blocks.push({ type: 'added', after: block })
      else blocks.push({ type: 'changed', before: old, after: block, marked: markedBlock(old, block) })
    }
  }
  flush()
  return { blocks, isTruncated: Math.max(before.length, after.length) > maxBlocks }
}

/** Maximum tokens of both blocks, and of those that differ. */
const most = { tokens: 20_000, changes: 400 }
/** Minimum share of equal words for the others to be worth marking. */
const leastCommon = 0.4
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
const tokens = /<\/?[a-z](?:[^">]|"[^"]*")*>|&[#\w]+;|[^<&]+/gi
const inline = /^<\/?(?:a|abbr|b|code|em|i|kbd|mark|s|small|span|strong|sub|sup|u)\b/i
const empty = /^<(?:br|hr|img|input|wbr)\b/i

/**
 * Merges two blocks of safe HTML into one, with removals in `del` and additions in `ins`, word by word, also within list items
 * and table cells. Undefined if they have too little in common, or their structures differ too much.
 */
function markedBlock(before: string, after: string): string | undefined {
  const [old, fresh] = [tokensOf(before), tokensOf(after)]
  if (old.length + fresh.length > most.tokens) return undefined
  const parts = diffArrays(old, fresh, { maxEditLength: most.changes })
  if (parts === undefined) return undefined
  const wordsOf = (all: readonly string[]) => all.filter((token) => /[\p{L}\p{N}]/u.test(token) && !isTag(token)).length
  const same = parts.filter(({ added, removed }) => !added && !removed).flatMap(({ value }) => value)
  if (wordsOf(same) < leastCommon * Math.max(wordsOf(old), wordsOf(fresh))) return undefined
  let merged = ''
  for (const { value, added, removed } of parts) {
    if (!added && !removed) merged += value.join('')
    else if (added) merged += marked(value, 'ins')
    else {
      const kept = returns(value) ? value : value.filter((token) => !inline.test(token))
      if (!returns(kept)) return undefined
      merged += marked(kept, 'del')
    }
  }
  return merged
}

function tokensOf(html: string): string[] {
  return (html.match(tokens) ?? []).flatMap((token) =>
    isTag(token) || token.startsWith('&') ? [token] : Array.from(segmenter.segment(token), ({ segment }) => segment),
  )
}

function isTag(token: string): boolean {
  return token.startsWith('<')
}

/** True if the tags end in the element in which they began, so that they may stand beside those of the other block. */
function returns(run: readonly string[]): boolean {
  const [opened, left]: [string[], string[]] = [[], []]
  for (const token of run) {
    if (!isTag(token) || empty.test(token)) continue
    const name = /^<\/?([a-z0-9]+)/i.exec(token)?.[1] ?? ''
    if (!token.startsWith('</')) opened.push(name)
    else if (opened.length === 0) left.push(name)
    else if (opened.pop() !== name) return false
  }
  return opened.join() === left.toReversed().join()
}

function marked(run: readonly string[], tag: 'ins' | 'del'): string {
  let text = ''
  let result = ''
  const flush = () => {
    result += text.trim() === '' ? text : `<${tag}>${text}</${tag}>`
    text = ''
  }
  for (const token of run) {
    if (!isTag(token) || /^<img\b/i.test(token)) text += token
    else {
      flush()
      result += token
    }
  }
  flush()
  return result
}
