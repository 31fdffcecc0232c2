import { isTrue, type XmlAttributes } from '../../xml.ts'

type Written = {
  text: string
  /** Whether letters behind it would seem to belong to its last part. */
  isOpen: boolean
  /** Set if the text is not put in brackets again. */
  whole?: 'brackets' | 'binomial' | undefined
}
type Piece = Written & { name: string }
type Frame = { name: string; properties: Map<string, string>; pieces: Piece[] }

/** Properties of a structure that are read: its signs, and what is hidden or has no bar. */
const properties: ReadonlySet<string> = new Set(['chr', 'begChr', 'endChr', 'sepChr', 'type', 'degHide'])
const startsWord = /^[\p{L}\p{N}]/u
const endsWord = /[\p{L}\p{N}]$/u

/** An equation (Office Math, ECMA-376 Part 1, 22.1) as text on a line, such as `(a+b)/c`. */
export class EquationText {
  readonly #frames: Frame[] = [frame('oMath')]
  #isText = false

  open(name: string, attributes: XmlAttributes): void {
    if (name === 't') this.#isText = true
    // A structure's properties stand in an element of their own.
    if (properties.has(name)) this.#frames.at(-2)?.properties.set(name, attributes['m:val'] ?? '')
    this.#frames.push(frame(name))
  }

  text(text: string): void {
    if (this.#isText) this.#frames.at(-1)?.pieces.push({ name: 't', text, isOpen: false })
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    const closed = this.#frames.pop()
    const parent = this.#frames.at(-1)
    const piece = closed && { name, ...written(closed, parent?.name) }
    if (piece?.text) parent?.pieces.push(piece)
  }

  result(): string {
    return this.#frames.map(({ pieces }) => joined(pieces).text).join('')
  }
}

function frame(name: string): Frame {
  return { name, properties: new Map(), pieces: [] }
}

function written({ name, properties, pieces }: Frame, parent: string | undefined): Written {
  const own = joined(pieces)
  if (name === 'num' || name === 'den' || name === 'deg') return short(own.text)
  if (name === 'sub' || (name === 'lim' && parent === 'limLow')) return after('_', own.text)
  if (name === 'sup' || (name === 'lim' && parent === 'limUpp')) return after('^', own.text)
  if (name === 'f') return fraction(properties, pieces)
  if (name === 'd') return delimited(properties, pieces)
  if (name === 'nary') return joined([{ name, text: properties.get('chr') ?? '∫', isOpen: false }, ...pieces])
  if (name === 'acc') return closed(own.text + (properties.get('chr') ?? '\u0302'))
  if (name === 'rad') return root(properties, pieces)
  if (name === 'mr') return closed(texts(pieces).join(', '))
  if (name === 'm' || name === 'eqArr') return closed(texts(pieces).join('; '))
  // An exponent or index belongs to the whole of its base.
  const isBase = name === 'e' && (parent === 'sSup' || parent === 'sSub' || parent === 'sSubSup')
  if (isBase && pieces.some((piece) => piece.name === 'f')) return closed(`(${own.text})`)
  if (name === 'e' && parent === 'func') return own.whole ? own : closed(`(${own.text.trim()})`)
  return own
}

function joined(pieces: readonly Piece[]): Written {
  const [only, ...others] = pieces
  if (only && others.length === 0) return { text: only.text, isOpen: only.isOpen, whole: only.whole }
  let text = ''
  let isOpen = false
  for (const piece of pieces) {
    const isApart = isOpen || (piece.name === 'f' && endsWord.test(text))
    text += isApart && startsWord.test(piece.text) ? ` ${piece.text}` : piece.text
    isOpen = piece.isOpen
  }
  return { text, isOpen }
}

function texts(pieces: readonly Piece[]): string[] {
  return pieces.map(({ text }) => text)
}

function textOf(pieces: readonly Piece[], name: string): string {
  return pieces.find((piece) => piece.name === name)?.text ?? ''
}

function closed(text: string): Written {
  return { text, isOpen: false }
}

/** A single sign needs no brackets. */
function short(text: string): Written {
  const bare = text.trim()
  const isShort = /^[\p{L}\p{N}∞]$/u.test(bare)
  return { text: isShort ? bare : `(${bare})`, isOpen: isShort }
}

function after(sign: string, text: string): Written {
  if (text.trim() === '') return closed('')
  const part = short(text)
  return { ...part, text: sign + part.text }
}

function fraction(properties: Frame['properties'], pieces: readonly Piece[]): Written {
  const [above, below] = [textOf(pieces, 'num'), textOf(pieces, 'den')]
  // One above the other without a bar: in brackets a binomial coefficient.
  if (properties.get('type') === 'noBar') {
    return { ...closed(`C(${unbracketed(above)},${unbracketed(below)})`), whole: 'binomial' }
  }
  return { text: `${above}/${below}`, isOpen: pieces.at(-1)?.isOpen === true }
}

function unbracketed(text: string): string {
  return text.startsWith('(') ? text.slice(1, -1) : text
}

function delimited(properties: Frame['properties'], pieces: readonly Piece[]): Written {
  const inner = texts(pieces).join(properties.get('sepChr') ?? '|')
  const [begin, end] = [properties.get('begChr') ?? '(', properties.get('endChr') ?? ')']
  const isBinomial = begin === '(' && pieces.length === 1 && pieces[0]?.whole === 'binomial'
  return { ...closed(isBinomial ? inner : begin + inner + end), whole: 'brackets' }
}

function root(properties: Frame['properties'], pieces: readonly Piece[]): Written {
  const of = short(textOf(pieces, 'e'))
  const hidden = properties.get('degHide')
  const degree = hidden === '' || isTrue(hidden) ? '' : textOf(pieces, 'deg')
  if (degree === '' || degree === '()') return { ...of, text: `√${of.text}` }
  return closed(`${of.text}^(1/${degree})`)
}
