import { Neuron, NeuronPath, NeuronQuery } from '../../contract/neurons.ts'
import { callerOf } from '../auth.ts'
import { readErrors } from '../errors.ts'
import type { Services } from '../services.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Adds the routes that read Neurons. */
export function neuronRoutes(app: ZodFastify, services: Services): void {
  app.get(
    '/neurons/:kb/:seqId',
    {
      schema: {
        tags: ['Neurons'],
        operationId: 'readNeuron',
        summary: 'Read one Neuron',
        params: NeuronPath,
        querystring: NeuronQuery,
        response: { 200: Neuron, ...readErrors() },
      },
    },
    (request) => services.readNeuron(callerOf(request), { ...request.params, ...request.query }),
  )
}
