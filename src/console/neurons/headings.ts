import { type Html, html, trusted } from '../layout/html.ts'

/** Fewer headings than this are found by looking. */
const leastHeadings = 4
const mostHeadings = 200

type Heading = { level: number; id: Html; label: Html }

/** The headings of a rendered page, as a list of links that is folded away. */
export function headingList({ blocks }: { blocks: readonly string[] }): Html | undefined {
  const headings = blocks.flatMap((block) => headingOf(block) ?? [])
  if (headings.length < leastHeadings) return undefined
  return html`<nav class="on-this-page" aria-label="On this page"><details><summary>On this page</summary>
    <ul>${headings.slice(0, mostHeadings).map(({ level, id, label }) => html`<li class="level-${level}"><a href="#${id}">${label}</a></li>`)}</ul>
  </details></nav>`
}

/** The sanitiser has made the block: each element at the top of a page, and so each of its headings, is one. */
function headingOf(block: string): Heading | undefined {
  const [, level = '', id = '', inner = ''] =
    /^<h([2-4])\s(?:[^>]*\s)?id="([^"]+)"[^>]*>([\s\S]*)<\/h\1>\s*$/.exec(block) ?? []
  // Both are escaped as they stand in the block.
  const label = inner
    .replace(/<[^>]*>/g, '')
    .replaceAll('<', '')
    .trim()
  return label === '' ? undefined : { level: Number(level), id: trusted(id), label: trusted(label) }
}
