import type { AppContext } from '../../app/open-context.ts'
import { Neuron, NeuronPath, NeuronQuery } from '../../contract/neurons.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
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
        response: { ...taggedAnswers(Neuron), ...readErrors() },
      },
    },
    async (request, reply) => {
      const neuron = await readNeuron(ctx, callerOf(request), { ...request.params, ...request.query })
      return answerTagged(request, reply, Neuron, neuron, neuron.commit)
    },
  )
}
