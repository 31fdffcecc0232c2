import { fold } from './fold.ts'

/** How a Neuron answers to a name, in the order in which names win. */
export const nameKinds = ['seqId', 'path', 'file', 'title', 'alias'] as const
export type NameKind = (typeof nameKinds)[number]

/** One name of a Neuron: the folded key to look it up by, and its exact spelling. */
export type NeuronName = { key: string; exact: string; kind: NameKind }

/** A Neuron that answers to a key. */
export type NamedNeuron = { seqId: string; kind: NameKind; exact: string }

export type Resolution = { seqId: string } | { missing: true } | { ambiguous: string[] }

/** The key under which spellings of a name meet: no case, no diacritics, and spaces, underscores and hyphens are one. */
export function linkKey(text: string): string {
  return fold(text)
    .replace(/[\s_\p{Pd}]+/gu, ' ')
    .trim()
}

/** A name as spelled, whatever its Unicode normalisation and the space around it. */
export function exactKey(text: string): string {
  return text.normalize('NFC').trim()
}

/**
 * All names under which a Neuron answers: its seqId, its path below `neurons/` without `.md`, the ends of that path from
 * `folder/file` down to `file` (as file names, so that a full path wins over another's end), its title and its aliases.
 */
export function namesOf(neuron: {
  seqId: string
  path: string
  title?: string | undefined
  aliases: readonly string[]
}): NeuronName[] {
  const path = barePath(neuron.path)
  const segments = path.split('/')
  const names: [NameKind, string][] = [
    ['seqId', neuron.seqId],
    ['path', path],
    ...segments.map((_, start): [NameKind, string] => ['file', segments.slice(start).join('/')]),
    ['title', neuron.title ?? ''],
    ...neuron.aliases.map((alias): [NameKind, string] => ['alias', alias]),
  ]
  return names
    .map(([kind, name]) => ({ key: linkKey(name), exact: exactKey(name), kind }))
    .filter(({ key }) => key !== '')
}

/**
 * The keys under which the Neuron that a target means answers: that of the target, and that of the path that it may be, where
 * it is another one.
 */
export function targetKeys(target: string): { key: string; bareKey?: string } {
  const key = linkKey(target)
  const bareKey = linkKey(barePath(target))
  return bareKey === key ? { key } : { key, bareKey }
}

/** The keys under which a file that is no Neuron answers, as an image does: its path and every end of it. */
export function fileKeys(path: string): string[] {
  const names = path.split('/')
  return names.map((_, start) => linkKey(names.slice(start).join('/')))
}

/**
 * The Neuron that a wiki link means. Exact spellings win over folded ones; among equals the kind of name decides, and several
 * Neurons on the best level are ambiguous (their seqIds, sorted). `lookup` gives every Neuron with a name of that key.
 */
export function resolveTarget(target: string, lookup: (key: string) => readonly NamedNeuron[]): Resolution {
  const bare = barePath(target)
  const named = [
    ...answers(target, lookup),
    ...(bare === target ? [] : answers(bare, lookup).filter(({ kind }) => kind === 'path' || kind === 'file')),
  ]
  for (const level of [named.filter(({ spelled }) => spelled), named]) {
    for (const kind of nameKinds) {
      const found = [...new Set(level.filter((name) => name.kind === kind).map(({ seqId }) => seqId))].sort()
      const [seqId] = found
      if (seqId !== undefined) return found.length === 1 ? { seqId } : { ambiguous: found }
    }
  }
  return { missing: true }
}

function answers(target: string, lookup: (key: string) => readonly NamedNeuron[]) {
  const key = linkKey(target)
  const exact = exactKey(target)
  return key === '' ? [] : lookup(key).map((name) => ({ ...name, spelled: name.exact === exact }))
}

/** The path below `neurons/` without `.md` that a path, or a target, stands for. */
export function barePath(path: string): string {
  return path
    .trim()
    .replace(/^\.?\//, '')
    .replace(/^neurons\//, '')
    .replace(/\.md$/i, '')
}
