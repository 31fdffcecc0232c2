import { NativeWriter } from '../../kb/support/native-writer.ts'
import { type Console, startConsole } from '../support.ts'

export const hostile = `"><img src=x onerror=alert(1)>'&`

export type Written = Console & {
  /** One commit: text by path below `neurons/`, null to remove. */
  write(files: Record<string, string | null>): void
  head(): string
}

/** The console on Neurons that are written with git. */
export async function writtenConsole(files: Record<string, string>): Promise<Written> {
  const console = await startConsole()
  const native = new NativeWriter(console.ctx.directory.repository(console.kbId))
  const write: Written['write'] = (changes) =>
    native.commit('refs/heads/main', new Map(Object.entries(changes).map(([path, text]) => [`neurons/${path}`, text])))
  write(files)
  return { ...console, write, head: () => native.git('rev-parse', 'refs/heads/main') }
}
