import type { GitObject, ObjectInfo, Oid } from './objects/object.ts'
import type { ByteRange } from './objects/object-store.ts'
import type { Repository } from './repository.ts'

/** Methods of a repository that readers of a knowledge base use. */
export type ReadRepository = Pick<
  Repository,
  'gitDir' | 'find' | 'read' | 'readText' | 'readTextOnce' | 'infos' | 'readRange'
>

/** Repository with additional objects in memory. */
export class StagedRepository implements ReadRepository {
  readonly #repository: ReadRepository
  readonly #objects: ReadonlyMap<Oid, GitObject>

  constructor(repository: ReadRepository, objects: ReadonlyMap<Oid, GitObject>) {
    this.#repository = repository
    this.#objects = objects
  }

  get gitDir(): string {
    return this.#repository.gitDir
  }

  async find(oid: Oid): Promise<GitObject | undefined> {
    return this.#objects.get(oid) ?? this.#repository.find(oid)
  }

  async read(oid: Oid): Promise<GitObject> {
    return this.#objects.get(oid) ?? this.#repository.read(oid)
  }

  async readText(oid: Oid): Promise<string> {
    return (await this.read(oid)).data.toString('utf8')
  }

  async readTextOnce(oid: Oid): Promise<string> {
    return this.#objects.get(oid)?.data.toString('utf8') ?? this.#repository.readTextOnce(oid)
  }

  async infos(oids: Iterable<Oid>): Promise<Map<Oid, ObjectInfo>> {
    const [staged, others] = [new Map<Oid, ObjectInfo>(), [] as Oid[]]
    for (const oid of oids) {
      const object = this.#objects.get(oid)
      if (object === undefined) others.push(oid)
      else staged.set(oid, { type: object.type, size: object.data.length })
    }
    return new Map([...staged, ...(await this.#repository.infos(others))])
  }

  async *readRange(oid: Oid, range: ByteRange): AsyncGenerator<Buffer> {
    const staged = this.#objects.get(oid)
    if (staged === undefined) yield* this.#repository.readRange(oid, range)
    else yield staged.data.subarray(range.first, range.last + 1)
  }
}
