import { noteAim } from './support/aims.ts'
import { importAnew } from './support/imported-notes.ts'
import { inTurn, show } from './support/measure.ts'

const notes = 10_000

/** The import of a folder of notes into an empty knowledge base: each becomes a Neuron with its candidate. */
export async function benchImport(): Promise<string[]> {
  const { time } = await inTurn(3, { time: async () => (await importAnew(notes)).importing })
  const aim = noteAim(`import of ${notes} notes`, time.median / 1000, { atMost: 4 }, 's')
  const perSecond = Math.round((1000 * notes) / time.median)
  return [
    '| milliseconds: median (min–max) | time | notes a second | aim |',
    '|---|---|---|---|',
    `| import of ${notes} notes | ${show(time)} | ${perSecond} | ${aim} |`,
  ]
}
