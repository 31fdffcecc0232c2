import { parseDocument } from 'yaml'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { blobAtPath } from '../../kb/projection/file-queries.ts'
import { commitMessage, signatureOf } from '../../kb/refs/commit-message.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'

/**
 * Lets tags in texts count, by a commit to `kb.yaml`; comments in it stay.
 * @param options.isAsked by the operator; without it, what `kb.yaml` says already holds
 * @returns whether it had to be turned on
 */
export function turnOnInlineTags(
  kb: KnowledgeBase,
  { isAsked, actor, at }: { isAsked: boolean; actor: Actor; at: Date },
): Promise<boolean> {
  return kb.write(async (staging) => {
    const blob = blobAtPath(kb.projection.write, 'kb.yaml')
    const text = blob === undefined ? '' : await staging.readText(blob)
    const document = parseDocument(text)
    const { settings, problems } = parseKbFile(text)
    if (problems.some(({ severity }) => severity === 'error')) {
      if (isAsked) throw new Error('kb.yaml has errors; mend it first.')
      return false
    }
    if (settings.inlineTags || (!isAsked && document.has('inlineTags'))) return false
    document.set('inlineTags', true)
    await kb.commitToMain(staging, {
      files: new Map([['kb.yaml', document.toString({ lineWidth: 0 })]]),
      message: commitMessage('Let #tags in the text of notes count', { Connector: 'import' }),
      author: signatureOf(actor, at),
      at,
    })
    return true
  })
}
