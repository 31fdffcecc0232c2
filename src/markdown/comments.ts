import { CodeRuns } from './code-runs.ts'
import { type Line, linesOf } from './parse/split-blocks.ts'

/** Code fence: its character and length, whether it is in a quote, and whether the block is a tool's data. */
type Fence = { mark: string; length: number; isQuoted: boolean; isData: boolean }

/** Line of a page. `line`: its 1-based number. */
export type TextLine = { text: string; line: number }

const mark = '%%'
/** Matches a fence, which follows only markers of quotes, lists and list items. */
const fence = /^([\s>]*)(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:(`{3,})([^`]*)|(~{3,})(.*))$/s
const fenceEnd = /^[\s>]*(`{3,}|~{3,})[ \t]*$/
const blockStart = /^[\s>]*$/
const blank = /^\s*$/
/** Matches escaped characters, runs of backticks, which delimit code spans, and `%%`. */
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
  const ends = paragraphEnds(linesOf(content))
  let result = ''
  let isOpen = false
  for (const { text, start, line, code, lineEnd } of codeLines(content, () => isOpen)) {
    if (code === undefined) {
      const part = shownPart(text, isOpen, (from) => {
        const next = content.indexOf(mark, start + from)
        return next >= 0 && next < (ends[line - 1] ?? 0)
      })
      result += part.shown
      isOpen = part.isOpen
    } else if (!code.isData) result += text
    result += lineEnd
  }
  return result
}

/**
 * Yields the lines of a page outside of fences, with each code span replaced by one backtick. A fence or span that is never closed is no
 * code. Takes linear time.
 */
export function* outsideCode(content: string): Generator<TextLine> {
  for (const { text, line, code } of codeLines(content))
    if (code === undefined) yield { text: withoutSpans(text), line }
}

/** Escapes each `%%` of a text without comments that would begin or end one. Takes linear time. */
export function withLiteralMarks(content: string): string {
  if (!content.includes(mark)) return content
  let result = ''
  for (const { text, code, lineEnd } of codeLines(content)) {
    result += (code === undefined ? escapeMarks(text) : text) + lineEnd
  }
  return result
}

/** Yields the lines of a page, each with the fenced code that it is a part of. `isInComment`: whether the next line can open no fence. */
function* codeLines(
  content: string,
  isInComment = () => false,
): Generator<TextLine & { start: number; lineEnd: string; code: Fence | undefined }> {
  const lines = linesOf(content)
  const closers = longestCloserAfter(lines)
  let open: Fence | undefined
  for (const [index, { text, start, end }] of lines.entries()) {
    if (open?.isQuoted && !/^\s*>/.test(text)) open = undefined
    const mayClose = open !== undefined
    if (open === undefined && !isInComment()) open = openedFence(text, closers[index])
    const lineEnd = content.slice(end, lines[index + 1]?.start ?? content.length)
    yield { text, start, line: index + 1, lineEnd, code: open }
    if (mayClose && open !== undefined && closes(text, open)) open = undefined
  }
}

function escapeMarks(text: string): string {
  if (!text.includes(mark)) return text
  const runs = new CodeRuns(text)
  let result = ''
  let at = 0
  for (let next = nextComment(text, at, runs); next !== undefined; next = nextComment(text, at, runs)) {
    result += `${text.slice(at, next)}\\${mark}`
    at = next + mark.length
  }
  return result + text.slice(at)
}

function withoutSpans(text: string): string {
  if (!text.includes('`')) return text
  const runs = new CodeRuns(text)
  let shown = ''
  let at = 0
  for (const { index, 0: run } of text.matchAll(token)) {
    if (index < at || !run.startsWith('`')) continue
    const end = runs.endOfCode(index)
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
  const runs = new CodeRuns(text)
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
    const start = nextComment(text, at, runs)
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
function nextComment(text: string, from: number, runs: CodeRuns): number | undefined {
  const tokens = new RegExp(token) // A copy has its own `lastIndex`.
  tokens.lastIndex = from
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [run] = found
    if (run === mark) return found.index
    const end = run.startsWith('`') ? runs.endOfCode(found.index) : undefined
    if (end !== undefined) tokens.lastIndex = end
  }
  return undefined
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
