import { nativeGit } from '../../git/support/native-git.ts'

/** A file's new text, null to remove it, or another path to take the file from. */
export type NativeChange = string | null | { renamedFrom: string } | { copiedFrom: string }
export type NativeChanges = ReadonlyMap<string, NativeChange>

/** Writes to a bare repository as another git would, in one process for each commit. */
export class NativeWriter {
  readonly gitDir: string

  constructor(gitDir: string) {
    this.gitDir = gitDir
  }

  git(...args: string[]): string {
    return nativeGit(this.gitDir, args)
  }

  /** Paths on a ref, in order. */
  paths(ref: string, below = ''): string[] {
    if (this.git('for-each-ref', ref) === '') return []
    return this.git('ls-tree', '-r', '--name-only', ref, below || '.')
      .split('\n')
      .filter((path) => path !== '')
  }

  read(ref: string, path: string): string {
    return `${this.git('show', `${ref}:${path}`)}\n`
  }

  /**
   * One commit on a ref. `parents` are revisions, the first of them the one whose files it changes; without them it
   * follows the ref. `at` in seconds since 1970.
   */
  commit(
    ref: string,
    changes: NativeChanges,
    { parents = [ref], tree = '', at = 1_700_000_000, committer = 'Native <native@example.com>' } = {},
  ): void {
    const [first = ref, ...others] = parents.map((parent) => `${parent}^0`)
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
    const lines = [
      `commit ${ref}\n`,
      `committer ${committer} ${at} +0000\n`,
      data('A native commit'),
      `from ${first}\n`,
      ...others.map((parent) => `merge ${parent}\n`),
      ...(tree === '' ? [] : [`M 040000 ${this.git('rev-parse', `${tree}^{tree}`)} \n`]),
      ...[...changes].map(([path, change]) => {
        if (change === null) return `D ${path}\n`
        if (typeof change === 'string') return `M 100644 inline ${path}\n${data(change)}`
        return 'renamedFrom' in change ? `R ${change.renamedFrom} ${path}\n` : `C ${change.copiedFrom} ${path}\n`
      }),
    ]
    nativeGit(this.gitDir, ['fast-import', '--quiet', '--force'], lines.join(''))
  }
}
