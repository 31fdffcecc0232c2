import {
  barePath,
  exactKey,
  folderOfPage,
  keptClaim,
  linkKey,
  type NameClaim,
  type NeuronName,
  namesOf,
  wasBefore,
} from '../links/link-target.ts'
import { isVaultDoor } from '../neurons/first-come.ts'
import type { Finding } from '../neurons/neuron.ts'
import { parseSeqId } from '../neurons/seq-id.ts'
import { oneLine } from '../text/lines.ts'
import type { CheckedFile } from './checked-file.ts'

/** Returns the claim of a Neuron to one of its names. Undefined for a new name. */
export type ClaimOf = (seqId: string, name: Pick<NeuronName, 'exact' | 'kind'>) => NameClaim | undefined

/** Maximum number of Neurons with one name that a warning lists, the earliest first. */
export const maxNamesakes = 5

/** Returns the names by which people know a page, by key: title, aliases, and file name unless the page is the index of its folder. */
export function knownNames({ path, neuron }: CheckedFile): Map<string, string> {
  if (neuron === undefined) return new Map()
  const file = barePath(path).replace(/^.*\//, '')
  const names = new Map(
    [...neuron.fields.aliases, file, neuron.title ?? ''].map((name) => [linkKey(name), exactKey(name)]),
  )
  if (folderOfPage(path) !== undefined) names.delete(linkKey(file))
  names.delete('')
  return names
}

/** Warns once of each name that several pages have, at the page that got it last. */
export function checkNames(files: readonly CheckedFile[], claimOf: ClaimOf = () => undefined): Finding[] {
  const holders = new Map<string, Map<string, CheckedFile>>()
  for (const file of files) {
    for (const key of knownNames(file).keys()) {
      const named = holders.get(key) ?? new Map<string, CheckedFile>()
      const page = file.neuron?.fields.seqId ?? file.path
      // The last file by path wins a duplicate seqId, since a push and a full check read files in different orders.
      if ((named.get(page)?.path ?? '') < file.path) named.set(page, file)
      holders.set(key, named)
    }
  }
  const found = new Map<string, Finding>()
  for (const [key, named] of holders) {
    const claimants = [...named].map(([seqId, page]) => ({ seqId, page, claim: firstClaim(seqId, page, key, claimOf) }))
    claimants.sort((a, b) => (wasBefore(a, b) ? -1 : 1))
    const [last, ...others] = claimants.map(({ page }) => page).reverse()
    if (last === undefined || others.length === 0) continue
    const { path } = last
    const name = oneLine(knownNames(last).get(key) ?? key, 200)
    const shown = others.slice(-maxNamesakes).map((other) => oneLine(other.path, 200))
    const more = others.length > maxNamesakes ? ` and ${others.length - maxNamesakes} more` : ''
    const message = `The name "${name}" is also that of ${shown.reverse().join(', ')}${more}.`
    const subject = JSON.stringify([path, ...others.map((other) => other.path)])
    const told = found.get(subject)
    if (told !== undefined && told.message <= message) continue
    found.set(subject, { rule: 'same-name', severity: 'warning', path, line: 1, message })
  }
  return [...found.values()]
}

function firstClaim(seqId: string, page: CheckedFile, key: string, claimOf: ClaimOf): NameClaim | undefined {
  const claims = namesIn(seqId, page).flatMap((name) => (name.key === key ? (claimOf(seqId, name) ?? []) : []))
  return claims.toSorted((a, b) => a.since - b.since)[0]
}

/**
 * Derives claims from the pages alone: seqIds ascend with time, and the front matter has the connector. A name that a Neuron got later is
 * only known from the history.
 */
export function claimsAmong(files: readonly CheckedFile[]): ClaimOf {
  const names = new Map<string, (NeuronName & { claim: NameClaim })[]>()
  for (const file of files) {
    const { seqId, connector } = file.neuron?.fields ?? {}
    const since = parseSeqId(seqId ?? '')?.number
    if (seqId === undefined || since === undefined) continue
    const claim = { since, yields: connector !== undefined && !isVaultDoor(connector) }
    const named = namesIn(seqId, file).map((name) => ({ ...name, claim }))
    names.set(seqId, named)
  }
  return (seqId, name) => keptClaim(names.get(seqId) ?? [], name)
}

function namesIn(seqId: string, { path, neuron }: CheckedFile): NeuronName[] {
  return namesOf({ seqId, path, title: neuron?.title, aliases: neuron?.fields.aliases ?? [] })
}
