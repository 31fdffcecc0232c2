import { distance } from 'fastest-levenshtein'
import { audiences } from '../access/audience.ts'
import type { Finding } from '../neurons/neuron.ts'
import { oneLine } from '../text/lines.ts'
import type { CheckedFile } from './checked-file.ts'

const maxEdits = 2
const isServed = (name: string) => audiences.some((audience) => audience === name)

/** True if a page has an audience that only {@link checkAudiences} can judge with the names that others use. */
export function hasOwnAudience({ neuron }: CheckedFile): boolean {
  return neuron?.fields.audience?.every(isServed) === false
}

/**
 * Warns about names in `audience` that show a page to nobody, such as a misspelled one. A name that `kb.yaml` or another page uses is an
 * audience of the team's own, unless it is almost that of a served audience.
 * @param named audiences that `kb.yaml` and the pages that are not among the files name
 */
export function checkAudiences(files: readonly CheckedFile[], named: ReadonlySet<string>): Finding[] {
  const uses = Map.groupBy(
    files.flatMap(({ path, neuron }) => [...new Set(neuron?.fields.audience)].map((name) => ({ path, name }))),
    ({ name }) => name,
  )
  return [...uses].flatMap(([name, pages]): Finding[] => {
    if (isServed(name)) return []
    const meant = audiences.find((audience) => distance(audience, name.trim().toLowerCase()) <= maxEdits)
    if (meant === undefined && (pages.length > 1 || named.has(name))) return []
    const hint = meant === undefined ? 'kb.yaml and other pages do not name it' : `write ${meant} if you mean that`
    const message = `The audience ${oneLine(name, 100)} shows the page to no reader and no key: ${hint}.`
    return pages.map(({ path }) => ({ rule: 'unknown-audience', severity: 'warning', path, line: 1, message }))
  })
}
