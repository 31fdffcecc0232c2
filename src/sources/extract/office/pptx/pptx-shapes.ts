import { asInlineMarkdown, plainLine } from '../../markdown/escape-markdown.ts'
import { markdownTable } from '../../markdown/markdown-table.ts'
import { child, descendants, isTrue, relationshipId, type XmlElement } from '../../xml.ts'
import { chartBlocks, chartTable, diagramTexts, drawingText, paragraphsOf, textBlocks } from '../drawing-text.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import { furniture } from '../shown-runs.ts'

const titles: ReadonlySet<string | undefined> = new Set(['title', 'ctrTitle'])
const lists: ReadonlySet<string | undefined> = new Set([undefined, 'body', 'obj'])
/** Names of files that programs put where a description should be. */
const fileName = /^\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)$/i

type Slide = { document: OfficePackage; links: readonly Relationship[] }

/** Returns the title of a slide and the Markdown of its other shapes, in the order of the slide. */
export function shapesOf(
  document: OfficePackage,
  name: string,
  slide: XmlElement,
): { title: string | undefined; blocks: string[] } {
  const shapes = shapesBelow(child(slide, 'cSld', 'spTree'))
  const title = shapes.find((shape) => titles.has(placeholderOf(shape)?.type) && titleOf(shape) !== '')
  const context = { document, links: document.relationships(name) }
  return {
    title: title && titleOf(title),
    blocks: shapes.filter((shape) => shape !== title).flatMap((shape) => blocksOf(shape, context)),
  }
}

/** Returns the text boxes of a drawing on a sheet (ECMA-376 Part 1, 20.5) as Markdown. */
export function textBoxesOf(document: OfficePackage, name: string): string[] {
  const context = { document, links: document.relationships(name) }
  return (document.xml(name)?.children ?? [])
    .flatMap(shapesBelow)
    .filter((shape) => shape.name === 'sp')
    .flatMap((shape) => blocksOf(shape, context))
}

/** Returns the visible shapes, without their groups. Uses the first of alternatives, which newer programs show. */
function shapesBelow(parent: XmlElement | undefined): XmlElement[] {
  return (parent?.children ?? []).flatMap((shape) => {
    if (isHidden(shape)) return []
    if (shape.name === 'grpSp') return shapesBelow(shape)
    if (shape.name === 'AlternateContent') return shapesBelow(child(shape, 'Choice') ?? child(shape, 'Fallback'))
    return ['sp', 'pic', 'graphicFrame', 'cxnSp'].includes(shape.name) ? [shape] : []
  })
}

function blocksOf(shape: XmlElement, { document, links }: Slide): string[] {
  const placeholder = placeholderOf(shape)
  if (placeholder !== undefined && furniture.has(placeholder.type)) return []
  const data = child(shape, 'graphic', 'graphicData')
  const table = child(data, 'tbl')
  if (table !== undefined) return tableBlocks(table)
  const target = (link: XmlElement | undefined, attribute: string) => {
    const id = link && relationshipId(link.attributes, attribute)
    const found = links.find((each) => each.id === id && !each.external)
    return found && document.xml(found.target)
  }
  const chart = target(child(data, 'chart'), 'id')
  if (chart !== undefined) return chartBlocks(chartTable(chart))
  const diagram = target(child(data, 'relIds'), 'dm')
  if (diagram !== undefined) {
    return [
      diagramTexts(diagram)
        .map((text) => `- ${plainLine(text)}`)
        .join('\n'),
    ].filter((block) => block !== '')
  }
  const text = child(shape, 'txBody')
  if (text === undefined) return descriptionOf(shape)
  const paragraphs = paragraphsOf(text, links)
  const isList = placeholder !== undefined && lists.has(placeholder.type) && paragraphs.length > 1
  return [...textBlocks(paragraphs, isList ? 'bullet' : 'none'), ...(paragraphs.length > 0 ? [] : descriptionOf(shape))]
}

function tableBlocks(table: XmlElement): string[] {
  const rows = table.children
    .filter(({ name }) => name === 'tr')
    .map((row) =>
      row.children
        .filter(({ name }) => name === 'tc')
        .map((cell) => {
          if (isTrue(cell.attributes.hMerge) || isTrue(cell.attributes.vMerge)) return ''
          return descendants(cell, 'p')
            .map((paragraph) => asInlineMarkdown(drawingText(paragraph)))
            .join(' ')
            .trim()
        }),
    )
  return rows.some((row) => row.some((cell) => cell !== '')) ? [markdownTable(rows)] : []
}

function descriptionOf(shape: XmlElement): string[] {
  const description = propertiesOf(shape)?.attributes.descr?.trim() ?? ''
  return description === '' || fileName.test(description) ? [] : [plainLine(description)]
}

function isHidden(shape: XmlElement): boolean {
  return isTrue(propertiesOf(shape)?.attributes.hidden)
}

/** Returns the element with name, description and visibility, within `nvSpPr`, `nvPicPr` and the like. */
function propertiesOf(shape: XmlElement): XmlElement | undefined {
  return child(
    shape.children.find(({ name }) => /^nv\w+Pr$/.test(name)),
    'cNvPr',
  )
}

function placeholderOf(shape: XmlElement): { type: string | undefined } | undefined {
  const placeholder = child(
    shape.children.find(({ name }) => /^nv\w+Pr$/.test(name)),
    'nvPr',
    'ph',
  )
  return placeholder && { type: placeholder.attributes.type }
}

function titleOf(shape: XmlElement): string {
  const body = child(shape, 'txBody')
  return (body?.children ?? [])
    .filter(({ name }) => name === 'p')
    .map(drawingText)
    .filter((line) => line !== '')
    .join(' ')
}
