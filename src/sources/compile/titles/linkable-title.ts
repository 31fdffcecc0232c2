import { isWritableTarget } from '../../../markdown/rewrite/rewrite-links.ts'
import { oneLine } from '../../../rules/text/lines.ts'
import { shorten } from '../../../rules/text/literal.ts'
import { withoutOuterFormatSigns } from '../../format-signs.ts'

/** Maximum UTF-16 units of a title, which must fit into a wiki link. */
export const maxTitle = 200

const replacements: Readonly<Record<string, string>> = { '[': '(', ']': ')', '|': '/', '\\': '/' }
/** Full-width forms of `#` and `:`, which search and links treat as equal (NFKD) but which have no meaning in a link. */
const wideHash = '＃'
const wideColon = '：'

/** Returns a title of at most `max` UTF-16 units that can be the target of a wiki link; empty if nothing visible is left. */
export function linkableTitle(text: string, max = maxTitle): string {
  const bare = withoutOuterFormatSigns(oneLine(text, text.length)).replace(
    /[[\]|\\]/g,
    (sign) => replacements[sign] ?? ' ',
  )
  const title = shorten(bare.replaceAll('#', wideHash), max)
  if (title === '' || isWritableTarget(title)) return title
  return title.replaceAll(':', wideColon)
}
