/** Limits on parsed JSON: levels of nesting, keys, and all values together. */
export type JsonBounds = { depth: number; keys: number; values: number }

/** Limits for files and responses of other servers, which only prevent deep recursion. */
const ample: JsonBounds = { depth: 200, keys: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

/** Keys that can change a prototype when an object is copied carelessly. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Parses JSON. Returns undefined if the text is not JSON or nested too deeply. */
export function parseJson(text: string): unknown {
  if (jsonExcess(text, ample) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the limit that a text exceeds as JSON. Scans only the text, because building the value costs far more. */
export function jsonExcess(text: string, bounds: JsonBounds): keyof JsonBounds | undefined {
  let [depth, keys, values] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openBracket || code === openBrace) {
      if (++depth > bounds.depth) return 'depth'
      if (++values > bounds.values) return 'values'
    } else if (code === closeBracket || code === closeBrace) depth--
    else if (code === colon && ++keys > bounds.keys) return 'keys'
    else if (code === comma && ++values > bounds.values) return 'values'
  }
  return undefined
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Returns the index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at++
  }
  return text.length
}
