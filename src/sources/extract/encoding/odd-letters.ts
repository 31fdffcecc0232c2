/** A capital within a word, a symbol or bracket between letters, a currency before one, letters of two scripts in one word. */
const oddInWords = [
  /(?<=\p{Ll})[\p{Lu}--[A-Z]]|(?<=[\p{Ll}--[a-z]])\p{Lu}|(?<=\p{Lu})[\p{Lu}--[A-Z]](?=\p{Ll})/gv,
  /(?<=\p{L})[[\p{Ps}\p{Pe}\p{Pi}\p{Pf}]--[\p{ASCII}‘’]](?=\p{L})/gv,
  /(?<=\p{L})[[\p{S}§¶†‡•„‚‰¦¸¡¿]--[\p{ASCII}´™®©°·]](?=\p{L})/gv,
  /\p{Sc}(?=\p{L})/gu,
  /(?<=\p{Script=Latin})[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/gu,
  /(?<=[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}])\p{Script=Latin}/gu,
  /(?<=\p{Script=Latin})[\p{Script=Han}\p{Script=Hangul}\uff61-\uff9f](?=\p{Ll})/gu,
]
const meaningless = /[\u{80}-\u{84}\u{86}-\u{9f}\p{Co}\p{Cn}\ufffd]/gu

/**
 * Counts character sequences that are rare in correct text and frequent in text that was decoded with the wrong encoding. Skips
 * ASCII words.
 */
export function countOddLetters(text: string): number {
  const words = text.split(/\s+/).filter((word) => /\P{ASCII}/u.test(word))
  return words.reduce((sum, word) => sum + oddLettersOf(word), text.match(meaningless)?.length ?? 0)
}

function oddLettersOf(word: string): number {
  return oddInWords.reduce((sum, pattern) => sum + (word.match(pattern)?.length ?? 0), 0)
}
