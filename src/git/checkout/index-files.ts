import { resolve } from 'node:path'
import { runGit, tryGit } from '../native/git-process.ts'
import type { Oid } from '../objects/object.ts'

/** A file as the index holds it; `mode` is git's, as text. */
export type CheckoutFile = { path: string; mode: string; oid: Oid }

/** A path on which the index differs from `HEAD`. An absent side means that the path is not there. */
export type StagedChange = { path: string; before?: CheckoutFile; after?: CheckoutFile }

/** A line of a staged file that a search found. */
export type StagedLine = { path: string; line: string }

/** What is staged in a checkout: its index, or the one that a hook is told to look at. */
export class GitIndex {
  readonly #gitDir: string
  readonly #root: string
  readonly #environment: NodeJS.ProcessEnv

  /** @param file the index, where it is not the checkout's own: `git commit` makes one of its own for some of the files. */
  constructor(gitDir: string, dir: string, file: string | undefined) {
    this.#gitDir = gitDir
    this.#root = resolve(dir)
    this.#environment = file === undefined ? {} : { GIT_INDEX_FILE: resolve(file) }
  }

  /** Every file, without those in conflict. @throws {GitError} `git-failed` */
  async files(): Promise<CheckoutFile[]> {
    const output = await this.#run(['ls-files', '--stage', '-z'])
    return fields(output).flatMap((entry): CheckoutFile[] => {
      // `mode oid stage<TAB>path`
      const tab = entry.indexOf('\t')
      const [mode = '', oid = '', stage] = entry.slice(0, tab).split(' ')
      return stage === '0' ? [{ path: entry.slice(tab + 1), mode, oid }] : []
    })
  }

  /** What a commit would change; all there is where there is no commit yet. @throws {GitError} `git-failed` */
  async changes(): Promise<StagedChange[]> {
    const plain = ['--no-renames', '--no-ext-diff', '--no-relative', '--no-color', '--ignore-submodules=none']
    const parts = fields(await this.#run(['diff', '--cached', '--raw', '-z', '--no-abbrev', ...plain]))
    const changes: StagedChange[] = []
    for (let at = 0; at + 1 < parts.length; at += 2) {
      // `:mode mode oid oid status`, and the path as a field of its own
      const [modeBefore = '', mode = '', oidBefore = '', oid = ''] = (parts[at] ?? '').slice(1).split(' ')
      const path = parts[at + 1] ?? ''
      changes.push({
        path,
        ...(isNothing(modeBefore) ? {} : { before: { path, mode: modeBefore, oid: oidBefore } }),
        ...(isNothing(mode) || isNothing(oid) ? {} : { after: { path, mode, oid } }),
      })
    }
    return changes
  }

  /** The lines below a folder that an extended regular expression matches. What a partial clone lacks is passed over, or ends the search. */
  async lines(pattern: string, folder: string): Promise<StagedLine[]> {
    const plain = [
      '--no-line-number',
      '--no-column',
      '--no-color',
      '--no-recurse-submodules',
      '--no-textconv',
      '--text',
    ]
    const args = ['grep', '--cached', '-z', '--full-name', '--extended-regexp', ...plain, '-e', pattern, '--', folder]
    const { output } = await tryGit(this.#gitDir, this.#at(args), { environment: this.#environment })
    return output.split('\n').flatMap((found) => {
      const end = found.indexOf('\0')
      return end < 0 ? [] : [{ path: found.slice(0, end), line: found.slice(end + 1) }]
    })
  }

  #run(args: readonly string[]): Promise<string> {
    return runGit(this.#gitDir, this.#at(args), { environment: this.#environment })
  }

  #at(args: readonly string[]): string[] {
    return ['-C', this.#root, '--work-tree', this.#root, ...args]
  }
}

function isNothing(modeOrOid: string): boolean {
  return /^0+$/.test(modeOrOid)
}

function fields(output: string): string[] {
  return output.split('\0').filter((field) => field !== '')
}
