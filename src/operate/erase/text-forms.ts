import { decodeString } from 'micromark-util-decode-string'
import { fileSlug, slugify } from '../../rules/paths/slug.ts'
import { inert } from '../../rules/text/inert.ts'
import { escapeMarkdown } from '../../rules/text/literal.ts'

/** Word that replaces an erased text. */
export const erasedWord = 'Erased'

/** Text to erase. `isWord`: whole words only. */
type Sought = { text: string; isWord: boolean }

/** Minimum characters of a slug. Shorter slugs may come from other texts. */
const leastSlug = 6
/** Maximum bytes of slugs of titles, names of pictures, branches and parts, to which the server cuts them. */
const slugLengths = [80, 60, 50, 40]
/** Minimum bytes of a file name that may have been cut within the slug of a text. */
const cutName = 76
/** Maximum characters of a commit's subject, to which the server cuts it. */
const cutLine = 120

const entity = '&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});'
/** Pattern of emphasis and HTML tags at the end of a word. */
const markup = '(?:[*_~`]{1,3}|</?[A-Za-z][^<>\\n]{0,100}>){0,4}'
const special = /[\\^$.*+?()[\]{}|/]/g
/** Pattern of a character of a path or a URL. */
const pathCharacter = `[^\\s"'<>()|[\\]]`

/**
 * Forms in which files and rows contain texts to erase: as written in JSON, YAML, Markdown, HTML, URLs and commit messages, broken over
 * lines, cut short, and in file names that the server derives from them. Each form is derived with the function that produces it.
 */
export function textForms(sought: readonly Sought[]) {
  const texts = sought.map(({ text }) => text)
  const slugs = new Set(texts.flatMap(slugsOf))
  const inText = [...slugs].map((slug) => ({
    form: slug,
    pattern: isDistinct(slug) ? slugPattern(slug) : inPath(slug),
  }))
  const compile = (isLoose: boolean, flags: string) =>
    patternOf([...sought.flatMap((one) => patternsOf(one, isLoose)), ...inText], flags)
  const strict = compile(false, 'u')
  const loose = texts.length === 0 ? undefined : compile(true, 'gu')
  const inNames = patternOf(
    [...slugs].map((slug) => ({ form: slug, pattern: slugPattern(slug) })),
    'gu',
  )

  function replace(text: string): string {
    if (loose === undefined) return text
    const replaced = text.replace(loose, (found) => {
      if (slugs.has(found) && !texts.includes(found)) return erasedWord.toLowerCase()
      // An entity in the pattern matches any character.
      return !found.includes('&') || strict.test(found) || strict.test(decoded(found)) ? erasedWord : found
    })
    return withoutCut(replaced)
  }

  /** Removes also the forms in which the server derives names from titles. */
  function replaceName(name: string): string {
    const replaced = replace(name)
    if (slugs.size === 0) return replaced
    const whole = replaced.replace(inNames, erasedWord.toLowerCase())
    const [, stem = '', rest = ''] = /^(.*?)((?:-\d+)?(?:\.[^.]*)?)$/s.exec(whole) ?? []
    if (Buffer.byteLength(stem + rest) < cutName) return whole
    const end = endThatBegins(stem, [...slugs])
    return end === 0 ? whole : stem.slice(0, -end) + erasedWord.toLowerCase() + rest
  }

  /** Removes the beginning of a text from the end of a first line that the server has cut. */
  function withoutCut(text: string): string {
    const end = text.indexOf('\n')
    const line = end < 0 ? text : text.slice(0, end)
    if (line.length < cutLine - 2 || line.length > cutLine) return text
    const length = endThatBegins(line, texts)
    return length === 0 ? text : line.slice(0, -length) + erasedWord + text.slice(line.length)
  }

  return { replace, replaceName }
}

type Form = { form: string; pattern: string }

/** Returns a pattern of all forms, longest first, since one may contain another. Without forms, it never matches. */
function patternOf(forms: Form[], flags: string): RegExp {
  const sorted = forms.toSorted((a, b) => b.form.length - a.form.length)
  return new RegExp(sorted.length === 0 ? '(?!)' : sorted.map(({ pattern }) => pattern).join('|'), flags)
}

