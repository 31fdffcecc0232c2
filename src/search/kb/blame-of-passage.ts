import type { BlamedSentence } from '../../contract/blame.ts'
import { undefinedOn } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import type { Audience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Passage } from '../answer/passage.ts'

/** Who said the sentences of a passage, as readers may know it where others than curators are served. Nothing of a page that main does not have. */
export async function blameOf(
  ctx: Context,
  caller: Caller,
  { kb, audience }: { kb: string; audience: Audience },
  { seqId, content }: Pick<Passage, 'seqId' | 'content'>,
): Promise<BlamedSentence[]> {
  const reader: Caller = audience === 'curator' ? caller : { ...caller, role: 'reader' }
  const blame = await readBlame(ctx, reader, { kb, seqId, within: content }).catch(undefinedOn('not_found'))
  return blame?.sentences.filter(({ text }) => content.includes(text)) ?? []
}
