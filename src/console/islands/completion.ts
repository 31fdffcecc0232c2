/** The kind of field that is edited: a page's text, a list of tags, or a list of relations, one per line. */
export type FieldKind = 'text' | 'tags' | 'edges'

/** The word at the caret, and the part of the text that a completion replaces. */
export type Query = {
  kind: 'link' | 'heading' | 'tag'
  q: string
  /** The page whose headings are completed; empty for the page itself. */
  target: string
  from: number
  to: number
  /** Text inserted after the choice. */
  after: string
}

const maxTyped = 200
const edge = /^(?:cites|is-a|part-of|contradicts|supersedes|example-of|caused-by):/

/** Returns what can be completed at the caret; `undefined` if nothing. */
export function queryAt(text: string, caret: number, kind: FieldKind): Query | undefined {
  if (kind === 'text') return linkAt(text, caret)
  const [start, end] = partAt(text, caret, kind === 'tags' ? /[,\n]/ : /\n/)
  const blanks = /^\s*/.exec(text.slice(start, caret))?.[0].length ?? 0
  const typed = text.slice(start + blanks, caret)
  if (typed.length > maxTyped) return undefined
  if (kind === 'tags') {
    return { kind: 'tag', q: typed, target: '', from: start + blanks, to: Math.max(end, caret), after: '' }
  }
  const colon = typed.indexOf(':')
  const from = start + blanks + (colon < 0 ? 0 : colon + 1)
  return { kind: 'link', q: text.slice(from, caret).trim(), target: '', from, to: colon < 0 ? caret : end, after: '' }
}

/** Returns the link whose target or heading is being typed. */
function linkAt(text: string, caret: number): Query | undefined {
  const start = Math.max(text.lastIndexOf('\n', caret - 1) + 1, caret - maxTyped)
  const open = text.slice(start, caret).lastIndexOf('[[')
  if (open < 0) return undefined
  const from = start + open + 2
  const typed = text.slice(from, caret)
  if (/\]\]|\|/.test(typed)) return undefined
  const [rest = ''] = text.slice(caret, caret + maxTyped).split('\n')
  const close = /^[^[\]|#]*(?=\]\]|\||#)/.exec(rest)
  const to = caret + (close?.[0].length ?? 0)
  const after = close === null ? ']]' : ''
  const hash = typed.indexOf('#')
  if (hash < 0) return { kind: 'link', q: typed, target: '', from, to, after }
  const q = typed.slice(typed.lastIndexOf('#') + 1)
  const target = typed.slice(0, hash).replace(edge, '').trim()
  return { kind: 'heading', q, target, from: caret - q.length, to, after }
}

/** Returns the start and end of the part between two separators. */
function partAt(text: string, caret: number, separator: RegExp): [start: number, end: number] {
  const before = text.slice(0, caret).split(separator).at(-1) ?? ''
  const [behind = ''] = text.slice(caret).split(separator)
  return [caret - before.length, caret + behind.length]
}

/** Returns the edit that a choice makes, and whether completion continues, as after the type of a relation. */
export function chosen(query: Query, kind: FieldKind, choice: string): { text: string; goesOn: boolean } {
  const goesOn = query.kind === 'link' && choice.endsWith(':')
  if (kind === 'edges') return { text: goesOn ? `${choice} ` : ` ${choice}`, goesOn }
  return { text: choice + (goesOn ? '' : query.after), goesOn }
}

/** Returns the headings of a text that begin with or contain the typed text, as links name them. */
export function ownHeadings(text: string, q: string): string[] {
  const found: string[] = []
  let isCode = false
  for (const line of text.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    const heading = isCode ? undefined : /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/.exec(line)?.[1]
    if (heading?.toLowerCase().includes(q.trim().toLowerCase())) found.push(heading)
  }
  return [...new Set(found)].slice(0, 12)
}
