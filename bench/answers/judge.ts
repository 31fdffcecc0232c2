import type { Answerable } from './question-set.ts'

/** An answer as a client of chat sees it. `paths` are those of the Neurons that it cites. */
export type Given = { text: string; paths: readonly string[] }

export const verdicts = [
  'right',
  'in part',
  'wrong but cited',
  'wrongly refused',
  'rightly refused',
  'made up',
] as const
export type Verdict = (typeof verdicts)[number]

/** An answer that cites nothing is a refusal. Right is one that says all that is asked for and cites a page that holds it. */
export function judge({ says, pages }: Pick<Answerable, 'says' | 'pages'>, { text, paths }: Given): Verdict {
  if (paths.length === 0) return 'wrongly refused'
  const said = saidIn(says, text)
  if (said.length === 0) return 'wrong but cited'
  const isCited = paths.some((path) => pages.some((page) => nameOf(path).endsWith(nameOf(page))))
  return said.length === says.length && isCited ? 'right' : 'in part'
}

/** Whether a text has all that a right answer says. */
export function holdsAnswer({ says }: Pick<Answerable, 'says'>, text: string): boolean {
  return saidIn(says, text).length === says.length
}

function saidIn(says: Answerable['says'], text: string): Answerable['says'] {
  const shown = comparable(text)
  return says.filter((choice) => [choice].flat().some((one) => shown.includes(comparable(one))))
}

/** The verdict on an answer to a question that the manual does not answer. */
export function judgeUnanswerable({ paths }: Given): Verdict {
  return paths.length === 0 ? 'rightly refused' : 'made up'
}

/** Returns Markdown approximately as readers see it, to find a few words in it. */
function comparable(markdown: string): string {
  return markdown
    .toLowerCase()
    .replace(/\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]/g, '$1')
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[*_`\\]/g, '')
    .replace(/\s+/g, ' ')
}

/** An import may have made file names safe. */
function nameOf(path: string): string {
  return path
    .toLowerCase()
    .replace(/\.md$/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
}
