import { fold } from '../rules/text/fold.ts'
import { outsideCode } from './comments.ts'

type Named = { email: string; name: string }

const word = String.raw`[\p{L}\p{N}\p{M}_+\-]+(?:\.[\p{L}\p{N}\p{M}_+\-]+)*`
/** Matches a name or e-mail after an `@` that is not in a word, a URL or a path. */
const mention = new RegExp(String.raw`(?<![\p{L}\p{N}\p{M}_@/.+\-])@(${word}(?:@${word})?)`, 'gu')
const tagOrText = /<(\/?)([a-z][a-z0-9]*)(?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+/gi

/**
 * Returns the people whom a comment mentions, by the names as written: an e-mail, the part before its `@`, or a name without blanks.
 * Ambiguous names are ignored. Code and quotes mention nobody.
 */
export function mentionedIn<Person extends Named>(comment: string, people: readonly Person[]): Map<string, Person> {
  const text = Array.from(outsideCode(comment), (line) => (/^\s*>/.test(line.text) ? '' : line.text)).join('\n')
  const namesOf = ({ email, name }: Person) =>
    new Set([email, email.slice(0, email.indexOf('@')), name.replaceAll(/\s/gu, '')].map(fold))
  const written = new Set(Array.from(text.matchAll(mention), ([, name = '']) => name))
  const known = new Map<string, Person | undefined>()
  for (const person of written.size === 0 ? [] : people) {
    for (const name of namesOf(person)) known.set(name, known.has(name) ? undefined : person)
  }
  const found = new Map<string, Person>()
  for (const name of written) {
    const person = known.get(fold(name))
    if (person !== undefined) found.set(name, person)
  }
  return found
}

/** Marks names in a rendered comment, as links if there is a `href`. Code and links stay unchanged. */
export function markMentions(block: string, names: { has: (name: string) => boolean }, href?: string): string {
  const mark = (written: string) => (href === undefined ? `<b>${written}</b>` : `<a href="${href}">${written}</a>`)
  let depth = 0
  return block.replace(tagOrText, (part: string, end: string | undefined, tag: string | undefined) => {
    if (tag === undefined && depth === 0) {
      return part.replace(mention, (written: string, name: string) => (names.has(name) ? mark(written) : written))
    }
    if (/^(?:a|code|pre)$/i.test(tag ?? '')) depth += end === '/' ? -1 : 1
    return part
  })
}
