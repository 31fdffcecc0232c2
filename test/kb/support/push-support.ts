import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Repository } from '../../../src/git/repository.ts'
import type { KnowledgeBase } from '../../../src/kb/knowledge-base.ts'
import { checkPush } from '../../../src/push/checks/check-push.ts'
import type { Finding } from '../../../src/rules/neurons/neuron.ts'
import { HostileCommits } from '../../git/support/hostile-commits.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import { put } from './import-support.ts'
import { type WrittenBed, writtenBed } from './written-neurons.ts'

export type Pushing = {
  bed: WrittenBed
  kb: KnowledgeBase
  /** A clone whose object store holds only what is new. */
  clone: string
  hostile: HostileCommits
  /** The head of main. */
  from: string
  /** Writes a file of the clone. */
  put(path: string, content: string | Buffer): void
  move(from: string, to: string): void
  /** Commits the clone's files as they are. */
  commit(): string
  /** Lets a commit in, whatever it is. */
  accept(commit: string): Promise<void>
  findings(to: string): Promise<Finding[]>
  /** `severity path:line rule` of each finding. */
  judge(to: string): Promise<string[]>
}

/** A knowledge base `handbook` with these Neurons, by path below `neurons/`, and a curator's clone of it. */
export async function pushing(files: Record<string, string> = {}): Promise<Pushing> {
  const bed = await writtenBed(files)
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const clone = join(tempDir(), 'clone')
  nativeGit(bed.dataDir, ['clone', '--quiet', '--shared', bed.gitDir, clone])
  const quarantine = join(clone, '.git', 'objects')
  const findings = (to: string) => {
    const from = nativeGit(bed.gitDir, ['rev-parse', 'refs/heads/main'])
    const repository = new Repository(kb.repository.gitDir, { quarantine })
    return checkPush(kb, { repository, from, to }).finally(() => repository.close())
  }
  return {
    bed,
    kb,
    clone,
    hostile: new HostileCommits(clone),
    from: nativeGit(clone, ['rev-parse', 'HEAD']),
    put: (path, content) => put(clone, path, content),
    move(from, to) {
      mkdirSync(dirname(join(clone, to)), { recursive: true })
      renameSync(join(clone, from), join(clone, to))
    },
    commit() {
      nativeGit(clone, ['add', '--all'])
      nativeGit(clone, ['commit', '--quiet', '--allow-empty', '--message', 'A change'])
      return nativeGit(clone, ['rev-parse', 'HEAD'])
    },
    async accept(commit) {
      nativeGit(clone, ['push', '--quiet', 'origin', `${commit}:refs/heads/main`])
      await kb.sync()
    },
    findings,
    async judge(to) {
      return (await findings(to)).map(({ severity, path, line, rule }) => `${severity} ${path}:${line} ${rule}`)
    },
  }
}
