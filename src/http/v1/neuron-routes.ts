import type { AppContext } from '../../app/open-context.ts'
import { Blame, BlamePath } from '../../contract/blame.ts'
import { Neuron, NeuronPath, NeuronQuery } from '../../contract/neurons.ts'
import { readBlame } from '../../pages/read-blame.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { previewing } from '../../queue/preview/previewing.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import type { ZodFastify } from '../zod-compilers.ts'

export function neuronRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/neurons/:kb/:seqId',
    {
      schema: {
        tags: ['Neurons'],
        operationId: 'readNeuron',
        summary: 'Read a Neuron',
        description:
          'Returns the current version of a Neuron, or with `at` an earlier one. Send the `ETag` as `If-Match` with a ' +
          'correction: the server then merges the correction with changes made since. Fails with `not_found` if the ' +
          'Neuron does not exist or the caller may not see it.',
        params: NeuronPath,
        querystring: NeuronQuery,
        response: { ...taggedAnswers(Neuron), ...readErrors('not_pending') },
      },
    },
    async (request, reply) => {
      const [caller, { preview, ...query }] = [callerOf(request), request.query]
      const shown = await previewing(ctx, caller, preview, request.params.kb)
      const neuron = await readNeuron(shown.ctx, caller, { ...request.params, ...query })
      return answerTagged(request, reply, Neuron, shown.told(neuron), preview === undefined ? neuron.commit : undefined)
    },
  )

  app.get(
    '/neurons/:kb/:seqId/blame',
    {
      schema: {
        tags: ['Neurons'],
        operationId: 'readBlame',
        summary: 'Read who said each sentence of a Neuron',
        description:
          'Returns the sentences of a Neuron, each with the version, the commit and the candidate that brought it, who approved ' +
          'it, and the places in Sources that it was ingested from. Edits of other sentences, renames, merges and later ' +
          'editions of a Source leave them as they are. Curators also read who proposed it. Fails with `not_found` if the ' +
          'Neuron does not exist or the caller may not see it.',
        params: BlamePath,
        response: { ...taggedAnswers(Blame), ...readErrors() },
      },
    },
    async (request, reply) => {
      const blame = await readBlame(ctx, callerOf(request), request.params)
      return answerTagged(request, reply, Blame, blame)
    },
  )
}
