import { SaxesParser } from 'saxes'
import { ExtractionError } from '../extracted.ts'

/** Maximum depth of elements: deeper than any program writes. */
const maxDepth = 256
/** Maximum elements of a tree. */
const maxElements = 1_000_000
/** Number of characters that are parsed between two checks of the time. */
const step = 2 ** 16

export type XmlAttributes = Record<string, string>

/** Names of elements have no prefix; attributes keep theirs. */
export type XmlEvents = {
  open: (name: string, attributes: XmlAttributes) => void
  text: (text: string) => void
  close: (name: string) => void
}

export type XmlElement = { name: string; attributes: XmlAttributes; children: XmlElement[]; text: string }

/**
 * Reads a part of a document as a stream of events. Loads nothing and expands no entities. Rejects a document type, which these formats
 * forbid.
 * @throws {ExtractionError} `corrupt`, `too-large`
 */
export function scanXml(part: Buffer, { open, text, close }: XmlEvents): void {
  const parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false })
  let depth = 0
  parser.on('doctype', () => {
    throw new ExtractionError('corrupt', 'The document holds a document type definition, which its format forbids.')
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (++depth > maxDepth) throw new ExtractionError('too-large', 'The document is nested too deeply to be read.')
    open(localName(name), attributes)
  })
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('closetag', ({ name }) => {
    depth--
    close(localName(name))
  })
  try {
    const decoder = new TextDecoder(encodingOf(part))
    for (let at = 0; at < part.length; at += step) {
      parser.write(decoder.decode(part.subarray(at, at + step), { stream: true }))
    }
    parser.close()
  } catch (cause) {
    if (cause instanceof ExtractionError) throw cause
    throw new ExtractionError('corrupt', 'The document is damaged: its XML cannot be read.', { cause })
  }
}

/**
 * Reads a part like {@link scanXml}, but passes elements for which `isWhole` is true to `element` as trees. The text of an element is
 * its own, without that of its children.
 * @throws {ExtractionError} `corrupt`, `too-large`
 */
export function scanElements(
  part: Buffer,
  isWhole: (name: string) => boolean,
  { open, element, close }: Pick<XmlEvents, 'open' | 'close'> & { element: (element: XmlElement) => void },
): void {
  const ancestors: XmlElement[] = []
  let elements = 0
  scanXml(part, {
    open: (name, attributes) => {
      if (ancestors.length === 0) {
        if (!isWhole(name)) return open(name, attributes)
        elements = 0
      }
      if (++elements > maxElements) throw new ExtractionError('too-large', 'The document has too many elements.')
      const element = { name, attributes, children: [], text: '' }
      ancestors.at(-1)?.children.push(element)
      ancestors.push(element)
    },
    text: (text) => {
      const parent = ancestors.at(-1)
      if (parent !== undefined) parent.text += text
    },
    close: (name) => {
      const closed = ancestors.pop()
      if (closed === undefined) close(name)
      else if (ancestors.length === 0) element(closed)
    },
  })
}

/** Reads a part as a tree. */
export function parseXml(part: Buffer): XmlElement {
  let top: XmlElement = { name: '', attributes: {}, children: [], text: '' }
  const element = (root: XmlElement) => {
    top = root
  }
  scanElements(part, () => true, { open: () => {}, element, close: () => {} })
  return top
}

/** Returns the first child with that name. */
export function child(element: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  return path.reduce((parent, name) => parent?.children.find((each) => each.name === name), element)
}

export function descendants(element: XmlElement | undefined, name: string): XmlElement[] {
  if (element === undefined) return []
  return element.children.flatMap((each) => [...(each.name === name ? [each] : []), ...descendants(each, name)])
}

/** Returns the value of an attribute in the namespace of relationships, such as `r:id`. */
export function relationshipId(attributes: XmlAttributes, name = 'id'): string | undefined {
  return Object.entries(attributes).find(([key]) => key.endsWith(`:${name}`))?.[1]
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true' || value === 'on'
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function encodingOf(part: Buffer): string {
  if (part[0] === 0xff && part[1] === 0xfe) return 'utf-16le'
  if (part[0] === 0xfe && part[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}

/** Escapes text for XML, also for attributes in quotes. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
