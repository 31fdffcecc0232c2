import { atxHeading } from '../../../rules/text/atx-heading.ts'
import { oneLine } from '../../../rules/text/lines.ts'
import { inlineText } from '../inline-text.ts'

/** Maximum characters of a heading that are used; the rest stays in the text. */
const maxLength = 1000

const numbering = /^(?:\d{1,3}(?:\.\d{1,3})+\.?|\d{1,3}[.)]|[IVXL]{1,6}\.|[A-Z]\.)\s+(?=[\p{L}\p{N}"'“„(])/u
const bareNumber = /^(\d{1,2})\s+(?=\p{L})/u

/** Returns the plain text of an ATX heading's line, without numbering such as `3.1`. Empty if the line is only markup. */
export function headingText(line: string): string {
  const { text = '' } = atxHeading(line.slice(0, maxLength)) ?? {}
  return oneLine(inlineText(text), maxLength).replace(numbering, '')
}

/** Whether the headings are numbered without a dot, as in `3 Methods`. A single such number may belong to its heading's words. */
export function hasBareNumbers(texts: Iterable<string>): boolean {
  const numbers = new Set<string | undefined>()
  for (const text of texts) numbers.add(bareNumber.exec(text)?.[1])
  return numbers.has('1') && numbers.has('2')
}

export function withoutBareNumber(text: string): string {
  return text.replace(bareNumber, '')
}
