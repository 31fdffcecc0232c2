import { linkTo, plainLine } from '../markdown/as-inline-markdown.ts'
import { child, relationshipId, type XmlElement } from '../xml.ts'
import type { Relationship } from './office-package.ts'

const maxLevel = 8

export type Paragraph = {
  /** One line. */
  markdown: string
  level: number
  /** What stands before it, where the paragraph itself says so. */
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

export function drawingText(paragraph: XmlElement): string {
  return paragraph.children
    .map((part) => (part.name === 'br' ? ' ' : (child(part, 't')?.text ?? '')))
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
}

function lineOf(paragraph: XmlElement, links: readonly Relationship[]): string {
  const linked = paragraph.children.some((run) => child(run, 'rPr', 'hlinkClick'))
  if (!linked) return plainLine(drawingText(paragraph))
  const parts = paragraph.children.map((run) => {
    const text = run.name === 'br' ? ' ' : (child(run, 't')?.text ?? '')
    const link = child(run, 'rPr', 'hlinkClick')
    const id = link && relationshipId(link.attributes)
    const address = links.find((each) => each.external && each.id === id)?.target
    const [, before = '', label = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
    return `${before}${linkTo(address, plainLine(label))}${after}`
  })
  return parts.join('').replace(/\s+/g, ' ').trim()
}

function bulletOf(properties: XmlElement | undefined): Paragraph['bullet'] {
  for (const { name } of properties?.children ?? []) {
    if (name === 'buNone') return 'none'
    if (name === 'buAutoNum') return 'number'
    if (name === 'buChar' || name === 'buBlip') return 'bullet'
  }
  return undefined
}
