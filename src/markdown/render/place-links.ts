import type { Element, ElementContent, Root } from 'hast'
import { headingId } from '../../rules/links/headings.ts'
import { hastText } from '../nodes.ts'
import { become, element, elementsOf, text } from './elements.ts'
import type { MarkedLink } from './mark-links.ts'
import { contentIdPrefix } from './safe-html.ts'

const schemes = new Set(['http:', 'https:', 'mailto:'])
/** Maximum characters of a URL, since a definition can be referenced many times. */
const maxAddress = 2000
const seqId = /^[a-z0-9-]+_[0-9]{8}$/
const width = /^(\d{1,4})(?:x\d{1,4})?$/

/**
 * Fills in the links of a page: links of the knowledge base by their meaning, others by their URL. Nothing is loaded from other sites: an
 * external image becomes a link. Links with another scheme, or to a path of this server, become text.
 */
export function placeLinks(root: Root, marked: readonly MarkedLink[]): void {
  for (const { element: found, isInLink } of elementsOf(root)) {
    const isImage = found.tagName === 'img'
    if (!isImage && found.tagName !== 'a') continue
    const link = typeof found.properties.dataLink === 'string' ? marked[Number(found.properties.dataLink)] : undefined
    if (link === undefined) {
      if (isImage) placeImage(found, isInLink)
      else placeOther(found, isInLink)
      continue
    }
    if (isImage) found.children = [text(String(found.properties.alt ?? '') || link.link.target)]
    placeOwn(found, link, isInLink)
  }
}

function placeOwn(target: Element, { link, meaning }: MarkedLink, isInLink: boolean): void {
  const { children } = target
  if (meaning.to === 'gap') {
    become(target, gap(children, isInLink ? { why: meaning.why } : meaning))
    return
  }
  const isImage = meaning.to === 'file' && meaning.isImage
  if (isImage && link.embed) become(target, image(meaning.href, link.alias ?? hastText(target), link.target))
  else if (isInLink) become(target, element('span', {}, children))
  else if (meaning.to === 'file') {
    become(
      target,
      element('a', { href: meaning.href, className: ['file'], ...(isImage ? {} : { download: true }) }, children),
    )
  } else {
    const id = link.heading === undefined ? '' : headingId(link.heading)
    const isNamed = link.alias !== undefined || link.form === 'markdown' || !seqId.test(link.target)
    const label = isNamed ? children : [text(meaning.title)]
    const href = meaning.href + (id === '' ? '' : `#${contentIdPrefix}${encodeURIComponent(id)}`)
    const isTitled = label.map(hastText).join('') === meaning.title
    become(target, element('a', isTitled ? { href } : { href, title: meaning.title }, label))
  }
}

function gap(children: ElementContent[], { why, createHref }: { why: string; createHref?: string }): Element {
  const label = children.map(hastText).join('')
  const create =
    createHref === undefined
      ? []
      : [text(' '), element('a', { href: createHref, ariaLabel: `Create “${label}”` }, [text('create')])]
  return element('span', { className: ['gap'], title: why }, [
    ...children,
    element('span', { className: ['unseen'] }, [text(` (${why})`)]),
    ...create,
  ])
}

/** Renders an image; `![[plan.png|300]]` sets its width. */
function image(src: string, alias: string, file: string): Element {
  const [, pixels] = width.exec(alias) ?? []
  const name = file.slice(file.lastIndexOf('/') + 1)
  return element(
    'img',
    pixels === undefined
      ? { src, alt: alias, loading: 'lazy' }
      : { src, alt: name, width: Number(pixels), loading: 'lazy' },
    [],
  )
}

function placeOther(target: Element, isInLink: boolean): void {
  const { href } = target.properties
  const isInPage = typeof href === 'string' && href.startsWith('#')
  if (isInPage && !isInLink) return
  const address = isInLink ? undefined : addressOf(href)
  if (address === undefined) become(target, element('span', {}, target.children))
  else become(target, element('a', { href: address, className: ['outside'], rel: outside }, target.children))
}

function placeImage(target: Element, isInLink: boolean): void {
  const { src, alt } = target.properties
  const label = typeof alt === 'string' ? alt.trim() : ''
  const address = addressOf(src)
  // An embedded picture becomes a file when its candidate is approved.
  if (typeof src === 'string' && pictureData.test(src)) become(target, element('img', { src, alt: label }, []))
  else if (address === undefined || isInLink) become(target, element('span', {}, [text(label || 'image')]))
  else {
    const name = label || new URL(address).host
    become(target, element('a', { href: address, className: ['outside'], rel: outside }, [text(`Image: ${name}`)]))
  }
}

const pictureData = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/]+={0,2}$/i
const outside = ['noopener', 'noreferrer', 'nofollow']

function addressOf(href: unknown): string | undefined {
  if (typeof href !== 'string' || href.length > maxAddress) return undefined
  const url = URL.parse(href)
  return url !== null && schemes.has(url.protocol) ? url.href : undefined
}
