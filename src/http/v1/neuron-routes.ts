import type { AppContext } from '../../app/open-context.ts'
import { Blame, BlamePath, BlameQuery } from '../../contract/blame.ts'
import { Approval, AwaitedApproval } from '../../contract/candidates.ts'
import { Neuron, NeuronPath, NeuronQuery, StillTrue } from '../../contract/neurons.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import { readNeuron } from '../../pages/read-neuron.ts'
import { sayStillTrue } from '../../pages/write/say-still-true.ts'
import { previewing } from '../../queue/preview/previewing.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forAll = describing('Neurons')
const forCurators = describing('Neurons', { roles: ['curator'] })

export function neuronRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/neurons/:kb/:seqId',
    forAll({
      operationId: 'readNeuron',
      summary: 'Read a Neuron',
      description:
        'Returns the current version of a Neuron, or with `at` an earlier one. Send the `ETag` as `If-Match` with a ' +
        'correction: the server then merges the correction with changes made since. Fails with `not_found` if the ' +
        'Neuron does not exist or the caller may not see it.',
      params: NeuronPath,
      querystring: NeuronQuery,
      response: { ...taggedAnswers(Neuron), ...readErrors('not_pending') },
    }),
    async (request, reply) => {
      const [caller, { preview, ...query }] = [callerOf(request), request.query]
      const shown = await previewing(ctx, caller, preview, request.params.kb)
      const neuron = await readNeuron(shown.ctx, caller, { ...request.params, ...query })
      return answerTagged(request, reply, Neuron, shown.told(neuron), preview === undefined ? neuron.commit : undefined)
    },
  )

  app.post(
    '/neurons/:kb/:seqId/still-true',
    forCurators({
      operationId: 'sayStillTrue',
      summary: 'Say that a Neuron is still true',
      description:
        'Creates one commit on `main` that changes nothing but `verified` in the front matter. Where `kb.yaml` asks for ' +
        'more approvals, the change waits as a candidate, with 202. Idempotent within a day. Fails with `not_found` if ' +
        'the Neuron does not exist, with `target_unreadable` if its front matter cannot be parsed, and with 400 if `until` ' +
        'is past.',
      params: NeuronPath,
      body: StillTrue,
      response: {
        200: Approval,
        202: AwaitedApproval,
        ...writeErrors('insufficient_role', 'merge_conflict', 'queue_full', 'target_unreadable'),
      },
    }),
    async (request, reply) => {
      const answer = await sayStillTrue(ctx, callerOf(request), request.params, request.body)
      return answer.status === 'approved' ? answer : reply.code(202).send(answer)
    },
  )

  app.get(
    '/neurons/:kb/:seqId/blame',
    forAll({
      operationId: 'readBlame',
      summary: 'Read who said each sentence of a Neuron',
      description:
        'Returns the sentences of a Neuron, each with the version, the commit and the candidate that brought it, who approved ' +
        'it, and the places in Sources that it was ingested from. Edits of other sentences, renames, merges and later ' +
        'editions of a Source leave them as they are. Curators also read who proposed it. A long page is read in parts: `nextStart` says where the next one begins. Fails with `not_found` if the ' +
        'Neuron does not exist or the caller may not see it.',
      params: BlamePath,
      querystring: BlameQuery,
      response: { ...taggedAnswers(Blame), ...readErrors() },
    }),
    async (request, reply) => {
      const blame = await readBlame(ctx, callerOf(request), { ...request.params, ...request.query })
      return answerTagged(request, reply, Blame, blame)
    },
  )
}
