import { child, type XmlElement } from '../../xml.ts'

const maxAncestors = 20
const deepest = 6

export type ParagraphStyles = {
  /** Level, 1 to 6, by style id: styles of headings, and those that are based on them. */
  headings: ReadonlyMap<string, number>
  /** Ids of the styles of tables of contents. */
  contents: ReadonlySet<string>
  /** Position, `superscript` or `subscript`, by the id of a style for raised or lowered characters. */
  raised: ReadonlyMap<string, string>
}

/** Reads the roles of paragraphs from the styles of a document (WordprocessingML). */
export function paragraphStyles(styles: XmlElement | undefined): ParagraphStyles {
  const byId = new Map((styles?.children ?? []).map((style) => [style.attributes['w:styleId'] ?? '', style]))
  const headings = new Map<string, number>()
  const contents = new Set<string>()
  const raised = new Map<string, string>()
  for (const [id, style] of byId) {
    const align = child(style, 'rPr', 'vertAlign')?.attributes['w:val']
    if (align !== undefined && style.attributes['w:type'] === 'character') raised.set(id, align)
    if (style.attributes['w:type'] !== 'paragraph') continue
    if (/^toc \d$/i.test(nameOf(style))) contents.add(id)
    const level = headingLevel(style, byId)
    if (level !== undefined) headings.set(id, level)
  }
  return { headings, contents, raised }
}

/** Returns the heading level of an outline level as a document writes it: 0 to 8, and 9 for text. */
export function levelOf(outlineLevel: string | undefined): number | undefined {
  const level = Number(outlineLevel ?? Number.NaN)
  return level >= 0 && level < 9 ? Math.min(level + 1, deepest) : undefined
}

function headingLevel(style: XmlElement, byId: ReadonlyMap<string, XmlElement>): number | undefined {
  let next: XmlElement | undefined = style
  for (let at = 0; next !== undefined && at < maxAncestors; at++) {
    const outline = child(next, 'pPr', 'outlineLvl')
    if (outline !== undefined) return levelOf(outline.attributes['w:val'])
    const number = /^heading ([1-9])$/i.exec(nameOf(next))?.[1]
    if (number !== undefined) return Math.min(Number(number), deepest)
    if (/^title$/i.test(nameOf(next))) return 1
    next = byId.get(child(next, 'basedOn')?.attributes['w:val'] ?? '')
  }
  return undefined
}

function nameOf(style: XmlElement): string {
  return child(style, 'name')?.attributes['w:val'] ?? ''
}
