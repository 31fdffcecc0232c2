import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '../../client/index.ts'
import { Blame, type BlamedSentence } from '../../contract/blame.ts'
import { SeqId } from '../../contract/vocabulary.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { UsageError } from '../cli-errors.ts'
import { parseInput, serverOf } from '../client/api-server.ts'
import { readAnswer } from '../client/server-problem.ts'

const Options = z.object({ page: z.string(), kb: z.string().min(1), json: z.literal(true).optional() })

/** `blame`. Asks a running server over HTTP and needs no data directory; the key comes from the environment alone. */
export function addBlameCommand(program: Command): void {
  program
    .command('blame')
    .description('say who said each sentence of a page, through the API of a running server')
    .argument('<page>', 'its seqId, or its file in a clone')
    .requiredOption('--kb <slug>', 'the knowledge base')
    .option('--url <url>', 'of the server (default: GANGLION_URL)')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nGANGLION_KEY holds the API key; the command line takes none, since others can see it.')
    .action(async (page: unknown, given: Record<string, unknown>) => {
      const { kb, json, ...options } = parseInput(Options, { ...given, page })
      const server = serverOf(given.url, 'an API key')
      const seqId = await seqIdOf(options.page)
      const answer = new Ganglion(server).kb(kb).neurons.blame(seqId)
      const sentences = { not_found: () => 'There is no such page for this key.' }
      const blame = await readAnswer(answer, Blame, { url: server.url, sentences })
      process.stdout.write(`${json ? JSON.stringify(blame) : blame.sentences.map(lineOf).join('\n')}\n`)
    })
}

/** The seqId of a page that is named by it, or by its file in a clone. @throws {UsageError} */
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
