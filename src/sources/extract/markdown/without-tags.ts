import { CodeRuns, runLength } from './code-runs.ts'
import { endOfAutolink } from './outward-link.ts'

const sign = /[\\`<]/g
const tag =
  /<(?:\/?[A-Za-z][\w:-]{0,60}(?:[^<>"']|"[^"]{0,999}"|'[^']{0,999}'){0,999}|!--.{0,9999}?--|[!?][^<>]{0,999})>/y

/**
 * One line of Markdown that is not in a fence, without the tags and comments that are whole on it. What stood on both sides of one may
 * be another, so the line is to be cleaned afterwards. Takes linear time.
 */
export function withoutTags(line: string): string {
  if (!line.includes('<')) return line
  const codeRuns = new CodeRuns(line)
  const kept: string[] = []
  let from = 0
  sign.lastIndex = 0
  for (let found = sign.exec(line); found; found = sign.exec(line)) {
    const at = found.index
    const tagEnd = found[0] === '<' ? endOfTag(line, at) : undefined
    if (tagEnd !== undefined) {
      kept.push(line.slice(from, at))
      from = tagEnd
    }
    sign.lastIndex = tagEnd ?? endOfOther(line, at, codeRuns)
  }
  const rest = kept.join('') + line.slice(from)
  // The indentation of removed HTML would turn the rest into code.
  return /^[ \t]*</.test(line) ? rest.trim() : rest
}

/** Undefined where there is no tag, but an address in angle brackets, or a sign by itself. */
function endOfTag(line: string, at: number): number | undefined {
  if (endOfAutolink(line, at) !== undefined) return undefined
  tag.lastIndex = at
  return tag.exec(line) === null ? undefined : tag.lastIndex
}

/** The end of what is no tag: an escaped sign, code, an address in angle brackets, or the sign alone. */
function endOfOther(line: string, at: number, codeRuns: CodeRuns): number {
  if (line[at] === '\\') return at + 2
  if (line[at] === '`') return codeRuns.endOfCode(at) ?? at + runLength(line, at)
  return endOfAutolink(line, at) ?? at + 1
}
