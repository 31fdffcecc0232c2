import type { AppContext } from '../../app/open-context.ts'
import { KbPath } from '../../contract/search.ts'
import { UndoAnswer, UndoInput } from '../../contract/undo.ts'
import { proposeUndo } from '../../review/propose-undo.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function undoRoutes(app: ZodFastify, ctx: AppContext): void {
  const forCurators = operationsOf(app, ctx, 'Queue', { roles: ['curator'] })

  forCurators.post('/knowledge-bases/:kbId/undo', {
    operationId: 'proposeUndo',
    summary: 'Propose to take back what one writer wrote',
    description:
      'Adds a reversal to the queue for each Neuron that one key, person, connector, Source or model has changed on `main` ' +
      'since a time. A curator decides on up to 500 of them as one. What others changed since stays, or conflicts. ' +
      'Idempotent: a reversal that is pending is not proposed again. More than 500 reversals are recorded in parts of ' +
      '500, each an entry of the queue; a request that was interrupted is completed by the same request. Fails with ' +
      '`not_found` if the knowledge base or the Source does not exist, and with `queue_full` if 10,000 candidates of ' +
      'the knowledge base would be pending; if that is so after a part, `message` says how many Neurons are left.',
    params: KbPath,
    body: UndoInput,
    answers: { 200: UndoAnswer },
    errors: ['queue_full'],
    run: ({ ctx, caller, params, body }) => proposeUndo(ctx, caller, params.kbId, body),
  })
}
