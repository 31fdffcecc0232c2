import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '../../client/index.ts'
import { Approval, AwaitedApproval } from '../../contract/candidates.ts'
import { StillTrue } from '../../contract/neurons.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { parseInput, serverOf } from '../client/api-server.ts'
import { readAnswer } from '../client/server-problem.ts'
import { seqIdOf } from './blame-command.ts'

const Options = z.object({
  page: z.string(),
  kb: z.string().min(1),
  until: StillTrue.shape.until,
  json: z.literal(true).optional(),
})

/** `still-true`. Asks a running server over HTTP and needs no data directory; the key comes from the environment alone. */
export function addStillTrueCommand(program: Command): void {
  program
    .command('still-true')
    .description('say that a page is still true, through the API of a running server')
    .argument('<page>', 'its seqId, or its file in a clone')
    .requiredOption('--kb <slug>', 'the knowledge base')
    .option('--until <day>', 'last day on which it counts as true (default: as kb.yaml says)')
    .option('--url <url>', 'of the server (default: GANGLION_URL)')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nGANGLION_KEY holds the API key; the command line takes none, since others can see it.')
    .action(async (page: unknown, given: Record<string, unknown>) => {
      const { kb, json, until, ...options } = parseInput(Options, { ...given, page })
      const server = serverOf(given.url, "a curator's API key")
      const seqId = await seqIdOf(options.page)
      const asked = new Ganglion(server).kb(kb).neurons.stillTrue(seqId, until === undefined ? {} : { until })
      const sentences = { not_found: () => 'There is no such page for this key.' }
      const answer = await readAnswer(asked, Approval.or(AwaitedApproval), { url: server.url, sentences })
      const text =
        answer.status === 'approved'
          ? `${seqId} is still true: commit ${answer.commit}.`
          : `It waits as the candidate ${answer.candidateId}. ${awaitingText(answer.awaiting)}`
      process.stdout.write(`${json ? JSON.stringify(answer) : text}\n`)
    })
}