/** Returns the patterns of a text. @param isLoose true to match any entity in place of a character */
function patternsOf({ text, isWord }: Sought, isLoose: boolean): Form[] {
  const boundary = String.raw`[\p{L}\p{N}]`
  const bounded = (pattern: string) => (isWord ? `(?<!${boundary})${pattern}(?!${boundary})` : pattern)
  // Case in an e-mail address is not significant.
  const isAnyCase = text.includes('@')
  const whole = formsOf(text).map((form) => ({ form, pattern: bounded(escaped(form, isLoose, isAnyCase)) }))
  const characters = [...text]
  const least = Math.max(leastSlug, Math.ceil(characters.length / 2))
  const rest = characters.slice(least)
  if (rest.length === 0) return whole
  const begin = escaped(characters.slice(0, least).join(''), false)
  const cut = `${begin}${rest.map((one) => `(?:${escaped(one, false)}`).join('')}${')?'.repeat(rest.length)}\\s?(?=…)`
  return [...whole, { form: '', pattern: isWord ? `(?<!${boundary})${cut}` : cut }]
}

/** Returns a pattern for a space, an entity or a line end, also in JSON, with the markers that begin the next line. */
function gap(isLoose: boolean): string {
  const blank = isLoose ? String.raw`(?:[^\S\r\n]|${entity})` : String.raw`[^\S\r\n]`
  const newline = String.raw`(?:\r?\n|(?:\\r)?\\n)[^\S\r\n]*(?:>[^\S\r\n]*)*`
  return `${markup}${blank}{0,99}(?:${blank}|${newline})${markup}`
}

function escaped(text: string, isLoose: boolean, isAnyCase = false): string {
  return text
    .split(/(\s+|%[0-9A-F]{2})/)
    .map((part) => {
      if (/^\s+$/.test(part)) return gap(isLoose)
      if (/^%[0-9A-F]{2}$/.test(part)) return inCases(part)
      const pattern = (one: string) => (isAnyCase ? inCases(one) : one.replace(special, '\\$&'))
      return isLoose ? [...part].map((one) => `(?:${pattern(one)}|${entity})`).join('') : pattern(part)
    })
    .join('')
}

/** Returns a pattern of a text in upper and lower case. V8 misses matches of a group `(?i:…)` of alternatives. */
function inCases(text: string): string {
  return [...text]
    .map((one) => {
      const cases = [...new Set([one, one.toLowerCase(), one.toUpperCase()])].map((each) =>
        each.replace(special, '\\$&'),
      )
      return cases.length === 1 ? cases[0] : `(?:${cases.join('|')})`
    })
    .join('')
}

/** Returns a text with its entities decoded. */
function decoded(text: string): string {
  return text.replace(new RegExp(entity, 'g'), decodeString)
}

/** Returns the forms in which files and rows write a text. Markdown and JSON also contain URLs, and JSON contains JSON. */
function formsOf(text: string): string[] {
  const inJson = (one: string) => JSON.stringify(one).slice(1, -1)
  const inForm = (one: string) => new URLSearchParams({ _: one }).toString().slice('_='.length)
  const written = [text, text.normalize('NFC'), text.normalize('NFD')].flatMap((one) =>
    one.isWellFormed() ? [one, encodeURI(one), encodeURIComponent(one), inForm(one)] : [one],
  )
  const forms = written
    .flatMap((one) => [one, escapeMarkdown(one), inert(one)])
    .flatMap((one) => [one, inJson(one), inJson(inJson(one)), one.replaceAll("'", "''")])
  return [...new Set(forms)]
}

function slugsOf(text: string): string[] {
  const slugs = slugLengths.flatMap((length) => [fileSlug(text, length), slugify(text, length)])
  return [...new Set(slugs)].filter((slug) => slug.length >= leastSlug)
}

/** True if a slug cannot be a common word, or part of an id or a date. */
function isDistinct(slug: string): boolean {
  return /.-/.test(slug) && /\p{L}{2}/u.test(slug)
}

/** Returns a pattern of a slug, which may also be the prefix of ids. */
function slugPattern(slug: string): string {
  return String.raw`(?<![\p{L}\p{N}])${escaped(slug, false)}(?![\p{L}\p{N}_])`
}

/** Returns a pattern of a slug in a path of the repository or in an anchor. */
function inPath(slug: string): string {
  const before = `(?<=(?:neurons/|sources/|attachments/|#)${pathCharacter}{0,300})`
  const after = `(?=${pathCharacter}{0,300}\\.md(?![\\p{L}\\p{N}]))`
  return `${slugPattern(slug)}(?:${before}|${after})`
}

/** Returns the length of the longest end of a text that begins one of others and is at least half of it; 0 if there is none. */
function endThatBegins(text: string, others: readonly string[]): number {
  for (const other of others) {
    for (let length = other.length - 1; length >= Math.max(leastSlug, other.length / 2); length--) {
      if (text.endsWith(other.slice(0, length))) return length
    }
  }
  return 0
}
