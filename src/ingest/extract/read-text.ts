import { readFile } from 'node:fs/promises'
import { ExtractionError } from '../extracted.ts'
import { decodeText } from './decode-text.ts'
import { maxMarkdownBytes } from './limits.ts'

/**
 * A text that is about as long as the Markdown it becomes.
 * @throws {ExtractionError} `too-large`, `wrong-type`
 */
export async function readText(file: string): Promise<string> {
  const text = decodeText(await readFile(file))
  if (text.length > maxMarkdownBytes) {
    throw new ExtractionError('too-large', `The text is longer than ${maxMarkdownBytes / 2 ** 20} MB: split it.`)
  }
  return text
}
