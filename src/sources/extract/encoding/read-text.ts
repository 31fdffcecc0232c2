import { readFile } from 'node:fs/promises'
import { ExtractionError } from '../../extracted.ts'
import { maxMarkdownBytes } from '../extract-limits.ts'
import { decodeText } from './decode-text.ts'

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

/** @param declared see {@link decodeText} @throws {ExtractionError} `wrong-type` */
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
