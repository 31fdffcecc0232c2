import type { PlaceInSource, Span } from './compiled.ts'

/** Words that the compiler itself adds to a page. */
export type CountedWords = {
  contents: string
  /** Returns the words about the origin. `link` is a wiki link. */
  from: (link: string, place: string | undefined) => string
  place: (place: PlaceInSource) => string | undefined
  /** Returns the words about figures. `file` is inline Markdown. */
  figures: (
    file: string,
    figures: { words: number; parts: number; pages: number; slides: number; sheets: number },
  ) => string
  joined: (found: number, parts: number) => string
}

const english: CountedWords = {
  contents: 'Contents',
  from: (link, place) => `From ${link}${place === undefined ? '' : `, ${place}`}.`,
  place: ({ pages, slides, sheet, time }) => {
    if (pages) return spanned(pages, 'page', 'pages')
    if (slides) return spanned(slides, 'slide', 'slides')
    if (sheet !== undefined) return `sheet ${sheet}`
    return time === undefined ? undefined : `at ${clock(time)}`
  },
  figures: (file, { words, parts, pages, slides, sheets }) =>
    `Compiled from ${file}: ${listOf([pages, 'page', 'pages'], [slides, 'slide', 'slides'], [sheets, 'sheet', 'sheets'], [words, 'word', 'words'], [parts, 'part', 'parts'])}.`,
  joined: (found, parts) =>
    `The document has ${found} sections, more than can be pages of their own: they stand together in ${parts}.`,
}

const german: CountedWords = {
  contents: 'Inhalt',
  from: (link, place) => `Aus ${link}${place === undefined ? '' : `, ${place}`}.`,
  place: ({ pages, slides, sheet, time }) => {
    if (pages) return spanned(pages, 'Seite', 'Seiten')
    if (slides) return spanned(slides, 'Folie', 'Folien')
    if (sheet !== undefined) return `Blatt ${sheet}`
    return time === undefined ? undefined : `bei ${clock(time)}`
  },
  figures: (file, { words, parts, pages, slides, sheets }) =>
    `Erstellt aus ${file}: ${listOf([pages, 'Seite', 'Seiten'], [slides, 'Folie', 'Folien'], [sheets, 'Blatt', 'Blätter'], [words, 'Wort', 'Wörter'], [parts, 'Teil', 'Teile'])}.`,
  joined: (found, parts) =>
    `Das Dokument hat ${found} Abschnitte, mehr als eigene Seiten sein können: Sie stehen zusammen auf ${parts}.`,
}

/** Returns the words in the language (BCP 47) of the knowledge base, or else in English. */
export function pageWordsFor(language: string): CountedWords {
  return /^de(?:-|$)/i.test(language) ? german : english
}

function spanned([first, last]: Span, one: string, many: string): string {
  return first === last ? `${one} ${first}` : `${many} ${first}–${last}`
}

function listOf(...counts: [count: number, one: string, many: string][]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${count} ${count === 1 ? one : many}`)
    .join(', ')
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  const digits = (n: number) => String(n).padStart(2, '0')
  return `${Math.floor(whole / 3600)}:${digits(Math.floor(whole / 60) % 60)}:${digits(whole % 60)}`
}
