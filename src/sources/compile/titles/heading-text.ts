import { atxHeading } from '../../../rules/text/atx-heading.ts'
import { oneLine } from '../../../rules/text/lines.ts'
import { inlineText } from '../inline-text.ts'

/** Characters of a heading that are used; the rest stays in the text. */
const maxLength = 1000

const numbering = /^(?:\d{1,3}(?:\.\d{1,3})+\.?|\d{1,3}[.)]|[IVXL]{1,6}\.|[A-Z]\.)\s+(?=[\p{L}\p{N}"'“„(])/u
const bareNumber = /^(\d{1,2})\s+(?=\p{L})/u

/** The text of an ATX heading's line: plain, without numbering such as `3.1`. Empty where it is nothing but markup. */
export function headingText(line: string): string {
  const { text = '' } = atxHeading(line.slice(0, maxLength)) ?? {}
  return oneLine(inlineText(text), maxLength).replace(numbering, '')
}

/** Whether headings are numbered without a dot, as in `3 Methods`: one such number alone may belong to its words. */
export function hasBareNumbers(texts: Iterable<string>): boolean {
  const numbers = new Set<string | undefined>()
  for (const text of texts) numbers.add(bareNumber.exec(text)?.[1])
  return numbers.has('1') && numbers.has('2')
}

export function withoutBareNumber(text: string): string {
  return text.replace(bareNumber, '')
}
