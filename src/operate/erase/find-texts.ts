import { longTimeLimit, runGit } from '../../git/native/git-process.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { keptRefs } from './erase.ts'
import { countHolders } from './erase-rows.ts'
import { Erasing, fileKindOf } from './erasing.ts'
import type { ErasurePlan } from './plan-erasure.ts'

/** Number of current pages, their versions, candidates, other files, commits and database rows that contain a text. */
export type TextPlaces = { text: string } & Record<(typeof textPlaces)[number], number>

export const textPlaces = ['pages', 'versions', 'candidates', 'files', 'commits', 'rows'] as const

/** Finds the places of each text of a plan in the whole history, as an erasure would. */
export async function findTexts(
  ctx: Pick<Context, 'database'>,
  { identity: { id: kbId, tenantId }, repository, projection }: KnowledgeBase,
  plan: ErasurePlan,
): Promise<TextPlaces[]> {
  const sought = plan.texts.map((text) => {
    const only = { ...plan, texts: [text] }
    return { text: text.text, only, erasing: new Erasing(only), found: new Set<string>() }
  })
  const input = [...(await keptRefs(repository)).map(([, oid]) => `${oid}\n`)].join('')
  const list = async (...args: string[]) =>
    (await runGit(repository.gitDir, ['rev-list', '--stdin', ...args], { input, timeLimit: longTimeLimit })).split('\n')
  const blobs = await list('--objects', '--filter=object:type=blob', '--filter-provided-objects')
  for (const line of [...(await list()), ...blobs].filter((each) => each !== '')) {
    const [, oid = '', path = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
    const kind = path === '' ? 'commit' : fileKindOf(path)
    const text = (await repository.readOnce(oid)).data.toString('utf8')
    // A page counts once for each of its texts; other files count once.
    const key = `${kind} ${kind === 'record' || kind === 'file' ? path : oid}`
    for (const { erasing, found } of sought) {
      if ([path, text].some((each) => erasing.replace(each) !== each)) found.add(key)
    }
  }
  const pages = projection.read.all`SELECT blob FROM neurons`.map(({ blob }) => `page ${blob}`)
  const places = sought.map(async ({ text, only, found }) => {
    const count = (kind: string) => [...found].filter((key) => key.startsWith(`${kind} `)).length
    return {
      ...{ text, pages: pages.filter((key) => found.has(key)).length, versions: count('page') },
      ...{ candidates: count('record'), files: count('file'), commits: count('commit') },
      rows: await countHolders(ctx.database.db, { kbId, tenantId, oids: new Map(), plan: only }),
    }
  })
  return Promise.all(places)
}
