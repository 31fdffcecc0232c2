export type Raised = 'sup' | 'sub'

/** Characters that Unicode has as superscripts, each followed by its superscript. */
const superscripts =
  '0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻−⁻–⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻAᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂβᵝγᵞδᵟθᶿ'
/** Characters that Unicode has as subscripts, each followed by its subscript. */
const subscripts = '0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋−₋–₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ'
const signs: Readonly<Record<Raised, ReadonlyMap<string, string>>> = {
  sup: pairs(superscripts),
  sub: pairs(subscripts),
}
/** Maximum characters of an index or exponent. Longer text is small print, which reads the same at any height. */
const maxLength = 40
/** Endings of ordinals, abbreviations and marks, behind what they belong to. They mean the same on the line. */
const sameOnLine =
  /(?:[\dIVXLCDM](?:st|nd|rd|th|er|ère|re|e|ème|de|nde?|os?|as?)|M(?:me|mes|lle|lles|gr)|(?:TM|SM|MD))$/u
/** Beginning of an index or exponent. Notes begin with other signs, such as a bracket or a colon. */
const beginning = /^[\p{L}\p{N}+\-−–=(∗*′.,±√∞]/u

/**
 * Returns superscript or subscript text as it can stand on a line, such as `⁶` in `10⁶` or `^(2·k)`: on the line without a sign, an
 * exponent would become digits of its base. White space around the text stays. `base` is the text in front.
 */
export function raisedText(text: string, kind: Raised, base: string): string {
  const [, before = '', body = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? []
  const hasBase = before === '' && /\S$/.test(base)
  const isNote = !beginning.test(body) || !(hasBase ? /[\p{L}\p{N}∞]/u : /\p{N}/u).test(body)
  if (isNote || body.length > maxLength || sameOnLine.test(base.slice(-1) + body)) return text
  const raised = Array.from(body, (sign) => signs[kind].get(sign))
  const isWhole = raised.every((sign) => sign !== undefined)
  return `${before}${isWhole ? raised.join('') : `${kind === 'sup' ? '^' : '_'}(${body})`}${after}`
}

function pairs(text: string): Map<string, string> {
  return new Map(Array.from(text.matchAll(/(.)(.)/gsu), ([, sign = '', raised = '']) => [sign, raised]))
}
