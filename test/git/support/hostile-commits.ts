import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import {
  encodeCommit,
  hashObject,
  type ObjectType,
  type Oid,
  Tree,
  toBinaryName,
  treeOfCommit,
} from '../../../src/git/objects/object.ts'
import { nativeGitBytes } from './native-git.ts'

export type Entry = { mode: string; name: string; oid: Oid }

const person = { name: 'Native', email: 'native@example.com' }

/** Writes objects that no git would write by itself into a repository. Names are text, or bytes as `latin1` has them. */
export class HostileCommits {
  readonly dir: string
  readonly #objects: string
  readonly #written = new Map<Oid, Buffer>()

  constructor(dir: string) {
    this.dir = dir
    this.#objects = join(dir, existsSync(join(dir, '.git')) ? '.git/objects' : 'objects')
  }

  blob(content: string | Buffer): Oid {
    return this.#write('blob', Buffer.from(content))
  }

  /** Writes a tree with entries in git's order; nothing else about them is checked. */
  tree(entries: readonly Entry[]): Oid {
    const key = ({ mode, name }: Entry) => (mode === '40000' ? `${name}/` : name)
    const inOrder = [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
    const data = inOrder.map(({ mode, name, oid }) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
    )
    return this.#write('tree', Buffer.concat(data))
  }

  entries(tree: Oid): readonly Entry[] {
    return Tree.decode(this.#read(tree, 'tree')).entries
  }

  /** A tree with one path set; `null` removes it. */
  with(tree: Oid, path: string | Buffer, entry: { mode: string; oid: Oid } | null): Oid {
    const binary = typeof path === 'string' ? toBinaryName(path) : path.toString('latin1')
    const [name = '', ...rest] = binary.split('/')
    const entries = this.entries(tree)
    const others = entries.filter((other) => other.name !== name)
    if (rest.length === 0) return this.tree(entry === null ? others : [...others, { ...entry, name }])
    const folder = entries.find((other) => other.name === name)
    const below = folder?.mode === '40000' ? folder.oid : this.tree([])
    return this.tree([
      ...others,
      { mode: '40000', name, oid: this.with(below, Buffer.from(rest.join('/'), 'latin1'), entry) },
    ])
  }

  commit(tree: Oid, ...parents: Oid[]): Oid {
    const at = new Date()
    const signature = { ...person, at }
    const fields = { tree, parents, author: signature, committer: signature, message: 'A hostile commit\n' }
    return this.#write('commit', encodeCommit(fields))
  }

  /** The tree of a commit. */
  treeOf(commit: Oid): Oid {
    return treeOfCommit(this.#read(commit, 'commit'))
  }

  #read(oid: Oid, type: ObjectType): Buffer {
    return this.#written.get(oid) ?? nativeGitBytes(this.dir, ['cat-file', type, oid])
  }

  #write(type: ObjectType, data: Buffer): Oid {
    const oid = hashObject(type, data)
    const file = join(this.#objects, oid.slice(0, 2), oid.slice(2))
    if (!existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, deflateSync(Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data]), { level: 1 }))
    }
    this.#written.set(oid, data)
    return oid
  }
}
