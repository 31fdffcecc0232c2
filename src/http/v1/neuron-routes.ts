import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { Blame, BlamePath, BlameQuery } from '../../contract/blame.ts'
import { Approval, AwaitedApproval } from '../../contract/candidates.ts'
import { Neuron, NeuronPath, NeuronQuery, StillTrue } from '../../contract/neurons.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import { readMarkdown } from '../../pages/page-markdown.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { sayStillTrue } from '../../pages/write/say-still-true.ts'
import { answerFile } from '../response/file-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

const markdown = {
  'text/markdown': { schema: z.string().meta({ examples: ['# VIP escalation policy\n\nPage the lead.\n'] }) },
}

export function neuronRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Neurons')
  const forCurators = operationsOf(app, ctx, 'Neurons', { roles: ['curator'] })

  forAll.get('/neurons/:kb/:seqId', {
    operationId: 'readNeuron',
    summary: 'Read a Neuron',
    description:
      'Returns the current version of a Neuron, or with `at` an earlier one. Send the `ETag` as `If-Match` with a ' +
      'correction: the server then merges the correction with changes made since. Fails with `not_found` if the ' +
      'Neuron does not exist or the caller may not see it.',
    params: NeuronPath,
    querystring: NeuronQuery,
    answers: { 200: Neuron },
    previews: true,
    tagged: ({ commit }) => commit,
    run: ({ ctx, caller, params, query: { preview: _, ...query } }) => readNeuron(ctx, caller, { ...params, ...query }),
  })

  forAll.get('/neurons/:kb/:seqId.md', {
    operationId: 'readNeuronMarkdown',
    summary: 'Read a Neuron as Markdown',
    description:
      'Returns the title and the text of a Neuron as a Markdown file, or one range of it with the header `Range`. Fails like ' +
      '`readNeuron`, and with `range_not_satisfiable` if the range does not fit the text.',
    params: NeuronPath,
    querystring: NeuronQuery.omit({ preview: true }),
    answers: {
      200: { description: 'The Neuron as Markdown.', content: markdown },
      206: { description: 'The requested range.', content: markdown },
      304: z.null().describe('`If-None-Match` names the current text.'),
    },
    errors: ['range_not_satisfiable'],
    run: async ({ ctx, caller, params, query, request, reply }) =>
      answerFile(request, reply, await readMarkdown(ctx, caller, { ...params, ...query })),
  })

  forCurators.post('/neurons/:kb/:seqId/still-true', {
    operationId: 'sayStillTrue',
    summary: 'Say that a Neuron is still true',
    description:
      'Creates one commit on `main` that changes nothing but `verified` in the front matter. Where `kb.yaml` asks for ' +
      'more approvals, the change waits as a candidate, with 202. Idempotent within a day. Fails with `not_found` if ' +
      'the Neuron does not exist, with `target_unreadable` if its front matter cannot be parsed, and with 400 if `until` ' +
      'is past.',
    params: NeuronPath,
    body: StillTrue,
    answers: {
      200: Approval,
      202: AwaitedApproval,
    },
    errors: ['merge_conflict', 'queue_full', 'target_unreadable'],
    run: async ({ ctx, caller, params, body, reply }) => {
      const answer = await sayStillTrue(ctx, caller, params, body)
      if (answer.status !== 'approved') reply.code(202)
      return answer
    },
  })

  forAll.get('/neurons/:kb/:seqId/blame', {
    operationId: 'readBlame',
    summary: 'Read who said each sentence of a Neuron',
    description:
      'Returns the sentences of a Neuron, each with the version, the commit and the candidate that brought it, who approved ' +
      'it, and the places in Sources that it was ingested from. Edits of other sentences, renames, merges and later ' +
      'editions of a Source leave them as they are. Curators also read who proposed it. A long page is read in parts: `nextStart` says where the next one begins. Fails with `not_found` if the ' +
      'Neuron does not exist or the caller may not see it.',
    params: BlamePath,
    querystring: BlameQuery,
    answers: { 200: Blame },
    tagged: true,
    run: ({ ctx, caller, params, query }) => readBlame(ctx, caller, { ...params, ...query }),
  })
}
