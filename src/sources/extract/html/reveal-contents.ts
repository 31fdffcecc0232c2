import type { Element, Nodes, Root } from 'hast'
import { hastText, nodesOf } from '../../../markdown/nodes.ts'
import { collapse, isElement } from './hast.ts'

/** Elements that hold the main content of a page. */
const contents = new Set(['main', 'article'])
const quoted = new Set(['blockquote', 'figure'])
/** Minimum share of links in the text of an aside or a footer that is a menu. */
const menuPart = 0.5

/** Location of an element. `controlled`: ids of the elements that buttons open. */
type Place = { parent: Nodes; before: Element | undefined; controlled: ReadonlySet<string> }

/**
 * Replaces elements that are content only in their context by plain ones: asides and footers of an article, buttons that serve as headings
 * of what they open, and collapsed sections. Elsewhere these are menus, and a later step drops them. Changes the tree.
 * @param isContent true if all of it is text of a document, as in a book or a letter, not a page of a website
 */
export function revealContents(tree: Root, { isContent = false } = {}): Root {
  const controlled = new Set<string>()
  for (const node of nodesOf(tree))
    if (node.type === 'element')
      for (const id of String(node.properties.ariaControls ?? '').split(/[\s,]+/)) controlled.add(id)
  const open: { node: Root | Element; isContent: boolean }[] = [{ node: tree, isContent }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { node: parent } = next
    const isInContent =
      next.isContent || (parent.type === 'element' && (isContents(parent) || quoted.has(parent.tagName)))
    // Runs backwards, since the button before a section shows whether it can be opened.
    const children = [...parent.children].filter((child) => child.type === 'element')
    for (const [at, child] of [...children.entries()].reverse()) {
      if (isInContent) reveal(child, { parent, before: children[at - 1], controlled })
      open.push({ node: child, isContent: isInContent })
    }
  }
  return tree
}

/** True if a page marks the element as its contents, or as a part of them. */
export function isContents({ tagName, properties }: Element): boolean {
  return contents.has(tagName) || properties.role === 'main'
}

function reveal(element: Element, place: Place): void {
  const { tagName, properties } = element
  if (isOpened(element, place)) {
    for (const name of ['hidden', 'ariaHidden', 'style']) delete properties[name]
    asPlain(element, tagName === 'div' ? 'section' : tagName)
  }
  if (tagName === 'button' && (opens(element) || isAllOfHeading(element, place))) asPlain(element, 'span')
  if ((tagName === 'aside' || tagName === 'footer') && !isMenu(element)) asPlain(element, 'section')
}

/** Renames an element, and removes the attributes that would mark it as a menu. */
function asPlain(element: Element, tagName: string): void {
  element.tagName = tagName
  for (const name of ['className', 'ariaExpanded', 'ariaControls', 'role']) delete element.properties[name]
}

/** Whether readers can open the element: a tab, or a section below its button. */
function isOpened({ properties }: Element, { before, controlled }: Place): boolean {
  if (properties.role === 'tabpanel' || controlled.has(String(properties.id)) || properties.hidden === 'until-found')
    return true
  return before !== undefined && [...nodesOf(before)].some((node) => isElement(node, 'button') && opens(node))
}

function opens({ properties }: Element): boolean {
  return (properties.ariaExpanded ?? properties.ariaControls) !== undefined && properties.ariaHasPopup === undefined
}

function isAllOfHeading(button: Element, { parent }: Place): boolean {
  const isHeading = parent.type === 'element' && /^(?:h[1-6]|dt)$/.test(parent.tagName)
  return isHeading && collapse(hastText(parent)) === collapse(hastText(button))
}

function isMenu(element: Element): boolean {
  let linked = 0
  for (const node of nodesOf(element)) if (isElement(node, 'a')) linked += collapse(hastText(node)).length
  return linked > menuPart * collapse(hastText(element)).length
}
