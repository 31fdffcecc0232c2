import { isTrue, type XmlElement } from '../../xml.ts'

type Written = {
  text: string
  /** True if letters behind it would seem to belong to its last part. */
  isOpen: boolean
  /** Kind of a whole whose text needs no further brackets. */
  whole?: 'brackets' | 'binomial' | undefined
}
/** Part of a structure, by the name of its element. */
type Piece = Written & { name: string }

const startsWord = /^[\p{L}\p{N}]/u
const endsWord = /[\p{L}\p{N}]$/u

/** Returns an equation (Office Math, ECMA-376 Part 1, 22.1) as text on a line, such as `(a+b)/c`. */
export function equationText(equation: XmlElement): string {
  return written(equation, undefined).text
}

function written(element: XmlElement, parent: string | undefined): Written {
  const { name, children } = element
  if (name === 't') return closed(element.text)
  const pieces = children.map((part): Piece => ({ name: part.name, ...written(part, name) })).filter(({ text }) => text)
  const own = joined(pieces)
  if (name === 'num' || name === 'den' || name === 'deg') return short(own.text)
  if (name === 'sub' || (name === 'lim' && parent === 'limLow')) return after('_', own.text)
  if (name === 'sup' || (name === 'lim' && parent === 'limUpp')) return after('^', own.text)
  if (name === 'f') return fraction(element, pieces)
  if (name === 'd') return delimited(element, pieces)
  if (name === 'nary') return joined([{ name, ...closed(propertyOf(element, 'chr') ?? '∫') }, ...pieces])
  if (name === 'acc') return closed(own.text + (propertyOf(element, 'chr') ?? '\u0302'))
  if (name === 'rad') return root(element, pieces)
  if (name === 'mr') return closed(texts(pieces).join(', '))
  if (name === 'm' || name === 'eqArr') return closed(texts(pieces).join('; '))
  // An exponent or index belongs to the whole of its base.
  const isBase = name === 'e' && (parent === 'sSup' || parent === 'sSub' || parent === 'sSubSup')
  if (isBase && pieces.some((piece) => piece.name === 'f')) return closed(`(${own.text})`)
  if (name === 'e' && parent === 'func') return own.whole ? own : closed(`(${own.text.trim()})`)
  return own
}

/** Returns a property of a structure, such as a sign of its own. Its properties are in an element of their own. */
function propertyOf({ children }: XmlElement, name: string): string | undefined {
  const property = children.flatMap((each) => each.children).find((each) => each.name === name)
  return property && (property.attributes['m:val'] ?? '')
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

/** Returns a text in brackets, which a single sign does not need. */
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

function fraction(element: XmlElement, pieces: readonly Piece[]): Written {
  const [above, below] = [textOf(pieces, 'num'), textOf(pieces, 'den')]
  // A fraction without a bar is a binomial coefficient if it is in brackets.
  if (propertyOf(element, 'type') === 'noBar') {
    return { ...closed(`C(${unbracketed(above)},${unbracketed(below)})`), whole: 'binomial' }
  }
  return { text: `${above}/${below}`, isOpen: pieces.at(-1)?.isOpen === true }
}

function unbracketed(text: string): string {
  return text.startsWith('(') ? text.slice(1, -1) : text
}

function delimited(element: XmlElement, pieces: readonly Piece[]): Written {
  const inner = texts(pieces).join(propertyOf(element, 'sepChr') ?? '|')
  const [begin, end] = [propertyOf(element, 'begChr') ?? '(', propertyOf(element, 'endChr') ?? ')']
  const isBinomial = begin === '(' && pieces.length === 1 && pieces[0]?.whole === 'binomial'
  return { ...closed(isBinomial ? inner : begin + inner + end), whole: 'brackets' }
}

function root(element: XmlElement, pieces: readonly Piece[]): Written {
  const base = short(textOf(pieces, 'e'))
  const hidden = propertyOf(element, 'degHide')
  const degree = hidden === '' || isTrue(hidden) ? '' : textOf(pieces, 'deg')
  if (degree === '' || degree === '()') return { ...base, text: `√${base.text}` }
  return closed(`${base.text}^(1/${degree})`)
}
