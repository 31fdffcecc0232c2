import { checkLinks } from '../../rules/check/check-links.ts'
import { claimsAmong } from '../../rules/check/check-names.ts'
import type { CheckedFile, CheckedNeuron } from '../../rules/check/checked-file.ts'
import { linkKey } from '../../rules/links/link-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { findResembling, type Resembling } from '../../rules/neurons/resemblance.ts'

/** A Neuron as a reader of a change knows it. */
export type PushedName = { path: string; title?: string | undefined; seqId?: string | undefined }

/** A file of a knowledge base that holds a Neuron. */
export type NeuronFileOf = CheckedFile & { neuron: CheckedNeuron }

/** One Neuron on both sides of a change; one side at least is there. */
export type CheckedChange = {
  action: 'added' | 'changed' | 'moved' | 'removed'
  before?: NeuronFileOf
  after?: NeuronFileOf
  /** As written, with those of its edges. */
  linksGained: string[]
  linksLost: string[]
  /** Other Neurons that answer to its title. */
  sameTitle: PushedName[]
  /** Other Neurons that nearly repeat its text. */
  sameText: Resembling<string>[]
}

/** From here on two texts are told as near-duplicates. */
const leastResemblance = 0.5
/** Of a change of more Neurons only the first are compared with all others. */
const maxCompared = 500

/** What a change of a knowledge base's files does to its Neurons, by path. */
export function compareNeurons(before: readonly CheckedFile[], after: readonly CheckedFile[]): CheckedChange[] {
  const sides = pairNeurons(neuronsByPath(before), neuronsByPath(after))
  const all = [...neuronsByPath(after).values()]
  const byName = neuronsByTitle(all)
  const written = sides.flatMap(({ after: file }) => file ?? []).slice(0, maxCompared)
  const resembling = findResembling(written.map(nameAndText), all.map(nameAndText), leastResemblance)
  const sameText = new Map(written.map(({ path }, at) => [path, resembling[at] ?? []]))
  return sides.map((side) => {
    const [old, fresh] = [linksOf(side.before), linksOf(side.after)]
    const { path = '', neuron } = side.after ?? {}
    return {
      ...side,
      linksGained: [...fresh.difference(old)],
      linksLost: [...old.difference(fresh)],
      sameTitle: (byName.get(linkKey(neuron?.title ?? '')) ?? []).filter((other) => other.path !== path),
      sameText: sameText.get(path) ?? [],
    }
  })
}

/** Links of Neurons which did not change themselves, and that no longer lead to one Neuron. */
export function brokenByChange(
  before: readonly CheckedFile[],
  after: readonly CheckedFile[],
  changes: readonly CheckedChange[],
): Finding[] {
  const changed = new Set(changes.flatMap((change) => change.after?.path ?? []))
  const keyOf = ({ path, line, message }: Finding) => JSON.stringify([path, line, message])
  const claimOf = claimsAmong(before)
  const known = new Set(checkLinks(before, new Map(), { claimOf }).map(keyOf))
  const titles = new Map(
    before.flatMap(({ neuron }): [string, string[]][] => {
      const { title } = neuron ?? {}
      const { seqId } = neuron?.fields ?? {}
      return seqId === undefined || title === undefined ? [] : [[seqId, [title]]]
    }),
  )
  return checkLinks(after, titles, { claimOf }).filter(
    (finding) => !changed.has(finding.path) && !known.has(keyOf(finding)),
  )
}

type Sides = Pick<CheckedChange, 'action' | 'before' | 'after'>

/** A Neuron that is gone from one path and has come to another is one that moved: by its seqId, or by its very bytes. */
function pairNeurons(before: Map<string, NeuronFileOf>, after: Map<string, NeuronFileOf>): Sides[] {
  const gone = new Map([...before].filter(([path]) => !after.has(path)))
  const goneBy = new Map<string, NeuronFileOf>()
  for (const file of gone.values()) for (const identity of identitiesOf(file)) goneBy.set(identity, file)
  const sides: Sides[] = []
  for (const [path, file] of after) {
    const old = before.get(path)
    if (old?.oid === file.oid && old !== undefined) continue
    if (old !== undefined) {
      sides.push({ action: 'changed', before: old, after: file })
      continue
    }
    const from = identitiesOf(file)
      .map((identity) => goneBy.get(identity))
      .find((found) => found !== undefined && gone.has(found.path))
    if (from !== undefined) gone.delete(from.path)
    sides.push(from === undefined ? { action: 'added', after: file } : { action: 'moved', before: from, after: file })
  }
  for (const file of gone.values()) sides.push({ action: 'removed', before: file })
  const pathOf = ({ before: old, after: file }: Sides) => file?.path ?? old?.path ?? ''
  return sides.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
}

function identitiesOf({ oid, neuron }: NeuronFileOf): string[] {
  const { seqId } = neuron.fields
  return [...(seqId === undefined ? [] : [`seqId ${seqId}`]), ...(oid === undefined ? [] : [`oid ${oid}`])]
}

function neuronsByPath(files: readonly CheckedFile[]): Map<string, NeuronFileOf> {
  return new Map(
    files.flatMap((file) => (file.neuron === undefined ? [] : [[file.path, { ...file, neuron: file.neuron }]])),
  )
}

function neuronsByTitle(files: readonly NeuronFileOf[]): Map<string, PushedName[]> {
  const named = new Map<string, PushedName[]>()
  for (const { path, neuron } of files) {
    const { title } = neuron
    const { seqId, aliases } = neuron.fields
    for (const key of new Set([title ?? '', ...aliases].map(linkKey))) {
      if (key !== '') named.set(key, [...(named.get(key) ?? []), { path, title, seqId }])
    }
  }
  return named
}

function nameAndText({ path, neuron }: NeuronFileOf): { name: string; text: string } {
  return { name: path, text: neuron.content }
}

function linksOf(file: NeuronFileOf | undefined): Set<string> {
  const links = [...(file?.neuron.propertyLinks ?? []), ...(file?.links ?? [])].map(({ form, type, kb, target }) => {
    const to = kb === undefined ? target : `kb:${kb}/${target}`
    if (form === 'markdown') return `link to ${to}`
    return `[[${type === undefined ? to : `${type}:${to}`}]]`
  })
  const edges = (file?.neuron.fields.edges ?? []).map(({ type, target }) => `edge ${type}: ${target}`)
  return new Set([...links, ...edges])
}
