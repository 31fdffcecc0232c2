import { type Line, linesOf } from './parse/split-blocks.ts'

/** Code fence: its character and length, whether it is in a quote, and whether the block is a tool's data. */
type Fence = { mark: string; length: number; isQuoted: boolean; isData: boolean }

/** Line of a page. `line`: its 1-based number. */
export type TextLine = { text: string; line: number }

const mark = '%%'
/** A fence follows only markers of quotes, lists and list items. */
const fence = /^([\s>]*)(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:(`{3,})([^`]*)|(~{3,})(.*))$/s
const fenceEnd = /^[\s>]*(`{3,}|~{3,})[ \t]*$/
const blockStart = /^[\s>]*$/
const blank = /^\s*$/
/** A backslash escapes the next character; runs of backticks delimit code spans. */
const token = /\\[\s\S]|`+|%%/g
const data = 'compressed-json'

/**
 * Removes Obsidian's comments, `%% … %%`, and Excalidraw's data in `compressed-json` blocks. Keeps all line ends, so that line numbers
 * stay. Takes linear time. A comment that begins a line ends at the next `%%`, or with the page; within a line it must end in the same
 * paragraph. In code and after a backslash `%%` is text. Where a page is ambiguous, the reading that shows less wins: a fence that is never
 * closed is no code.
 */
export function withoutComments(content: string): string {
  if (!content.includes(mark) && !content.includes(data)) return content
  const lines = linesOf(content)
  const closers = longestCloserAfter(lines)
  const ends = paragraphEnds(lines)
  let result = ''
  let open: Fence | 'comment' | undefined
  for (const [index, { text, start, end }] of lines.entries()) {
    const lineEnd = content.slice(end, lines[index + 1]?.start ?? content.length)
    if (typeof open === 'object' && open.isQuoted && !/^\s*>/.test(text)) open = undefined
    if (typeof open === 'object') {
      if (!open.isData) result += text
      if (closes(text, open)) open = undefined
    } else {
      const opened = open === undefined ? openedFence(text, closers[index]) : undefined
      if (opened !== undefined) {
        open = opened
        if (!opened.isData) result += text
      } else {
        const line = shownPart(text, open === 'comment', (from) => {
          const next = content.indexOf(mark, start + from)
          return next >= 0 && next < (ends[index] ?? 0)
        })
        result += line.shown
        open = line.isOpen ? 'comment' : undefined
      }
    }
    result += lineEnd
  }
  return result
}

/**
 * Yields the lines of a page outside of fences, with each code span replaced by one backtick. `line` is 1-based. A fence or span that is
 * never closed is no code. Takes linear time.
 */
export function* outsideCode(content: string): Generator<TextLine> {
  const lines = linesOf(content)
  const closers = longestCloserAfter(lines)
  let open: Fence | undefined
  for (const [index, { text }] of lines.entries()) {
    if (open?.isQuoted && !/^\s*>/.test(text)) open = undefined
    if (open !== undefined) {
      if (closes(text, open)) open = undefined
      continue
    }
    open = openedFence(text, closers[index])
    if (open === undefined) yield { text: withoutSpans(text), line: index + 1 }
  }
}

/** Escapes each `%%` of a text without comments that would begin or end one. Takes linear time. */
export function withLiteralMarks(content: string): string {
  if (!content.includes(mark)) return content
  const lines = linesOf(content)
  const closers = longestCloserAfter(lines)
  let open: Fence | undefined
  let result = ''
  for (const [index, { text, end }] of lines.entries()) {
    if (open?.isQuoted && !/^\s*>/.test(text)) open = undefined
    const opened = open === undefined ? openedFence(text, closers[index]) : undefined
    result += open === undefined && opened === undefined ? escapeMarks(text) : text
    open = open !== undefined && closes(text, open) ? undefined : (open ?? opened)
    result += content.slice(end, lines[index + 1]?.start ?? content.length)
  }
  return result
}

function escapeMarks(text: string): string {
  if (!text.includes(mark)) return text
  const spans = codeSpans(text)
  let result = ''
  let at = 0
  for (let next = nextComment(text, at, spans); next !== undefined; next = nextComment(text, at, spans)) {
    result += `${text.slice(at, next)}\\${mark}`
    at = next + mark.length
  }
  return result + text.slice(at)
}

function withoutSpans(text: string): string {
  if (!text.includes('`')) return text
  const spans = codeSpans(text)
  let shown = ''
  let at = 0
  for (const { index, 0: run } of text.matchAll(token)) {
    if (index < at || !run.startsWith('`')) continue
    const end = spanEnd(spans, index, run.length)
    if (end === undefined) continue
    shown += `${text.slice(at, index)}\``
    at = end
  }
  return shown + text.slice(at)
}

/** Returns the visible part of a line outside of code, and whether a comment is still open at its end. */
function shownPart(
  text: string,
  isCommented: boolean,
  isClosed: (from: number) => boolean,
): { shown: string; isOpen: boolean } {
  if (!text.includes(mark)) return { shown: isCommented ? '' : text, isOpen: isCommented }
  const spans = codeSpans(text)
  let shown = ''
  let at = 0
  let isOpen = isCommented
  while (at < text.length) {
    if (isOpen) {
      const end = text.indexOf(mark, at)
      if (end < 0) return { shown, isOpen }
      at = end + mark.length
      isOpen = false
      continue
    }
    const start = nextComment(text, at, spans)
    if (start === undefined) return { shown: shown + text.slice(at), isOpen }
    const behind = start + mark.length
    const begins = blockStart.test(text.slice(0, start))
    isOpen = begins || text.includes(mark, behind) || isClosed(behind)
    shown += text.slice(at, isOpen ? start : behind)
    at = behind
  }
  return { shown, isOpen }
}

/** Returns the offset of the next `%%` outside of code spans. */
function nextComment(text: string, from: number, spans: Map<number, number[]>): number | undefined {
  const tokens = new RegExp(token) // A copy has its own `lastIndex`.
  tokens.lastIndex = from
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [run] = found
    if (run === mark) return found.index
    const end = run.startsWith('`') ? spanEnd(spans, found.index, run.length) : undefined
    if (end !== undefined) tokens.lastIndex = end
  }
  return undefined
}

