import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '#client'
import { ChatAnswer } from '../../contract/chat.ts'
import { PreviewParameter } from '../../contract/preview.ts'
import { SearchAnswer } from '../../contract/search.ts'
import { highlightText } from '../../rules/text/highlight-text.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { readAnswer } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { argument, option } from '../options.ts'

const Words = z.array(z.string()).transform((words) => words.join(' '))
const Options = z.object({
  words: argument(Words, 'the question, or the words to find', '...'),
  kb: option(z.string().min(1), '<slug>', 'the knowledge base'),
  preview: option(
    PreviewParameter,
    '<ids>',
    'for curators: read as if these candidates were approved; ids separated by commas',
  ),
})
const sentences = { not_found: () => 'There is no such knowledge base or candidate for this key.' }
const key = 'an API key'

/** Adds `ask` and `search`, which print what readers get, optionally as if candidates were approved. */
export function addAskCommands(program: Command): void {
  const asking = {
    ...{ name: 'ask', does: 'ask a question, and print the answer with the pages that it cites' },
    example: 'ganglion ask "How long is the notice?" --kb handbook --preview "$ID"',
  }
  addCommand(program, asking, async ({ words: message, kb, preview }, server) => {
    const asked = new Ganglion(server).kb(kb).chat({ message, ...(preview && { preview }) })
    const answer = await readAnswer(asked, ChatAnswer, server, sentences)
    const cited = (answer.citations ?? []).map(pageLine)
    return { json: answer, text: [answer.answer, ...cited, ...remarks(answer)].join('\n') }
  })
  const searching = {
    ...{ name: 'search', does: 'find pages by their words' },
    example: 'ganglion search notice period --kb handbook --preview "$ID,$OTHER"',
  }
  addCommand(program, searching, async ({ words, kb, preview }, server) => {
    const query = preview === undefined ? {} : { preview: preview.join(',') }
    const found = new Ganglion(server).kb(kb).search(words, query)
    const answer = await readAnswer(found, SearchAnswer, server, sentences)
    const hits = answer.documents.flatMap((hit) => [
      pageLine(hit),
      `  ${oneLine(highlightText(hit.highlight, ''), 300)}`,
    ])
    return { json: answer, text: [...(hits.length > 0 ? hits : ['Nothing is found.']), ...remarks(answer)].join('\n') }
  })
}

function addCommand(
  program: Command,
  { name, does, example }: { name: string; does: string; example: string },
  run: Parameters<typeof askServer<typeof Options>>[3],
): void {
  const command = program.command(name).description(`${does}, through the API of a running server`)
  askServer(command, Options, { key, example }, run)
}

function pageLine({
  seqId,
  title,
  stale,
}: Pick<SearchAnswer['documents'][number], 'seqId' | 'title' | 'stale'>): string {
  return `${seqId ?? 'Source'}  ${oneLine(title ?? '', 200)}${stale ? ' (may be out of date)' : ''}`
}

function remarks({ behind, preview }: Pick<SearchAnswer, 'behind' | 'preview'>): string[] {
  return [
    ...(behind === undefined ? [] : ['The search index is being built, and lacks pages.']),
    ...(preview?.conflicts ?? []).map(({ candidateId, message }) => `Without ${candidateId}: ${message}`),
  ]
}
