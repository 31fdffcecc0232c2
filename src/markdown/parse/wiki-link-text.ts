import { edgeTypes } from '../../contract/enumerations.ts'
import type { WikiLink } from '../../rules/neurons/neuron.ts'

/** Parsed text between `[[` and `]]`. */
export type WikiLinkText = Omit<WikiLink, 'embed' | 'line'>

/**
 * Matches a Markdown URL right after `]]`: `[[1]](https://…)` is a Markdown link whose text is `[1]`. Any other bracket after a wiki link,
 * as in `[[Page]](see there)`, is text.
 */
export const addressBehind =
  /\((?:<?(?:(?:https?|mailto):|#|\.{0,2}\/)[^\n()]{0,2000}|[^\s()]{1,2000}\.(?:md|markdown|html?)(?:[#?][^\s()]{0,2000})?>?)[)(]/i
/** Maximum characters after `]]` in which {@link addressBehind} is searched. */
export const maxAddress = 2_000

const foreign = /^kb:([a-z0-9][a-z0-9-]*)\/(.*)$/s

/**
 * Parses `Target`, `Target|alias`, `Target#Heading`, `type:Target`, `kb:other-kb/Target`. In a table the pipe must be escaped, so `\|` is a
 * separator too. Returns `undefined` for an empty target, which makes it literal text.
 */
export function parseWikiLinkText(inner: string): WikiLinkText | undefined {
  const { reference, alias } = splitAlias(inner)
  if (reference.startsWith('#')) return undefined
  const colon = reference.indexOf(':')
  const prefix = reference.slice(0, Math.max(colon, 0))
  const type = edgeTypes.find((known) => known === prefix)
  const untyped = type === undefined ? reference : reference.slice(colon + 1).trim()
  const [, kb, local] = foreign.exec(untyped) ?? [undefined, undefined, untyped]
  const hash = local?.indexOf('#') ?? -1
  const heading = hash < 0 ? '' : (local?.slice(hash + 1).trim() ?? '')
  const target = (heading === '' ? local : local?.slice(0, hash))?.trim() ?? ''
  if (target === '') return undefined
  return {
    target,
    ...(type === undefined ? {} : { type }),
    ...(kb === undefined ? {} : { kb }),
    ...(heading === '' ? {} : { heading }),
    ...(alias === '' ? {} : { alias }),
  }
}

/**
 * Returns the visible text of a link within its own page: the alias of `#Heading|alias`, or else the heading, or the empty text for a block
 * id. Returns `undefined` for any other link.
 */
export function ownPageLinkText(inner: string): string | undefined {
  const place = ownPagePlace(inner)
  const { alias } = splitAlias(inner)
  if (place === undefined || alias !== '') return place && alias
  return place.startsWith('^') ? '' : place
}

/** Returns the heading or block that a link within its own page names, or `undefined` for any other link. */
export function ownPagePlace(inner: string): string | undefined {
  return /^#+([^#].*)$/s.exec(splitAlias(inner).reference)?.[1]?.trim()
}

function splitAlias(inner: string): { reference: string; alias: string } {
  const pipe = /\\?\|/.exec(inner)
  if (!pipe) return { reference: inner.trim(), alias: '' }
  return { reference: inner.slice(0, pipe.index).trim(), alias: inner.slice(pipe.index + pipe[0].length).trim() }
}
