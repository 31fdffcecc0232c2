import type { Analyser } from '../text/analyser.ts'

/** What English and the Romance words in other languages end in when a stemmer shortens them. */
const endings =
  `s es ed er ies ing ly ness ment able ible ably ance ence ant ent ive al ally ous ful ism ist ity ion ation ational
  ize izing ization`.split(/\s+/)

/**
 * Stems that do not begin with a prefix, of words that could: an index holds `escal` for `escalation`, which `escalati`
 * begins. Each ending is put behind the prefix, and behind what of the ending the prefix has already.
 */
export function prefixStems(prefix: string, analyser: Analyser): string[] {
  const stems = new Set<string>()
  for (const word of [prefix, ...completions(prefix)]) {
    const [token, ...others] = analyser.tokens(word)
    if (token !== undefined && others.length === 0 && !token.term.startsWith(prefix)) stems.add(token.term)
  }
  return [...stems]
}

function* completions(prefix: string): Generator<string> {
  for (const ending of endings) {
    for (let held = 0; held < ending.length; held++) {
      if (prefix.endsWith(ending.slice(0, held))) yield prefix + ending.slice(held)
    }
  }
}
