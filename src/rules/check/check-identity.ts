import type { Finding } from '../neurons/neuron.ts'
import { oneLine } from '../text/lines.ts'
import type { CheckedFile } from './checked-file.ts'

/** seqIds and document ids that two Neurons hold, and seqIds that a change takes from a Neuron. */
export function checkIdentity(files: readonly CheckedFile[], previousSeqIds: ReadonlyMap<string, string>): Finding[] {
  // A copy must not take the blame's place: whoever held its seqId before is the rightful holder.
  const isCopy = ({ path, neuron }: CheckedFile) => Number(previousSeqIds.get(path) !== neuron?.fields.seqId)
  const holders = files
    .filter(({ neuron }) => neuron !== undefined)
    .sort((a, b) => isCopy(a) - isCopy(b) || (a.path < b.path ? -1 : 1))
  return [
    ...duplicates(holders, 'duplicate-seq-id', 'seqId', ({ neuron }) => neuron?.fields.seqId),
    ...duplicates(holders, 'duplicate-id', 'id', ({ neuron }) => neuron?.fields.id?.toLowerCase()),
    ...changes(holders, previousSeqIds),
  ]
}

function duplicates(
  files: readonly CheckedFile[],
  rule: string,
  name: string,
  idOf: (file: CheckedFile) => string | undefined,
): Finding[] {
  const first = new Map<string, string>()
  return files.flatMap((file): Finding[] => {
    const id = idOf(file)
    if (id === undefined) return []
    const holder = first.get(id)
    if (holder === undefined) {
      first.set(id, file.path)
      return []
    }
    const copied = name === 'seqId' ? ': a copy of that page leaves out its lines seqId, id and candidate' : ''
    const message = `The ${name} ${oneLine(id, 100)} belongs to ${oneLine(holder, 200)} already${copied}.`
    return [{ rule, severity: 'error', path: file.path, line: 1, message }]
  })
}

/** A Neuron may move, also over a deleted one, or be deleted; what stays where it was keeps its seqId. */
function changes(files: readonly CheckedFile[], previousSeqIds: ReadonlyMap<string, string>): Finding[] {
  const held = new Set(files.map(({ neuron }) => neuron?.fields.seqId))
  const known = new Set(previousSeqIds.values())
  return files.flatMap(({ path, neuron }): Finding[] => {
    const before = previousSeqIds.get(path)
    const after = neuron?.fields.seqId
    if (before === undefined || held.has(before) || (after !== undefined && known.has(after))) return []
    const [rule, verb] = after === undefined ? ['removed-seq-id', 'removed'] : ['changed-seq-id', 'changed']
    const message = `The seqId ${before} was ${verb}: a Neuron keeps its seqId for ever.`
    return [{ rule, severity: 'error', path, line: 1, message }]
  })
}
