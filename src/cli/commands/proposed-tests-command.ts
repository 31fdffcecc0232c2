import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '#client'
import { AddedTest, DismissedTest, type ProposedTest, TestDismissal, TestReport } from '../../contract/answer-tests.ts'
import { readAnswer } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { option } from '../options.ts'

const question = TestDismissal.shape.question.optional()
const Options = z.object({
  kb: option(z.string().min(1), '<slug>', 'the knowledge base'),
  accept: option(question, '<question>', 'add the test of a question as it is listed', { conflicts: ['dismiss'] }),
  dismiss: option(question, '<question>', 'dismiss what proposes a test of a question'),
})

const sentences = {
  not_found: () => 'There is no such knowledge base for this key.',
  insufficient_role: () => 'The key in GANGLION_KEY is not that of a curator.',
}

export function addProposedTestsCommand(program: Command): void {
  const command = program
    .command('proposed-tests')
    .description('list the proposed answer tests, accept or dismiss one, through the API of a running server')
  const example = 'ganglion proposed-tests --kb handbook --accept "Who is paged for a VIP ticket?"'
  askServer(
    command,
    Options,
    { key: "a curator's API key", example },
    async ({ kb: name, accept, dismiss }, server) => {
      const kb = new Ganglion(server).kb(name)
      const { proposed = [] } = await readAnswer(kb.tests(), TestReport, server, sentences)
      const chosen = accept ?? dismiss
      if (chosen === undefined)
        return { json: proposed, text: proposed.map(textOf).join('\n') || 'There are no proposed tests.' }
      const found = proposed.find((one) => one.question === chosen)
      if (found === undefined) throw new Error(`No test of this question is proposed: ${chosen}`)
      if (accept === undefined) {
        const json = await readAnswer(kb.dismissTest({ question: chosen }), DismissedTest, server, sentences)
        return { json, text: `Dismissed: ${chosen}` }
      }
      const json = await readAnswer(kb.addTest(found.test), AddedTest, server, sentences)
      return { json, text: `Added to ${json.file}: commit ${json.commit}.` }
    },
  )
}

function textOf({ question, refused, feedback, test: { cites, refuses, audience } }: ProposedTest): string {
  const holds = cites
    ? `the answer cites ${cites.join(', ')}${audience === 'tool' ? '' : `, asked as ${audience}`}`
    : refuses === false
      ? 'something answers it'
      : 'it is answered as today'
  return [
    question,
    `  test: ${holds}`,
    ...(refused > 0 ? [`  refused: ${refused}`] : []),
    ...feedback.map(({ vote, reason, shouldCite }) => {
      const said = [reason, shouldCite && `It should cite ${shouldCite}.`].filter(Boolean)
      return `  vote ${[vote, ...said].join(': ')}`
    }),
  ].join('\n')
}
