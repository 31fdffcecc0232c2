import type { Command } from 'commander'
import { Ganglion } from '#client'
import { Approval, AwaitedApproval } from '../../contract/candidates.ts'
import { StillTrue } from '../../contract/neurons.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { readAnswer } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { option } from '../options.ts'
import { OfPage, seqIdOf } from './blame-command.ts'

const sentences = {
  not_found: () => 'There is no such page or knowledge base for this key.',
  insufficient_role: () => 'The key in GANGLION_KEY is not that of a curator.',
}

const Options = OfPage.extend({
  until: option(StillTrue.shape.until, '<day>', 'last day on which it counts as true (default: as kb.yaml says)'),
})

export function addStillTrueCommand(program: Command): void {
  const command = program
    .command('still-true')
    .description('confirm that a page is still true, through the API of a running server')
  const example = 'ganglion still-true neurons/leave.md --kb handbook --until 2027-06-30'
  askServer(command, Options, { key: "a curator's API key", example }, async ({ page, kb, until }, server) => {
    const seqId = await seqIdOf(page)
    const asked = new Ganglion(server).kb(kb).neurons.stillTrue(seqId, until === undefined ? {} : { until })
    const answer = await readAnswer(asked, Approval.or(AwaitedApproval), server, sentences)
    const text =
      answer.status === 'approved'
        ? `${seqId} is still true: commit ${answer.commit}.`
        : `It waits as the candidate ${answer.candidateId}. ${awaitingText(answer.awaiting)}`
    return { json: answer, text }
  })
}
