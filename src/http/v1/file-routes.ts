import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { FileBytes } from '../../contract/documents.ts'
import { FilePath, savedFileType, shownFileTypes } from '../../contract/files.ts'
import { readFile } from '../../pages/attachments/read-file.ts'
import { answerFile } from '../response/file-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

const content = Object.fromEntries(
  [...new Set([...Object.values(shownFileTypes), savedFileType])].map((type) => [type, { schema: FileBytes }]),
)

export function fileRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Neurons')

  forAll.get('/knowledge-bases/:kbId/files/*', {
    operationId: 'readFile',
    summary: 'Read an attachment',
    description:
      'Returns a file of the repository that is not a Neuron, or one range of it with the header `Range`. A browser ' +
      'shows images, audio, video and PDF, and saves other types. Fails with `not_found` unless the caller is a ' +
      'curator or sees a Neuron that links to the file, and with `range_not_satisfiable` if the range does not fit ' +
      'the file.',
    params: FilePath.omit({ path: true }).extend({ '*': FilePath.shape.path }),
    answers: {
      200: { description: 'The whole file.', content },
      206: { description: 'The requested range.', content },
      304: z.null().describe('`If-None-Match` names the current file.'),
    },
    errors: ['range_not_satisfiable'],
    run: async ({ ctx, caller, params, request, reply }) => {
      const { kbId, '*': path } = params
      return answerFile(request, reply, await readFile(ctx, caller, kbId, path))
    },
  })
}
