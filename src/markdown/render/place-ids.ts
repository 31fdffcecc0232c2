import type { Element, Root } from 'hast'
import { headingId } from '../../knowledge/links/headings.ts'
import { become, element, elementsOf, textOf } from './elements.ts'

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
/** Elements whose ids links of the page name, with the prefix that the sanitiser gave them. */
const naming = ['id', 'ariaDescribedBy', 'ariaLabelledBy'] as const

/**
 * Gives headings ids that links name, makes links within the page lead there, and keeps each id once. The page's title is its `h1`, so
 * its highest headings become `h2`. Without a prefix there are no ids, for a page whose parts are shown on their own.
 */
export function placeIds(root: Root, prefix: string | undefined): void {
  const elements = elementsOf(root).map(({ element }) => element)
  const ids = new Set<string>()
  for (const found of elements) keepId(found, prefix === undefined ? undefined : ids)
  const levels = elements.map(({ tagName }) => headings.indexOf(tagName)).filter((level) => level >= 0)
  const highest = Math.min(...levels)
  for (const found of elements) {
    const level = headings.indexOf(found.tagName)
    if (level < 0) continue
    found.tagName = headings[level - highest + 1] ?? 'h6'
    const id = headingId(textOf(found))
    if (prefix !== undefined && id !== '') found.properties.id ??= unusedId(`${prefix}${id}`, ids)
  }
  for (const found of elements) if (found.tagName === 'a') lead(found, prefix, ids)
}

function keepId({ properties }: Element, ids: Set<string> | undefined): void {
  if (ids === undefined) for (const name of naming) delete properties[name]
  const { id } = properties
  if (typeof id !== 'string' || ids === undefined) return
  if (ids.has(id) || /\s/.test(id)) delete properties.id
  else ids.add(id)
}

/** An id of a page with a number behind it where others have it. */
function unusedId(wanted: string, ids: Set<string>): string {
  let id = wanted
  for (let number = 2; ids.has(id); number++) id = `${wanted}-${number}`
  ids.add(id)
  return id
}

function lead(link: Element, prefix: string | undefined, ids: ReadonlySet<string>): void {
  const { href } = link.properties
  if (typeof href !== 'string' || !href.startsWith('#')) return
  const name = decoded(href.slice(1))
  const id = [`${prefix}${name}`, `${prefix}${headingId(name)}`].find((wanted) => ids.has(wanted))
  if (id === undefined) become(link, element('span', {}, link.children))
  else link.properties.href = `#${encodeURIComponent(id)}`
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
