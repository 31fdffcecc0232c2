import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ExtractionError } from '../extracted.ts'
import { maxMarkdownBytes } from './extract-limits.ts'

export type TextDocument = {
  text: string
  /** Doubts of `Extracted`: whether the encoding is uncertain. */
  doubts: string[]
}

/**
 * Reads a text that is about as long as the Markdown it becomes.
 * @throws {ExtractionError} `too-large`, `wrong-type`
 */
export async function readText(file: string): Promise<TextDocument> {
  const document = decodeDocument(await readFile(file))
  if (document.text.length > maxMarkdownBytes) {
    throw new ExtractionError('too-large', `The text is longer than ${maxMarkdownBytes / 2 ** 20} MB: split it.`)
  }
  return document
}

/** Decodes a document. @param declared see {@link decodeText} @throws {ExtractionError} `wrong-type` */
export function decodeDocument(bytes: Uint8Array, declared?: string): TextDocument {
  const { text, encoding, isDoubtful } = decodeText(bytes, declared)
  const doubt = `The file does not say in which encoding its text is. It was read as ${encoding}, and letters may be wrong.`
  return { text, doubts: isDoubtful ? [doubt] : [] }
}

const declaration = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,40})/i
const declarationBytes = 4096

/** Decodes a page as it declares itself, or else as its bytes look. @throws {ExtractionError} `wrong-type` */
export function decodeHtml(bytes: Buffer): TextDocument {
  return decodeDocument(bytes, declaration.exec(bytes.toString('latin1', 0, declarationBytes))?.[1])
}

/** Exports of the chardetng module, as wasm-bindgen writes them. Pointers are offsets in `memory`. */
type Detector = {
  memory: WebAssembly.Memory
  encodingdetector_new: () => number
  encodingdetector_feed: (detector: number, bytes: number, length: number, isLast: number) => number
  encodingdetector_guess: (result: number, detector: number, domain: number, length: number, allowsUtf8: number) => void
  __wbg_encodingdetector_free: (detector: number) => void
  __wbindgen_malloc: (size: number) => number
  __wbindgen_free: (pointer: number, size: number) => void
  __wbindgen_add_to_stack_pointer: (by: number) => number
}

let detector: Detector | undefined

/** A text, and the encoding that it was in. */
export type Decoded = {
  text: string
  encoding: string
  /** True if the encoding was guessed and the text looks wrong. */
  isDoubtful: boolean
}

const boms: [number[], string][] = [
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]
const western = 'windows-1252'
/** Encodings that the guesser does not know. */
const rare = ['macintosh', 'x-mac-cyrillic']
const patternBytes = 4096
const guessedBytes = 64 * 1024
/** Maximum characters that are examined. If they are text, the rest counts as text. */
const checkedLength = 2 ** 20
/** Number of different non-ASCII bytes that is too small for a guess, if a text has ten times as many ASCII bytes. */
const fewSpecial = 3
/** Maximum share of non-ASCII characters that may be odd. */
const maxOddShare = 0.06
/** Maximum share of non-ASCII characters that may be invalid in damaged UTF-8. */
const maxDamaged = 0.2
/** Maximum share of control characters in a text. */
const maxControlShare = 0.005
/**
 * Matches odd sequences: a capital within a word, a symbol or bracket between letters, a currency sign before a letter, letters of two
 * scripts in one word.
 */
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
 * Decodes a file after detecting its encoding: by byte order mark, pattern of NULs (UTF-16), `declared`, strict UTF-8, else by
 * statistics. Line ends become `\n`.
 * @param declared a label that the document gives itself, or its sender
 * @throws {ExtractionError} `wrong-type` where the bytes are no text.
 */
export function decodeText(bytes: Uint8Array, declared?: string): Decoded {
  const decoded =
    decodeMarked(bytes) ??
    decodeDeclared(bytes, declared) ??
    decodeUtf8(bytes) ??
    decodeDamagedUtf8(bytes) ??
    decodeGuessed(bytes)
  checkIsText(decoded.text)
  return { ...decoded, text: decoded.text.replace(/\r\n?/g, '\n') }
}

function decodeMarked(bytes: Uint8Array): Decoded | undefined {
  const [mark, encoding] = boms.find(([mark]) => mark.every((byte, index) => bytes[index] === byte)) ?? []
  if (encoding?.startsWith('utf-32')) return sure(decodeUtf32(bytes.subarray(4), encoding.endsWith('le')), encoding)
  if (mark && encoding !== undefined) return sure(new TextDecoder(encoding).decode(bytes), encoding)
  const byNuls = utf16ByNuls(bytes.subarray(0, patternBytes))
  return byNuls === undefined ? undefined : sure(new TextDecoder(byNuls).decode(bytes), byNuls)
}

function sure(text: string, encoding: string): Decoded {
  return { text, encoding, isDoubtful: false }
}

/**
 * Returns the encoding of UTF-16 text that has no byte order mark, judged by its NUL bytes: every other byte of Latin text, or of the
 * blanks between other words. Other encodings have none.
 */
