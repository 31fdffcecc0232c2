import { linkKey } from '../../../rules/links/link-target.ts'
import { slugify, uniqueSlug } from '../../../rules/paths/slug.ts'
import { hasBareNumbers, linkableTitle, maxTitle, withoutBareNumber } from '../titles/document-title.ts'
import { isGenericName } from '../titles/generic-names.ts'
import type { PlannedPart } from './plan-parts.ts'

/** Maximum UTF-16 units of each half of a title that contains the document's title. */
const maxHalf = 98
/** Maximum bytes of one heading in a key. */
const maxSlug = 60

export type TitledPart = PlannedPart & {
  key: string
  title: string
  /** Text of the part's heading, if any. The title may be longer, to differ from those of other parts. */
  base: string
}

/**
 * Gives each part a title that is unique in the document and not in `taken` (as returned by `linkKey`, the document's own title among
 * them), and a key: the slugs of its headings, numbered if they repeat. A part's title and key do not depend on the parts after it.
 */
export function titleParts(parts: readonly PlannedPart[], document: string, taken: ReadonlySet<string>): TitledPart[] {
  const isNumbered = hasBareNumbers(parts.flatMap(({ name }) => name ?? []))
  const bare = (name: string) => (isNumbered ? withoutBareNumber(name) : name)
  const keys = new Set(['summary'])
  const titles = new Set([...taken, linkKey(document)])
  let section: { base: string; title: string; key: string } | undefined
  return parts.map((part) => {
    const name = part.name === undefined ? undefined : bare(part.name)
    const path = part.path.map(bare)
    // Further pieces of a section are named by the first.
    if (section === undefined || part.piece === undefined || part.piece === 1) {
      const slugs = [...path, name ?? 'part'].map((text) => slugify(text, maxSlug))
      const key = uniqueKey(slugs.join('/'), keys)
      const whole = name !== undefined && part.lastName !== undefined ? `${name} … ${bare(part.lastName)}` : name
      const base = linkableTitle(whole ?? '')
      section = { key, base, title: uniqueTitle(base, path, document, titles) }
    }
    const { key, base, title } = section
    const piece = part.piece ?? 1
    const named = {
      ...part,
      ...(name !== undefined && { name }),
      path,
      base,
      key: piece === 1 ? key : `${key}.${piece}`,
    }
    return { ...named, title: piece === 1 && title !== document ? title : countedTitle(title, titles, piece) }
  })
}

function uniqueKey(path: string, keys: Set<string>): string {
  const key = uniqueSlug(path, (slug) => keys.has(slug), 300)
  keys.add(key)
  return key
}

/**
 * Returns a title that is not among `titles` (as returned by `linkKey`), and adds it: a name, if necessary with the name of its section or
 * document. A part without a name gets the document's title.
 */
export function uniqueTitle(name: string, path: readonly string[], document: string, titles: Set<string>): string {
  if (name === '') return document
  const choices = titleChoices(name, path, document)
  const free = choices.find((choice) => !titles.has(linkKey(choice)))
  if (free === undefined) return countedTitle(ofBoth(name, document), titles, 2)
  titles.add(linkKey(free))
  return free
}

/** Returns the titles that a part may have, shortest first. A number may be appended to the last one. */
export function titleChoices(name: string, path: readonly string[], document: string): string[] {
  if (name === '') return [document]
  const parent = path.at(-1)
  return [
    ...(isGenericName(name) ? [] : [name]),
    ...(parent === undefined ? [] : [ofBoth(name, parent)]),
    ofBoth(name, document),
  ]
}

function ofBoth(name: string, whole: string): string {
  return `${linkableTitle(name, maxHalf)} – ${linkableTitle(whole, maxHalf)}`
}

/** Returns the title with the number, or with the next one that is free. */
export function countedTitle(title: string, titles: Set<string>, number: number): string {
  for (let n = number; ; n++) {
    const suffix = ` (${n})`
    const choice = linkableTitle(title, maxTitle - suffix.length) + suffix
    if (titles.has(linkKey(choice))) continue
    titles.add(linkKey(choice))
    return choice
  }
}
