import { parseFrontMatter } from '../../../markdown/file/front-matter.ts'
import type { Extractor } from '../../extracted.ts'
import { readText } from '../encoding/read-text.ts'
import { htmlToMarkdown } from '../html/html-to-markdown.ts'
import { cleanMarkdown } from '../markdown/clean-markdown.ts'
import { fencedLines } from '../markdown/fenced-lines.ts'
import { withAtxHeadings } from './atx-headings.ts'

const opening = /<!--|<(?:script|style|table)(?=[\s>])/i
const maxHtmlLines = 500
const heading = /^#\s+(.+)$/

/** Markdown: its front matter gives the title and goes, underlined headings become those of `#`, HTML goes. */
export const extractMarkdown: Extractor = async ({ file }) => {
  const { text, doubts } = await readText(file)
  const { data, body, problems } = parseFrontMatter(text)
  // Text between two thematic breaks is no front matter.
  const content = problems.some(({ rule }) => rule === 'front-matter-not-a-map') ? text : body
  const markdown = cleanMarkdown(normalised(content), 'drop')
  const title = typeof data.title === 'string' ? data.title : firstTitle(markdown)
  const warnings = problems.map(({ message, line }) => `Front matter, line ${line}: ${message}`)
  return { title, markdown, anchors: [], warnings, doubts }
}

/** Runs of lines that are no code, each with its headings put right, and without the HTML that spans lines. */
function normalised(text: string): string {
  const lines = text.split('\n')
  const isFenced = fencedLines(lines)
  const result: string[] = []
  let run: string[] = []
  const endRun = () => {
    result.push(...withAtxHeadings(withoutLongHtml(run)))
    run = []
  }
  for (const [index, line] of lines.entries()) {
    if (!isFenced[index]) run.push(line)
    else {
      endRun()
      result.push(line)
    }
  }
  endRun()
  return result.join('\n')
}

/**
 * Tables of HTML become those of Markdown; comments, scripts and styles that go on to another line go. What is not closed stays, and
 * is escaped.
 */
function withoutLongHtml(lines: readonly string[]): string[] {
  const result: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const start = opening.exec(line)
    const end = start && closing(lines, at, start)
    if (!start || !end) result.push(line)
    else {
      const before = line.slice(0, start.index)
      if (start[0].toLowerCase() !== '<table') result.push(before + end.rest)
      else result.push(before, '', ...htmlToMarkdown(end.html).split('\n'), '', end.rest)
      at = end.index
    }
  }
  return result
}

/** On which line an element or comment ends, all of it, and what is behind it. */
function closing(
  lines: readonly string[],
  from: number,
  { 0: opened, index: start }: RegExpExecArray,
): { index: number; html: string; rest: string } | undefined {
  const tag = opened === '<!--' ? '-->' : `</${opened.slice(1).toLowerCase()}>`
  for (let index = from; index < Math.min(lines.length, from + maxHtmlLines); index++) {
    const line = lines[index] ?? ''
    const found = line.toLowerCase().indexOf(tag, index === from ? start : 0)
    if (found < 0) continue
    const rest = line.slice(found + tag.length)
    const html = [...lines.slice(from, index), line.slice(0, line.length - rest.length)].join('\n').slice(start)
    return { index, html, rest }
  }
  return undefined
}

function firstTitle(markdown: string): string | undefined {
  const lines = markdown.split('\n')
  const isFenced = fencedLines(lines)
  for (const [index, line] of lines.entries()) {
    const title = isFenced[index] ? undefined : heading.exec(line)?.[1]
    if (title !== undefined) return title
  }
  return undefined
}
