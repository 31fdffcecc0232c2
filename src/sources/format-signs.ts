/** Matches a blank or an invisible formatting character, except the tag characters at the end of flag emoji. */
const sign = String.raw`[\s[\p{Cf}--[\u{E0020}-\u{E007F}]]]`
/** A run that is looked for from its beginning only takes linear time. */
const atEnds = new RegExp(`^${sign}+|(?<!${sign})${sign}+$`, 'gv')

/** Removes invisible signs and blanks at the ends of a text. Within it they stay, since scripts and emoji need some. */
export function withoutOuterFormatSigns(text: string): string {
  return text.replace(atEnds, '')
}
