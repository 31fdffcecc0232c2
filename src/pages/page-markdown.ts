import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FileContent } from '../contract/files.ts'
import type { Neuron } from '../contract/neurons.ts'
import type { Context } from '../kb/context.ts'
import { openingHeading } from '../markdown/neuron-title.ts'
import type { Caller } from '../rules/access/caller.ts'
import { oneLine } from '../rules/text/lines.ts'
import { readNeuron } from './read-neuron.ts'

const maxTitle = 500

/** Reads a Neuron as a Markdown file; see {@link readNeuron} for what the caller sees of it. @throws {GanglionError} `not_found` */
export async function readMarkdown(
  ctx: Context,
  caller: Caller,
  asked: Parameters<typeof readNeuron>[2],
): Promise<FileContent> {
  const neuron = await readNeuron(ctx, caller, asked)
  const bytes = Buffer.from(`${titledMarkdown(neuron).trimEnd()}\n`)
  return {
    filename: neuron.path.slice(neuron.path.lastIndexOf('/') + 1),
    ...{ size: bytes.length, etag: hash('sha256', bytes, 'base64url'), type: 'text/markdown; charset=utf-8' },
    read: async ({ first, last } = { first: 0, last: bytes.length }) =>
      Readable.from([bytes.subarray(first, last + 1)], { objectMode: false }),
  }
}

/** Returns the content of a Neuron below its title, which is not repeated if the content begins with it. */
export function titledMarkdown({ title, content }: Pick<Neuron, 'title' | 'content'>): string {
  return openingHeading(content) === title ? content : `# ${markdownLine(title)}\n\n${content}`
}

/**
 * Escapes a line of text for Markdown (CommonMark 2.4). Brackets are character references, since readers of `llms.txt` that are no parsers
 * of Markdown end a link's text at the first bracket.
 */
export function markdownLine(text: string): string {
  const escaped = oneLine(text, maxTitle).replace(/[\\`*_<>&#~]/g, '\\$&')
  return escaped.replace(/[[\]]/g, (bracket) => (bracket === '[' ? '&#91;' : '&#93;'))
}
