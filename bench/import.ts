import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { noteAim } from './support/aims.ts'
import { importAnew, writeNotes } from './support/imported-notes.ts'
import { durableGit, inTurn, milliseconds, show } from './support/measure.ts'
import { generateNotes } from './support/notes.ts'

const notes = 10_000

/**
 * The import of a folder of notes into an empty knowledge base, where each becomes a Neuron with its candidate, against git's own work on
 * such a folder: a new repository and one commit of all notes.
 */
export async function benchImport(): Promise<string[]> {
  const folder = writeNotes(generateNotes(notes))
  const { ours, git } = await inTurn(3, {
    ours: async () => (await importAnew(notes)).importing,
    git: () => {
      rmSync(join(folder, '.git'), { recursive: true, force: true })
      return milliseconds(() => {
        durableGit(folder, ['init', '--quiet'])
        durableGit(folder, ['add', '.'])
        durableGit(folder, ['commit', '--quiet', '-m', 'Add'])
      })
    },
  })
  const ratio = ours.median / git.median
  const aim = noteAim(`import of ${notes} notes`, ratio, { atMost: 0.9 }, '× `git add` and `git commit`')
  const perSecond = Math.round((1000 * notes) / ours.median)
  return [
    '| milliseconds: median (min–max) | time | notes a second | ratio | aim |',
    '|---|---|---|---|---|',
    `| \`git init\`, \`git add .\` and \`git commit\` of ${notes} notes, durable | ${show(git)} | | 1 | |`,
    `| import of ${notes} notes | ${show(ours)} | ${perSecond} | ${ratio.toFixed(2)}× | ${aim} |`,
  ]
}
