import { join } from 'node:path'
import { changedInWorkTree, changedWithoutGit, listWithoutGit, listWorkTree } from '../src/git/checkout/work-tree.ts'
import { importNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show, type Timing, workFolder } from './support/measure.ts'

const neurons = 10_000

/** Measures what `ganglion check` asks about a checkout: native git, and isomorphic-git, which answers where no git is installed. */
export async function benchCheckout(): Promise<string[]> {
  const { ctx, gitDir: origin } = await importNotes(neurons)
  await ctx.close()
  const dir = join(workFolder(), 'clone')
  durableGit(origin, ['clone', '--quiet', '--branch', 'main', origin, dir])
  const gitDir = join(dir, '.git')
  const commit = durableGit(dir, ['rev-parse', 'HEAD'])
  const times = await inTurn(5, {
    list: () => milliseconds(() => listWorkTree(gitDir, dir)),
    listIso: () => milliseconds(() => listWithoutGit(gitDir, dir)),
    changed: () => milliseconds(() => changedInWorkTree(gitDir, dir, commit)),
    changedIso: () => milliseconds(() => changedWithoutGit(gitDir, dir, commit)),
  })
  const row = (what: string, native: Timing, iso: Timing) =>
    `| ${what} | ${show(native)} | ${show(iso)} | ${(iso.median / native.median).toFixed(0)}× |`
  return [
    `| milliseconds: median (min–max); ${neurons} Neurons | native git | isomorphic-git | ratio |`,
    '|---|---|---|---|',
    row('files of a checkout', times.list, times.listIso),
    row('files that changed since a commit', times.changed, times.changedIso),
  ]
}
