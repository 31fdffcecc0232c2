import { diffArrays } from 'diff'

/** Tokens of both blocks that are compared, and of them those that may differ. */
const most = { tokens: 20_000, changes: 400 }
/** The share of words that must be the same for the others to be worth marking. */
const leastCommon = 0.4
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
const tokens = /<\/?[a-z](?:[^">]|"[^"]*")*>|&[#\w]+;|[^<&]+/gi
const inline = /^<\/?(?:a|abbr|b|code|em|i|kbd|mark|s|small|span|strong|sub|sup|u)\b/i
const empty = /^<(?:br|hr|img|input|wbr)\b/i

/**
 * Merges two blocks of safe HTML into one, with what went in `del` and what came in `ins`, word by word, also within items of lists
 * and cells of tables. Undefined where they have too little in common, or their structure differs too much.
 */
export function markedBlock(before: string, after: string): string | undefined {
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

/** Whether tags lead back to the element in which they began, so that they may stand beside those of the other block. */
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
