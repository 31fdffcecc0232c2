import { ExtractionError } from '../../extracted.ts'
import { asInlineMarkdown, plainLine } from '../markdown/as-inline-markdown.ts'
import { markdownTable } from '../markdown/markdown-table.ts'
import { encodingOf, encodingOfFont } from './rtf-encodings.ts'

/** Groups within groups, deeper than any program writes. */
const maxDepth = 500
const maxColumns = 256

/** A control word with its number, a control symbol, a byte in hexadecimal, a brace, or text. */
const token = /\\(?:([a-zA-Z]{1,32})(-?\d{1,10})? ?|'([0-9a-fA-F]{2})|([^a-zA-Z]))|([{}])|[\r\n]+|[^\\{}\r\n]+/gs
/** Groups that hold no text of the document (destinations). */
const destinations: ReadonlySet<string> = new Set([
  ...['fonttbl', 'colortbl', 'stylesheet', 'listtable', 'listoverridetable', 'revtbl', 'rsidtbl', 'generator', 'info'],
  ...[
    'pict',
    'object',
    'themedata',
    'colorschememapping',
    'latentstyles',
    'datastore',
    'xmlnstbl',
    'filetbl',
    'objdata',
  ],
  ...['header', 'headerl', 'headerr', 'headerf', 'footer', 'footerl', 'footerr', 'footerf', 'fldinst', 'bkmkstart'],
  ...[
    'bkmkend',
    'annotation',
    'atnid',
    'atnauthor',
    'atnref',
    'atndate',
    'pntext',
    'listtext',
    'shpinst',
    'nonshppict',
  ],
])
const characters: ReadonlyMap<string, string> = new Map([
  ...([
    ['tab', ' '],
    ['line', ' '],
    ['emdash', '—'],
    ['endash', '–'],
    ['bullet', '•'],
    ['lquote', '‘'],
  ] as const),
  ...([
    ['rquote', '’'],
    ['ldblquote', '“'],
    ['rdblquote', '”'],
    ['emspace', ' '],
    ['enspace', ' '],
    ['~', ' '],
  ] as const),
  ...([
    ['_', '-'],
    ['zwj', '\u200d'],
    ['zwnj', '\u200c'],
  ] as const),
])

type State = {
  destination: string
  isHidden: boolean
  /** Characters that stand for one that Unicode names before them. */
  fallback: number
  encoding: string | undefined
  /** Number of the paragraph's style, and its own outline level. */
  style: number | undefined
  level: number | undefined
  isInTable: boolean
}

const start: State = {
  destination: 'body',
  isHidden: false,
  fallback: 1,
  encoding: undefined,
  style: undefined,
  level: undefined,
  isInTable: false,
}

export class RtfText {
  readonly #maxLength: number
  #state: State = { ...start }
  readonly #stack: State[] = []
  #encoding = 'windows-1252'
  readonly #fonts = new Map<number, string>()
  #font = 0
  readonly #outlines = new Map<number, number>()
  readonly #blocks: string[] = []
  #length = 0
  #bytes: number[] = []
  #paragraph = ''
  #toSkip = 0
  #rows: string[][] = []
  #row: string[] = []
  #cell: string[] = []
  #title = ''
  /** Whether `\\*` stands before the next word, which may then be ignored. */
  #isOptional = false

  /** @param maxLength characters of the text */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** @param source bytes of the file, each as one character @throws {ExtractionError} `too-large` */
  read(source: string): { title: string | undefined; markdown: string; isCut: boolean } {
    let skipTo = 0
    for (const { 0: text, 1: word, 2: number, 3: byte, 4: symbol, 5: brace, index } of source.matchAll(token)) {
      if (index < skipTo) continue
      if (brace === '{') this.#open()
      else if (brace === '}') this.#close()
      else if (byte !== undefined) this.#addByte(Number.parseInt(byte, 16))
      else if (word === 'bin') skipTo = index + text.length + Math.max(0, Number(number ?? 0))
      else if (word !== undefined) this.#control(word, number === undefined ? undefined : Number(number))
      else if (symbol !== undefined) this.#symbol(symbol)
      else if (!/^[\r\n]/.test(text)) for (const sign of text) this.#addByte(sign.charCodeAt(0))
    }
    this.#endParagraph()
    this.#endTable()
    const title = this.#title.replace(/\s+/g, ' ').trim()
    return { title: title || undefined, markdown: this.#blocks.join('\n\n'), isCut: this.#stack.length > 0 }
  }

  #open(): void {
    this.#flush()
    if (this.#stack.length >= maxDepth) {
      throw new ExtractionError('too-large', 'The document is nested too deeply to be read.')
    }
    this.#stack.push(this.#state)
    this.#state = { ...this.#state }
  }

  #close(): void {
    this.#flush()
    this.#isOptional = false
    this.#state = this.#stack.pop() ?? this.#state
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#isOptional = true
    else if (/[\\{}]/.test(symbol)) this.#addByte(symbol.charCodeAt(0))
    else if (symbol === '\n' || symbol === '\r') this.#control('par', undefined)
    else this.#add(characters.get(symbol) ?? '')
  }

  #control(word: string, number: number | undefined): void {
    this.#flush()
    const isOptional = this.#isOptional
    this.#isOptional = false
    if (isOptional || destinations.has(word)) this.#state.destination = word
    // The text of text boxes is in a group that may be ignored.
    else if (word === 'shptxt') this.#state.destination = 'body'
    else if (word === 'title') this.#state.destination = this.#state.destination === 'info' ? 'title' : 'info'
    else if (word === 'upr') this.#state.destination = 'upr'
    else if (word === 'u' && number !== undefined) {
      this.#add(String.fromCharCode(number & 0xffff))
      this.#toSkip = this.#state.fallback
    } else if (word === 'uc') this.#state.fallback = Math.min(Math.max(number ?? 1, 0), 100)
    else if (word === 'v') this.#state.isHidden = number !== 0
    else if (word === 'ansicpg') this.#encoding = encodingOf(number ?? 0) ?? this.#encoding
    else if (word === 'mac') this.#encoding = 'macintosh'
    else if (word === 'f') this.#useFont(number ?? 0)
    else if (word === 'fcharset') this.#setFont(number ?? 0)
    else if (word === 'plain') this.#state.isHidden = false
    else this.#layout(word, number)
  }

  #layout(word: string, number: number | undefined): void {
    if (word === 's') this.#state.style = number
    else if (word === 'outlinelevel') this.#setLevel(number ?? 9)
    else if (this.#state.destination !== 'body') return
    else if (word === 'par' || word === 'sect' || word === 'page') this.#endParagraph()
    else if (word === 'pard') {
      this.#state = { ...this.#state, style: undefined, level: undefined, isInTable: false }
    } else if (word === 'intbl') this.#state.isInTable = true
    else if (word === 'cell' || word === 'nestcell') this.#endCell()
    else if (word === 'row' || word === 'nestrow') this.#endRow()
    else this.#add(characters.get(word) ?? '')
  }

  #useFont(number: number): void {
    this.#font = number
    if (this.#state.destination !== 'fonttbl') this.#state.encoding = this.#fonts.get(number)
  }

  #setFont(charset: number): void {
    const encoding = encodingOfFont(charset)
    if (encoding !== undefined) this.#fonts.set(this.#font, encoding)
  }

  /** Of a style, or of a paragraph. */
  #setLevel(level: number): void {
    if (this.#state.destination === 'stylesheet') {
      if (this.#state.style !== undefined && level < 9) this.#outlines.set(this.#state.style, level)
    } else this.#state.level = level
  }

  /** A byte of the encoding of its font; what stands for a character that Unicode has named is skipped. */
  #addByte(byte: number): void {
    if (this.#toSkip > 0) this.#toSkip--
    else this.#bytes.push(byte)
  }

  #flush(): void {
    if (this.#bytes.length === 0) return
    const text = new TextDecoder(this.#state.encoding ?? this.#encoding).decode(Uint8Array.from(this.#bytes))
    this.#bytes = []
    this.#add(text)
  }

  #add(text: string): void {
    this.#flush()
    const { destination, isHidden } = this.#state
    if (destination === 'title') this.#title += text
    if (destination !== 'body' || isHidden) return
    this.#length += text.length
    if (this.#length > this.#maxLength) throw new ExtractionError('too-large', 'The text of the document is too long.')
    this.#paragraph += text
  }

  #takeParagraph(): string {
    this.#flush()
    const text = this.#paragraph.toWellFormed()
    this.#paragraph = ''
    return text.trim()
  }

  #endParagraph(): void {
    const text = this.#takeParagraph()
    if (this.#state.isInTable) {
      if (text !== '') this.#cell.push(text)
      return
    }
    if (text === '') return
    this.#endTable()
    const level = this.#state.level ?? this.#outlines.get(this.#state.style ?? -1)
    const marks = level === undefined || level >= 9 ? '' : `${'#'.repeat(Math.min(level + 1, 6))} `
    this.#blocks.push(marks + plainLine(text))
  }

  #endCell(): void {
    const text = this.#takeParagraph()
    if (this.#row.length < maxColumns) this.#row.push([...this.#cell, text].filter((line) => line !== '').join(' '))
    this.#cell = []
  }

  #endRow(): void {
    if (this.#row.some((cell) => cell !== '')) this.#rows.push(this.#row)
    this.#row = []
  }

  #endTable(): void {
    if (this.#row.length > 0) this.#endRow()
    if (this.#rows.length > 0) this.#blocks.push(markdownTable(this.#rows.map((row) => row.map(asInlineMarkdown))))
    this.#rows = []
  }
}
