import { GanglionError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { versionAt } from '../../kb/projection/version-queries.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../markdown/neuron-title.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { candidateIdFor } from '../../rules/candidates/candidate-id.ts'
import type { NeuronFields } from '../../rules/neurons/neuron.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { requireCurator } from './require-curator.ts'

export type BlankPage = {
  kb: { id: string; slug: string; title: string; defaultAudience: readonly string[] }
  /** Of the candidate that the edit will be: an edit that is sent twice is one candidate. */
  candidateId: string
}

export type OpenPage = BlankPage &
  Pick<NeuronFields, 'tags' | 'audience' | 'aliases' | 'edges'> & {
    seqId: string
    /** The commit that made this version. */
    commit: string
    /** Whether it is the present version. */
    isLatest: boolean
    path: string
    title: string
    content: string
    /** Problems that keep the front matter from being edited. */
    problems: string[]
  }

/** Opens an editor for a new page. @throws {GanglionError} `insufficient_role`, `not_found` */
export async function openBlankPage(ctx: Context, caller: Caller, kbName: string): Promise<BlankPage> {
  requireCurator(caller)
  return blankPage(ctx, await ctx.kb(caller.tenantId, kbName))
}

/**
 * Opens a page for editing: the present version, or the one at a commit that an edit began from, also of a page that is deleted
 * by now.
 * @throws {GanglionError} `insufficient_role`, `not_found`
 */
export async function openPage(
  ctx: Context,
  caller: Caller,
  { kb: kbName, seqId, at }: { kb: string; seqId: string; at?: string | undefined },
): Promise<OpenPage> {
  requireCurator(caller)
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { read: sql } = kb.projection
  const latest = findNeuron(sql, seqId)
  const version = at === undefined ? latest : versionAt(sql, seqId, at)
  if (version === undefined || version.blob === null) throw new GanglionError('not_found')
  const { blob, path, commit } = version
  const page = parseNeuronFile(await kb.repository.readText(blob))
  const { tags, audience, aliases, edges } = page.fields
  return {
    ...(await blankPage(ctx, kb)),
    ...{ seqId, commit, path, tags, aliases, edges },
    ...(audience === undefined ? {} : { audience }),
    isLatest: commit === latest?.commit,
    title: neuronTitle(page, path),
    content: unixLines(page.content),
    problems: page.findings.filter(({ rule }) => rule.startsWith('front-matter')).map(({ message }) => message),
  }
}

async function blankPage({ now }: Context, kb: KnowledgeBase): Promise<BlankPage> {
  const { id, slug } = kb.identity
  const { title, defaultAudience } = await kb.settings()
  return {
    kb: { id, slug, title: title ?? slug, defaultAudience },
    candidateId: candidateIdFor(id, { msecs: now().getTime() }),
  }
}