/** Returns the end of the code span that a run of backticks begins. Must be called in the order of the runs. */
function spanEnd(spans: Map<number, number[]>, start: number, length: number): number | undefined {
  const starts = spans.get(length) ?? []
  while ((starts[0] ?? Number.POSITIVE_INFINITY) <= start) starts.shift()
  return starts[0] === undefined ? undefined : starts[0] + length
}

/** Returns the offsets of the runs of backticks in a line, by length. */
function codeSpans(text: string): Map<number, number[]> {
  const spans = new Map<number, number[]>()
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    const starts = spans.get(run.length)
    if (starts === undefined) spans.set(run.length, [index])
    else starts.push(index)
  }
  return spans
}

/** Returns for each line the offset at which its paragraph ends. */
function paragraphEnds(lines: readonly Line[]): number[] {
  const ends: number[] = []
  let isNextBlank = true
  for (let index = lines.length - 1; index >= 0; index--) {
    const { text = '', end = 0 } = lines[index] ?? {}
    ends[index] = isNextBlank ? end : (ends[index + 1] ?? end)
    isNextBlank = blank.test(text)
  }
  return ends
}

function openedFence(text: string, closers: Closers | undefined): Fence | undefined {
  const [, before = '', backticks, firstInfo, tildes, secondInfo] = fence.exec(text) ?? []
  const run = backticks ?? tildes
  if (run === undefined) return undefined
  const character = run.charAt(0)
  if ((closers?.[character] ?? 0) < run.length) return undefined
  const info = firstInfo ?? secondInfo ?? ''
  return { mark: character, length: run.length, isQuoted: before.includes('>'), isData: info.trim() === data }
}

function closes(text: string, { mark: character, length }: Fence): boolean {
  const [, run = ''] = fenceEnd.exec(text) ?? []
  return run.startsWith(character) && run.length >= length
}

/** Length of the longest run that may close a fence, by character. */
type Closers = Record<string, number>

/** Returns the longest closers on the lines after each line. */
function longestCloserAfter(lines: readonly Line[]): Closers[] {
  const after: Closers[] = []
  let longest: Closers = {}
  for (let index = lines.length - 1; index >= 0; index--) {
    after[index] = longest
    const [, run] = fenceEnd.exec(lines[index]?.text ?? '') ?? []
    if (run === undefined || (longest[run.charAt(0)] ?? 0) >= run.length) continue
    longest = { ...longest, [run.charAt(0)]: run.length }
  }
  return after
}
