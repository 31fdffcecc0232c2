import type { Element, Root } from 'hast'
import { headingId } from '../../rules/links/headings.ts'
import { become, element, elementsOf, textOf } from './elements.ts'

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
/** Attributes that contain ids, with the prefix that the sanitizer added. */
const naming = ['id', 'ariaDescribedBy', 'ariaLabelledBy'] as const

/**
 * Gives headings the ids that links use, besides their own ids, resolves links within the page, and makes ids unique. The page's title is
 * its `h1`, so its highest headings become `h2`. Without a prefix there are no ids, for a page whose parts are shown separately. @param
 * title the heading that repeats the page's title; it is reduced to a target for links
 */
export function placeIds(root: Root, prefix: string | undefined, title?: Element): void {
  const elements = elementsOf(root).map(({ element }) => element)
  const ids = new Set<string>()
  for (const found of elements) keepId(found, prefix === undefined ? undefined : ids)
  const levels = elements.map((found) => (found === title || isUnseen(found) ? -1 : headings.indexOf(found.tagName)))
  const highest = Math.min(...levels.filter((level) => level >= 0))
  for (const found of elements) {
    const level = headings.indexOf(found.tagName)
    if (level < 0) continue
    found.tagName = headings[Math.max(level - highest, 0) + 1] ?? 'h6'
    const id = headingId(textOf(found))
    if (prefix === undefined || id === '') continue
    if (found.properties.id === undefined) found.properties.id = unusedId(`${prefix}${id}`, ids)
    else if (found !== title && !ids.has(`${prefix}${id}`))
      found.children.unshift(element('span', { id: unusedId(`${prefix}${id}`, ids) }, []))
  }
  for (const found of elements) if (found.tagName === 'a') lead(found, prefix, ids)
  if (title !== undefined) {
    const { id } = title.properties
    become(title, element('div', { className: ['title-place'], ...(id === undefined ? {} : { id }) }, []))
  }
}

/** True for the label of footnotes, which does not count for the depth of the page's own headings. */
function isUnseen({ properties: { className } }: Element): boolean {
  return Array.isArray(className) && className.includes('unseen')
}

function keepId({ properties }: Element, ids: Set<string> | undefined): void {
  if (ids === undefined) for (const name of naming) delete properties[name]
  const { id } = properties
  if (typeof id !== 'string' || ids === undefined) return
  if (ids.has(id) || /\s/.test(id)) delete properties.id
  else ids.add(id)
}

/** Returns an id, with a number appended if it is already used. */
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
