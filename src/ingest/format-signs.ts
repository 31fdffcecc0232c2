/** What formats text and cannot be seen, but the tags that flags end in. */
const atEnds = /^[\s[\p{Cf}--[\u{E0020}-\u{E007F}]]]+|[\s[\p{Cf}--[\u{E0020}-\u{E007F}]]]+$/gv

/** Text without invisible signs and blanks at its ends; within it, scripts and emoji need some. */
export function withoutOuterFormatSigns(text: string): string {
  return text.replace(atEnds, '')
}
