import { type Duplex, type Readable, Writable } from 'node:stream'
import type { End } from './launch.ts'

export type RunningProgram = {
  /** Takes nothing if the program was started without input. */
  stdin: Writable
  stdout: Readable
  channels: readonly Duplex[]
  /**
   * Resolves when the program has ended, with all that writes to its standard error. What it wrote may still be read then.
   * Rejects with a {@link GitError} `git-failed` if nobody can say how it ended.
   */
  ended: Promise<End>
  kill(signal: NodeJS.Signals): void
}

export function noInput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() }).end()
}