function utf16ByNuls(bytes: Uint8Array): string | undefined {
  const nuls = [0, 0]
  for (const [index, byte] of bytes.entries()) if (byte === 0) nuls[index % 2] = (nuls[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = nuls
  const many = bytes.length * 0.02
  if (odd > many && even < odd / 20) return 'utf-16le'
  return even > many && odd < even / 20 ? 'utf-16be' : undefined
}

function decodeUtf32(bytes: Uint8Array, isLittleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: string[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, isLittleEndian)
    parts.push(point <= 0x10ffff ? String.fromCodePoint(point) : '\uFFFD')
  }
  return parts.join('')
}

function decodeDeclared(bytes: Uint8Array, declared: string | undefined): Decoded | undefined {
  // A page that declares UTF-16 and can be read as ASCII is not UTF-16.
  if (declared === undefined || /^utf-?(?:8|16|32)/i.test(declared)) return undefined
  const text = decodeAs(bytes, declared)
  return text === undefined ? undefined : sure(text, new TextDecoder(declared).encoding)
}

/** Escapes switch between the character sets of ISO-2022-JP, which is ASCII otherwise. */
function decodeUtf8(bytes: Uint8Array): Decoded | undefined {
  const text = bytes.includes(0x1b) ? decodeAs(bytes, 'iso-2022-jp') : undefined
  if (text !== undefined) return sure(text, 'iso-2022-jp')
  const utf8 = decodeAs(bytes, 'utf-8')
  return utf8 === undefined ? undefined : sure(utf8, 'utf-8')
}

/** Decodes damaged UTF-8, which is mostly valid: in other encodings, hardly a letter is valid UTF-8. */
function decodeDamagedUtf8(bytes: Uint8Array): Decoded | undefined {
  const text = new TextDecoder().decode(bytes)
  const damaged = text.match(/\ufffd/g)?.length ?? 0
  return damaged <= countSpecial(text) * maxDamaged ? { text, encoding: 'utf-8', isDoubtful: true } : undefined
}

/** Decodes by the guess, or by an encoding that the guesser does not know, if that gives fewer odd letters. */
function decodeGuessed(bytes: Uint8Array): Decoded {
  const firstSpecial = bytes.findIndex((byte) => byte > 127)
  const sample = bytes.subarray(Math.max(0, firstSpecial - 1024), firstSpecial + guessedBytes)
  const guesses = hasFewSpecial(sample) ? [western, guessEncoding(sample)] : [guessEncoding(sample)]
  const encodings = [...guesses, ...rare, western]
  const judged = encodings.map((encoding) => ({ encoding, odd: oddShare(sample, encoding) }))
  const { encoding, odd } = judged.reduce((best, next) => (next.odd < best.odd ? next : best))
  const whole = decodeAs(bytes, encoding)
  const text = whole ?? new TextDecoder(encoding).decode(bytes)
  return { text, encoding, isDoubtful: whole === undefined || odd > maxOddShare }
}

function hasFewSpecial(sample: Uint8Array): boolean {
  const special = sample.filter((byte) => byte > 127)
  return new Set(special).size <= fewSpecial && sample.length > 11 * special.length
}

/** Returns the share of non-ASCII characters that are odd, or cannot be decoded. */
function oddShare(sample: Uint8Array, encoding: string): number {
  const text = new TextDecoder(encoding).decode(sample)
  return countOddLetters(text) / Math.max(1, countSpecial(text))
}

/**
 * Counts character sequences that are rare in correct text and frequent in text that was decoded with the wrong encoding. Skips
 * ASCII words.
 */
function countOddLetters(text: string): number {
  const words = text.split(/\s+/).filter((word) => /\P{ASCII}/u.test(word))
  return words.reduce((sum, word) => sum + oddLettersOf(word), text.match(meaningless)?.length ?? 0)
}

function oddLettersOf(word: string): number {
  return oddInWords.reduce((sum, pattern) => sum + (word.match(pattern)?.length ?? 0), 0)
}

function countSpecial(text: string): number {
  return text.match(/\P{ASCII}/gu)?.length ?? 0
}

/** Returns `undefined` if the bytes are not valid in that encoding, or the encoding is unknown. */
function decodeAs(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function checkIsText(text: string): void {
  const start = text.slice(0, checkedLength)
  let controls = 0
  for (const { 0: run } of start.matchAll(/[^\P{Cc}\s\b\u{80}-\u{9F}]+/gu)) controls += run.length
  if (controls > start.length * maxControlShare) {
    throw new ExtractionError('wrong-type', 'The document is not text, whatever its extension says.')
  }
}

/**
 * Guesses the encoding of text that is not UTF-8, as Firefox does for pages that declare none.
 * @returns a name of the Encoding Standard in lower case, which `TextDecoder` knows
 * @see https://github.com/hsivonen/chardetng
 */
function guessEncoding(bytes: Uint8Array): string {
  detector ??= load()
  const { memory, __wbindgen_add_to_stack_pointer: moveStack } = detector
  const guesser = detector.encodingdetector_new()
  const start = detector.__wbindgen_malloc(bytes.length)
  new Uint8Array(memory.buffer).set(bytes, start)
  // It frees the bytes.
  detector.encodingdetector_feed(guesser, start, bytes.length, 1)
  const result = moveStack(-16)
  detector.encodingdetector_guess(result, guesser, 0, 0, 0)
  const [name = 0, length = 0] = new Int32Array(memory.buffer, result, 2)
  const encoding = new TextDecoder().decode(new Uint8Array(memory.buffer, name, length))
  moveStack(16)
  detector.__wbindgen_free(name, length)
  detector.__wbg_encodingdetector_free(guesser)
  // The decoder of GB 18030 decodes GBK, too.
  return encoding === 'GBK' ? 'gb18030' : encoding.toLowerCase()
}

/** Loads the detector. The package's own loader imports WebAssembly as a module, which is only experimental in Node. */
function load(): Detector {
  const file = import.meta.resolve('chardetng-wasm/dist/chardetng_wasm_bg.wasm')
  const module = new WebAssembly.Module(readFileSync(fileURLToPath(file)))
  const glue = {
    __wbindgen_throw: () => {
      throw new Error('The detector of encodings failed.')
    },
  }
  return new WebAssembly.Instance(module, { './chardetng_wasm_bg.js': glue }).exports as Detector
}
