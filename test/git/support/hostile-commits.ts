import { execFileSync } from 'node:child_process'
import type { Oid } from '../../../src/git/object.ts'
import { Tree, toBinaryName } from '../../../src/git/tree.ts'
import { nativeGit } from './native-git.ts'

export type Entry = { mode: string; name: string; oid: Oid }

/** Writes objects that no git would write by itself into a repository. Names are text, or bytes as `latin1` has them. */
export class HostileCommits {
  readonly dir: string

  constructor(dir: string) {
    this.dir = dir
  }

  blob(content: string | Buffer): Oid {
    return nativeGit(this.dir, ['hash-object', '-w', '--stdin'], content)
  }

  /** In git's order; nothing else about the entries is looked at. */
  tree(entries: readonly Entry[]): Oid {
    const key = ({ mode, name }: Entry) => (mode === '40000' ? `${name}/` : name)
    const inOrder = [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
    const data = inOrder.map(({ mode, name, oid }) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
    )
    return nativeGit(
      this.dir,
      ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'],
      Buffer.concat([Buffer.alloc(0), ...data]),
    )
  }

  entries(tree: Oid): readonly Entry[] {
    return Tree.decode(execFileSync('git', ['cat-file', 'tree', tree], { cwd: this.dir })).entries
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
    return nativeGit(
      this.dir,
      ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])],
      'A hostile commit\n',
    )
  }

  /** The tree of a commit. */
  treeOf(commit: Oid): Oid {
    return nativeGit(this.dir, ['rev-parse', `${commit}^{tree}`])
  }
}
