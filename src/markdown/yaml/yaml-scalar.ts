/** YAML value in which every scalar is text. Maps have no prototype. */
export type YamlValue = string | YamlValue[] | YamlMap
export type YamlMap = { [key: string]: YamlValue }

/** Context of a scalar: a line of its own, or between `[` `,` `{` `:`. */
export type ScalarContext = 'block' | 'flow'

const indicatorFirst = /^[-?:,[\]{}#&*!|>'"%@`=<~. ]/
/** Matches controls, format characters, lone surrogates, and every space but U+0020, which tools treat differently outside of quotes. */
const fragile = /\p{C}|(?! )\p{Z}/u
const flowIndicator = /[,[\]{}:]/

const typedWord = /^(?:null|true|false|yes|no|on|off|y|n)$/i
const typedNumber =
  /^[-+]?(?:[\d_.,]+(?:e[-+]?\d+)?|0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*(?::\d+)+(?:\.[\d_]*)?|\.?(?:inf|nan))$/i
const typedDate = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[tT\s])/

/** True if `text` without quotes is a YAML scalar that is parsed back as the same text. Conservative, on one line. */
export function isPlainScalar(text: string, context: ScalarContext): boolean {
  return (
    text !== '' &&
    !indicatorFirst.test(text) &&
    !text.endsWith(' ') &&
    !text.endsWith(':') &&
    !text.includes(': ') &&
    !text.includes(' #') &&
    !(context === 'flow' && flowIndicator.test(text)) &&
    !fragile.test(text)
  )
}

/** Formats text so that tools of YAML 1.1 and 1.2 parse it back as the same text: plain if that is certain, else quoted. */
export function formatScalar(text: string, context: ScalarContext): string {
  const typed = typedWord.test(text) || typedNumber.test(text) || typedDate.test(text)
  // In a flow collection of YAML 1.1, a question mark opens a key.
  const opensKey = context === 'flow' && text.includes('?')
  return !typed && !opensKey && isPlainScalar(text, context) ? text : quote(text)
}

/**
 * Quotes as JSON, whose escapes are also YAML's, and escapes characters that JSON leaves raw but YAML 1.1 takes for a line break or a
 * control.
 */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
