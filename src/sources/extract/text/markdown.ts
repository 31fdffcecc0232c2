import { withoutComments } from '../../../markdown/comments.ts'
import type { Extractor } from '../../extracted.ts'
import { readText } from '../decode-text.ts'
import { cleanMarkdown } from '../markdown/clean-markdown.ts'
import { fencedLines } from '../markdown/fenced-lines.ts'
import { openDocument, withAtxHeadings } from '../plain-text-file.ts'

const opening = /<!--|<(?:script|style|table)(?=[\s>])/i
const maxHtmlLines = 500
const heading = /^#\s+(.+)$/

/** Reads Markdown. Takes title, tags and audience from its front matter, turns underlined headings into ATX headings, and removes HTML. */
export const extractMarkdown: Extractor = async ({ file }) => {
  const { text, doubts } = await readText(file)
  const { content, head } = openDocument(text, doubts)
  const markdown = cleanMarkdown(await normalised(content), 'drop')
  return { ...head, title: head.title ?? firstTitle(markdown), markdown, anchors: [], shown: undefined }
}

/** Converts runs of lines outside code: normalises headings, and removes HTML that spans lines. */
async function normalised(text: string): Promise<string> {
  const lines = text.split('\n')
  const isFenced = fencedLines(lines)
  const result: string[] = []
  let run: string[] = []
  const endRun = async () => {
    result.push(...withAtxHeadings(await withoutLongHtml(run)))
    run = []
  }
  for (const [index, line] of lines.entries()) {
    if (!isFenced[index]) run.push(line)
    else {
      await endRun()
      result.push(line)
    }
  }
  await endRun()
  return result.join('\n')
}

/**
 * Turns HTML tables into Markdown tables, and removes comments, scripts and styles that span lines. An element that is never closed stays,
 * and is escaped.
 */
async function withoutLongHtml(lines: readonly string[]): Promise<string[]> {
  const result: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const start = opening.exec(line)
    const end = start && closing(lines, at, start)
    if (!start || !end) result.push(line)
    else {
      const before = line.slice(0, start.index)
      if (start[0].toLowerCase() !== '<table') result.push(before + end.rest)
      else result.push(before, '', ...(await tableLines(end.html)), '', end.rest)
      at = end.index
    }
  }
  return result
}

/** Converts a table of HTML. The converter takes longer to load than most pages take to read, and few pages need it. */
async function tableLines(html: string): Promise<string[]> {
  const { htmlToMarkdown } = await import('../html/html-to-markdown.ts')
  return htmlToMarkdown(html).split('\n')
}

/** Returns the line on which an element or comment ends, its whole text, and the text behind it. */
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
  const lines = withoutComments(markdown).split('\n')
  const isFenced = fencedLines(lines)
  for (const [index, line] of lines.entries()) {
    const title = isFenced[index] ? undefined : heading.exec(line)?.[1]
    if (title !== undefined) return title
  }
  return undefined
}
