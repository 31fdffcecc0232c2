import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '#client'
import { Blame, type BlamedSentence } from '../../contract/blame.ts'
import { SeqId } from '../../contract/vocabulary.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { UsageError } from '../cli-errors.ts'
import { readAnswer } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { argument, option } from '../options.ts'

/** Arguments and options of commands for one page of a knowledge base. */
export const OfPage = z.object({
  page: argument(z.string(), 'its seqId, or its file in a clone'),
  kb: option(z.string().min(1), '<slug>', 'the knowledge base'),
})

export function addBlameCommand(program: Command): void {
  const command = program
    .command('blame')
    .description('show who wrote each sentence of a page, through the API of a running server')
  const example = 'ganglion blame neurons/leave.md --kb handbook'
  askServer(command, OfPage, { key: 'an API key', example }, async ({ page, kb }, server) => {
    const { neurons } = new Ganglion(server).kb(kb)
    const seqId = await seqIdOf(page)
    const refusals = { not_found: () => 'There is no such page or knowledge base for this key.' }
    const read = (start: number) => readAnswer(neurons.blame(seqId, { start }), Blame, server, refusals)
    const { nextStart: next, ...blame } = await read(0)
    for (let start = next; start !== undefined; ) {
      const { sentences, nextStart } = await read(start)
      blame.sentences.push(...sentences)
      start = nextStart
    }
    return { json: blame, text: blame.sentences.map(lineOf).join('\n') }
  })
}

/** Returns the seqId of a page, given the seqId or a file in a clone. @throws {UsageError} */
export async function seqIdOf(page: string): Promise<string> {
  if (SeqId.safeParse(page).success) return page
  const text = await readFile(page, 'utf8').catch(() => undefined)
  if (text === undefined) throw new UsageError(`${page} is no seqId, and no file`)
  const { seqId } = parseNeuronFile(text).fields
  if (seqId === undefined) throw new UsageError(`${page} has no seqId: it is no Neuron yet`)
  return seqId
}

function lineOf({ text, version, at, approvedBy, proposedBy, sources }: BlamedSentence): string {
  const by = proposedBy ? `${proposedBy}, approved by ${approvedBy}` : approvedBy
  const places = (sources ?? []).map(({ filename, page }) => [filename, page && `p. ${page}`].filter(Boolean).join(' '))
  return `v${version} ${at.slice(0, 10)} (${[by, ...places].join('; ')})\t${text}`
}
