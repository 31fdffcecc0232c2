import {
  barePath,
  exactKey,
  linkKey,
  type NamedNeuron,
  type NeuronName,
  nameKinds,
  namesOf,
  resolveTarget,
  targetKeys,
} from '../../knowledge/link-target.ts'
import { isWritableTarget, type NewTarget } from '../../markdown/rewrite-links.ts'
import { namesByKey, namesOfNeuron } from '../../store/link-queries.ts'
import type { Projection } from '../../store/projection.ts'

/** What gives a Neuron its names. */
export type NeuronIdentity = { path: string; title: string; aliases: readonly string[] }

/** A Neuron that gets another title or path. */
export type Rename = { seqId: string; after: NeuronIdentity }

type Sql = Projection['read']

/** Which of several names of one Neuron a target means that is spelled as none of them: what people would call it. */
const likelyKinds = ['title', 'alias', 'file', 'path', 'seqId'] as const

/** What names mean before and after a commit that changes names of Neurons; `sql` holds the state before. */
export class NameChange {
  readonly #sql: Sql
  readonly #renames: ReadonlyMap<string, NeuronIdentity>
  readonly #changed: ReadonlySet<string>
  readonly #namesAfter = new Map<string, NamedNeuron[]>()
  readonly #before = new Map<string, string | undefined>()
  readonly #after = new Map<string, string | undefined>()
  readonly #newTargets = new Map<string, NewTarget | undefined>()

  /** @param others the Neurons that the same commit writes, whose names may be other ones too. */
  constructor(sql: Sql, renames: readonly Rename[], others: readonly Rename[] = []) {
    this.#sql = sql
    this.#renames = new Map(renames.map(({ seqId, after }) => [seqId, after]))
    const all = new Map([...others, ...renames].map(({ seqId, after }) => [seqId, after]))
    this.#changed = new Set(all.keys())
    for (const [seqId, after] of all) {
      for (const { key, kind, exact } of namesOf({ seqId, ...after })) {
        const named = this.#namesAfter.get(key) ?? []
        this.#namesAfter.set(key, [...named, { seqId, kind, exact }])
      }
    }
  }

  /** The one Neuron that a target means before. */
  before(target: string): string | undefined {
    return remembered(this.#before, target, () => meaning(target, (key) => namesByKey(this.#sql, key)))
  }

  /** The one Neuron that a target would mean after. */
  after(target: string): string | undefined {
    return remembered(this.#after, target, () =>
      meaning(target, (key) => [
        ...namesByKey(this.#sql, key).filter(({ seqId }) => !this.#changed.has(seqId)),
        ...(this.#namesAfter.get(key) ?? []),
      ]),
    )
  }

  /**
   * What must stand in the place of a target that means a renamed Neuron by a name that it loses: the new name of the same
   * kind, where a link can hold it and it leads there, or else the seqId. Nothing for any other target.
   */
  newTarget(target: string): NewTarget | undefined {
    return remembered(this.#newTargets, target, () => {
      const seqId = this.before(target)
      const after = seqId === undefined ? undefined : this.#renames.get(seqId)
      if (seqId === undefined || after === undefined) return undefined
      const used = usedName(namesOfNeuron(this.#sql, seqId), target)
      const isKept = namesOf({ seqId, ...after }).some(({ exact }) => exact === used?.exact)
      if (isKept && this.after(target) === seqId) return undefined
      const isPath = used?.kind === 'path' || used?.kind === 'file'
      const names = isPath ? newPaths(target, after.path) : [after.title.trim()]
      const found = names.find((name) => isWritableTarget(name) && this.after(name) === seqId)
      return found === undefined ? { target: seqId, alias: after.title } : { target: found }
    })
  }
}

function meaning(target: string, lookup: (key: string) => readonly NamedNeuron[]): string | undefined {
  const found = resolveTarget(target, lookup)
  return 'seqId' in found ? found.seqId : undefined
}

function usedName(names: readonly NeuronName[], target: string): NeuronName | undefined {
  const key = linkKey(target)
  const { bareKey } = targetKeys(target)
  const isPath = ({ kind }: NeuronName) => kind === 'path' || kind === 'file'
  const meant = names.filter((name) => name.key === key || (name.key === bareKey && isPath(name)))
  const spelled = meant.filter(({ exact }) => exact === exactKey(target) || exact === exactKey(barePath(target)))
  const [named, kinds] = spelled.length > 0 ? [spelled, nameKinds] : [meant, likelyKinds]
  return kinds.map((kind) => named.find((name) => name.kind === kind)).find((name) => name !== undefined)
}

/** The new path, written as the target writes the old one: with as many of its last names, or with all and what is around. */
function newPaths(target: string, path: string): string[] {
  const [old, bare] = [barePath(target), barePath(path)]
  if (old !== target) return [target.replace(old, () => bare)]
  return [bare.split('/').slice(-old.split('/').length).join('/'), bare]
}

function remembered<T>(known: Map<string, T | undefined>, key: string, find: () => T | undefined): T | undefined {
  if (!known.has(key)) known.set(key, find())
  return known.get(key)
}
