import { linkTo, plainLine } from '../markdown/as-inline-markdown.ts'
import { raisedText } from '../raised-text.ts'
import { child, descendants, relationshipId, type XmlElement } from '../xml.ts'
import type { Relationship } from './office-package.ts'

const maxLevel = 8

export type Paragraph = {
  /** One line. */
  markdown: string
  level: number
  /** Marker before the paragraph, if the paragraph itself declares one. */
  bullet: 'bullet' | 'number' | 'none' | undefined
}

/** The paragraphs of a body of text (DrawingML) that are not blank. */
export function paragraphsOf(body: XmlElement, links: readonly Relationship[]): Paragraph[] {
  return body.children
    .filter(({ name }) => name === 'p')
    .map((paragraph) => {
      const properties = child(paragraph, 'pPr')
      const level = Math.min(Math.max(Number(properties?.attributes.lvl) || 0, 0), maxLevel)
      return { markdown: lineOf(paragraph, links), level, bullet: bulletOf(properties) }
    })
    .filter(({ markdown }) => markdown !== '')
}

/** Paragraphs as Markdown; neighbours that are items become a list. */
export function textBlocks(paragraphs: readonly Paragraph[], byDefault: 'bullet' | 'none'): string[] {
  const blocks: string[] = []
  let list: string[] = []
  let indents: number[] = []
  const endList = () => {
    if (list.length > 0) blocks.push(list.join('\n'))
    list = []
    indents = []
  }
  for (const { markdown, level, bullet = level > 0 ? 'bullet' : byDefault } of paragraphs) {
    if (bullet === 'none') {
      endList()
      blocks.push(markdown)
      continue
    }
    // A list may begin at a deep level or skip one, which Markdown takes for code.
    indents.length = Math.min(indents.length, level)
    const marker = bullet === 'number' ? '1.' : '-'
    list.push(`${' '.repeat(indents.reduce((sum, width) => sum + width, 0))}${marker} ${markdown}`)
    while (indents.length < level) indents.push(0)
    indents.push(marker.length + 1)
  }
  endList()
  return blocks
}

/** Returns the texts of a diagram (SmartArt, ECMA-376 Part 1, 21.4), in the order of its data. */
export function diagramTexts(data: XmlElement): string[] {
  return descendants(data, 'p')
    .map(drawingText)
    .filter((text) => text !== '')
}

export function drawingText(paragraph: XmlElement): string {
  return paragraph.children
    .reduce((line, part) => line + runText(part, line), '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Superscripts and subscripts are runs of another baseline (21.1.2.3.9). `before` is the text in front. */
function runText(run: XmlElement, before: string): string {
  if (run.name === 'br') return ' '
  const text = child(run, 't')?.text ?? ''
  const baseline = Number.parseInt(child(run, 'rPr')?.attributes.baseline ?? '0', 10)
  return baseline ? raisedText(text, baseline > 0 ? 'sup' : 'sub', before) : text
}

function lineOf(paragraph: XmlElement, links: readonly Relationship[]): string {
  const linked = paragraph.children.some((run) => child(run, 'rPr', 'hlinkClick'))
  if (!linked) return plainLine(drawingText(paragraph))
  const line = paragraph.children.reduce((written, run) => {
    const text = runText(run, written)
    const link = child(run, 'rPr', 'hlinkClick')
    const id = link && relationshipId(link.attributes)
    const address = links.find((each) => each.external && each.id === id)?.target
    const [, before = '', label = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
    return `${written}${before}${linkTo(address, plainLine(label))}${after}`
  }, '')
  return line.replace(/\s+/g, ' ').trim()
}

function bulletOf(properties: XmlElement | undefined): Paragraph['bullet'] {
  for (const { name } of properties?.children ?? []) {
    if (name === 'buNone') return 'none'
    if (name === 'buAutoNum') return 'number'
    if (name === 'buChar' || name === 'buBlip') return 'bullet'
  }
  return undefined
}
