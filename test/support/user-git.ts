import { text } from 'node:stream/consumers'
import { startProgram } from '../../src/git/native/spawner.ts'

export type GitRun = { code: number | null; stdout: string; stderr: string }

/** Returns the environment of a user's git. @param name of its author, in lower case */
export function userEnvironment(name: string): NodeJS.ProcessEnv {
  const person = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
  const email = `${name}@example.com`
  return {
    PATH: process.env.PATH,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: person,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: person,
    GIT_COMMITTER_EMAIL: email,
  }
}

/** Runs a user's git to its end, while this process serves it. */
export async function runUserGit(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<GitRun> {
  const { stdout, ended } = await startProgram({ command: 'git', args, cwd, env, hasInput: false, channels: 0 })
  const [output, { exitCode, complaint }] = await Promise.all([text(stdout), ended])
  return { code: exitCode, stdout: output, stderr: complaint }
}
