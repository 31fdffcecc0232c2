import type { AppContext } from '../../app/open-context.ts'
import { Blame, BlamePath, BlameQuery } from '../../contract/blame.ts'
import { Approval, AwaitedApproval } from '../../contract/candidates.ts'
import { Neuron, NeuronPath, NeuronQuery, StillTrue } from '../../contract/neurons.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { sayStillTrue } from '../../pages/write/say-still-true.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

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
