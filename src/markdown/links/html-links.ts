import { decodeString } from 'micromark-util-decode-string'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { parseDestination } from './markdown-link.ts'

/** Link in HTML: range of its tag, and its URL. `label`: alternative text of an image. */
export type HtmlLink = {
  link: Omit<WikiLink, 'line'>
  tag: { start: number; end: number }
  address: { start: number; written: string; isPlain: boolean }
  label: string
}

/** Matches text that may contain a link in HTML. */
export const mayLinkInHtml = /<(?:a|img)(?:\s|$)/im
/** Matches constructs of HTML in which no tag is an element. */
const unseen = /<!--.*?(?:-->|$)|<(script|style|template|textarea)[\s>].*?(?:<\/\1\s*>|$)/gis
const quoted = `\\s*(?:"[^"]{0,2000}"|'[^']{0,2000}')`
/** Pattern of a tag. A `>` in quotes does not end it; unclosed quotes are ordinary characters. Bounded, so that it takes linear time. */
const linkTag = new RegExp(`<(a|img)(\\s[^<>=]*(?:=(?:${quoted}|(?!${quoted}))[^<>=]*){0,50})>`, 'gi')
const attribute = /([^\s"'=<>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/g

/** Returns the links `<a href>` and images `<img src>` of an HTML fragment to pages and files of the knowledge base. Takes linear time. */
export function htmlLinks(html: string): HtmlLink[] {
  if (!mayLinkInHtml.test(html)) return []
  const shown = html.replace(unseen, (part) => part.replace(/[^\r\n]/g, ' '))
  return Array.from(shown.matchAll(linkTag), ({ 0: tag, 1: name = '', 2: attributes = '', index }) => {
    const embed = name.toLowerCase() === 'img'
    const start = index + 1 + name.length
    const known = new Map<string, { at: number; value: string }>()
    for (const { 0: whole, 1: key = '', 2: double, 3: single, 4: bare, index: at } of attributes.matchAll(attribute)) {
      const value = double ?? single ?? bare ?? ''
      const end = start + at + whole.length - (bare === undefined && whole.length > key.length ? 1 : 0)
      if (!known.has(key.toLowerCase())) known.set(key.toLowerCase(), { at: end - value.length, value })
    }
    const { at, value: written } = known.get(embed ? 'src' : 'href') ?? { at: 0, value: '' }
    const destination = parseDestination(decoded(written))
    return destination === undefined
      ? []
      : {
          link: { ...destination, form: 'markdown' as const, embed },
          tag: { start: index, end: index + tag.length },
          address: { start: at, written, isPlain: decoded(written) === written },
          label: decoded(known.get('alt')?.value ?? ''),
        }
  }).flat()
}

function decoded(value: string): string {
  return value.trim().replace(/&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z0-9]{1,31});/gi, decodeString)
}
