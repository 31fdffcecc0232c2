import { hashOfUnits, hashSlot } from './term-table.ts'
import type { Token } from './tokens.ts'

/** Maximum length of a plain run. A longer one may be cut, or be encoded data. */
const maxPlainRun = 20

/** Kinds of UTF-16 units in a run of words; 0 beyond ASCII. */
const kind = { letter: 1, digit: 2, joining: 3, divider: 4 }
const kinds = new Uint8Array(2 ** 16)
for (let code = 0; code < 128; code++) kinds[code] = kindOf(String.fromCharCode(code))

const [comma, fullStop] = [44, 46]

function kindOf(character: string): number {
  if (/[a-zA-Z]/.test(character)) return kind.letter
  if (/[0-9]/.test(character)) return kind.digit
  return /[_.'+#-]/.test(character) ? kind.joining : kind.divider
}

/** Returns the next possible start of a run of words, see `runs`, or the length of the text. */
export function nextLetter(text: Uint16Array, at: number): number {
  let next = at
  while (next < text.length && (kinds[text[next] ?? 0] ?? 0) >= kind.joining) next++
  return next
}

/**
 * Returns the end of the run at `at` if it is a word of ASCII letters, or a number of digits, between dividers; otherwise `at`.
 * Nearly all runs of English text are, so they need no regular expression.
 */
export function endOfPlainRun(text: Uint16Array, at: number): number {
  const ofRun = kinds[text[at] ?? 0]
  if ((ofRun !== kind.letter && ofRun !== kind.digit) || (at > 0 && !isDivider(text, at - 1))) return at
  let end = at + 1
  while (end < text.length && kinds[text[end] ?? 0] === ofRun) end++
  if (end - at > maxPlainRun) return at
  if (end === text.length) return end
  // The number may continue: `10,000`.
  if (isDivider(text, end)) return text[end] === comma && ofRun === kind.digit ? at : end
  // A full stop may end the sentence.
  return text[end] === fullStop && (end + 1 === text.length || isDivider(text, end + 1)) ? end : at
}

export function isNumber(text: Uint16Array, at: number): boolean {
  return kinds[text[at] ?? 0] === kind.digit
}

function isDivider(text: Uint16Array, at: number): boolean {
  return kinds[text[at] ?? 0] === kind.divider
}

/** Maximum cached runs, some 10 MB; a power of two. */
const size = 2 ** 16
/** Units of a cache record: the length of a run, then the run. Records are contiguous, because most are not in the processor's cache. */
const recordSize = 1 + maxPlainRun

/**
 * Cache of the tokens of plain runs: most words of a text recur. Each run has two slots. A new one moves the first slot's run to
 * the second, so that two frequent words do not evict each other.
 */
export class KnownRuns {
  readonly #records = new Uint16Array(size * recordSize)
  readonly #tokens = new Array<readonly Token[]>(size).fill([])

  /** Returns the tokens of a range of a text, which is a plain run. */
  find(text: Uint16Array, start: number, end: number): readonly Token[] | undefined {
    const place = hashSlot(hashOfUnits(text, start, end), size)
    if (this.#isAt(place, text, start, end)) return this.#tokens[place]
    return this.#isAt(place ^ 1, text, start, end) ? this.#tokens[place ^ 1] : undefined
  }

  /** Adds the tokens of a plain run that is not cached. */
  add(text: Uint16Array, start: number, end: number, tokens: readonly Token[]): void {
    const place = hashSlot(hashOfUnits(text, start, end), size)
    const record = place * recordSize
    this.#records.copyWithin((place ^ 1) * recordSize, record, record + recordSize)
    this.#tokens[place ^ 1] = this.#tokens[place] ?? []
    this.#records[record] = end - start
    this.#records.set(text.subarray(start, end), record + 1)
    this.#tokens[place] = tokens
  }

  #isAt(place: number, text: Uint16Array, start: number, end: number): boolean {
    const records = this.#records
    const record = place * recordSize
    if (records[record] !== end - start) return false
    const from = record + 1 - start
    for (let at = start; at < end; at++) if (records[from + at] !== text[at]) return false
    return true
  }
}

const leastSize = 4096
/** Maximum units for which the buffer is reused, so that one large text does not keep its memory. */
const mostSize = 2 ** 16

let free: Uint16Array<ArrayBuffer> | undefined

/** Returns the UTF-16 units of a text, which are read several times as fast as `charCodeAt` on a substring. Valid until {@link releaseUnits}. */
export function unitsOf(text: string): Uint16Array<ArrayBuffer> {
  const memory = free !== undefined && free.length >= text.length ? free : allocated(text.length)
  free = undefined
  Buffer.from(memory.buffer).write(text, 'utf16le')
  return memory.subarray(0, text.length)
}

/** Lets the next text reuse the buffer. */
export function releaseUnits({ buffer }: Uint16Array<ArrayBuffer>): void {
  if (buffer.byteLength <= 2 * mostSize) free = new Uint16Array(buffer)
}

function allocated(length: number): Uint16Array<ArrayBuffer> {
  return new Uint16Array(Math.max(leastSize, length))
}
