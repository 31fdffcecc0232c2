import type { TreeChange } from '../../git/repository.ts'
import type { Context } from '../../kb/context.ts'
import { checkFiles } from '../../push/checks/check-tip.ts'
import { parsePageBytes } from '../../push/clone-check/parse-pushed-page.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { requireCurator } from './open-page.ts'
import { type PageWrite, writtenPage } from './written-page.ts'

export type PageCheck = {
  path: string
  text: string
  findings: PageFinding[]
}

/** Finding about a page. `line`: 1-based in the content; absent for the front matter or the page as a whole. */
export type PageFinding = Pick<Finding, 'rule' | 'severity' | 'message'> & { line?: number }

const most = 200

/** Checks a page before it is written, by the rules of a push. @throws {ValidationError} and {GanglionError} as `writePage` */
export async function checkPage(
  ctx: Context,
  caller: Caller,
  write: PageWrite,
  { kb: kbName }: { kb: string },
): Promise<PageCheck> {
  requireCurator(caller)
  const kb = await ctx.kb(caller.tenantId, kbName)
  const view = { sql: kb.projection.read, readText: (oid: string) => kb.repository.readText(oid) }
  const { neuron } = await writtenPage(view, write, ctx.now())
  const { path, before, text, blob = '' } = neuron
  const bytes = Buffer.from(text)
  const page = await parsePageBytes(bytes, kb.parser)
  const file: CheckedFile = { path, size: bytes.length, ...page }
  const changes: TreeChange[] = [{ path, after: blob, ...(before?.path === path && { before: before.blob }) }]
  if (before !== undefined && before.path !== path) changes.push({ path: before.path, before: before.blob })
  const all = await checkFiles(kb, [file], { repository: kb.repository, changes })
  // `waiting-candidate` tells a push how to approve a candidate. While that candidate is edited, it would name itself.
  const found = all.filter(({ rule }) => rule !== 'waiting-candidate')
  const { contentLine } = page.neuron
  return { path, text, findings: found.slice(0, most).map((finding) => placed(finding, contentLine)) }
}

function placed({ rule, severity, message, line }: Finding, contentLine: number): PageFinding {
  return { rule, severity, message, ...(line >= contentLine && { line: line - contentLine + 1 }) }
}
