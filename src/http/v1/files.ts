import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { FilePath, savedFileType, shownFileTypes } from '../../contract/files.ts'
import { readFile } from '../../pages/attachments/read-file.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors } from '../response/errors.ts'
import { answerFile } from '../response/file-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'

const content = Object.fromEntries(
  [...new Set([...Object.values(shownFileTypes), savedFileType])].map((type) => [type, { schema: z.string() }]),
)

/** Adds the route of files that are no Neurons: images and other attachments. */
export function fileRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/files/*',
    {
      schema: {
        tags: ['Neurons'],
        operationId: 'readFile',
        summary: 'Read an image or another attachment',
        description:
          'A file of the repository that is no Neuron, if a Neuron that the caller sees links to it or embeds it; a curator reads any. ' +
          'Images, audio, video and PDF may be shown, other types are only to be saved. The header `Range` asks for one range of bytes.',
        params: FilePath.omit({ path: true }).extend({ '*': FilePath.shape.path }),
        response: {
          200: { description: 'The bytes.', content },
          206: { description: 'A range of them.', content },
          304: z.null().describe('The file is the one that `If-None-Match` names.'),
          ...readErrors('range_not_satisfiable'),
        },
      },
    },
    async (request, reply) => {
      const { kbId, '*': path } = request.params
      return answerFile(request, reply, await readFile(ctx, callerOf(request), kbId, path))
    },
  )
}
