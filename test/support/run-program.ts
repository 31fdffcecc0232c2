import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, type Program, readMessage, writeMessage } from './messages.ts'

let pipes: { programs: number; outcomes: number } | undefined

/**
 * Runs a program to its end while this process waits. Gives what it wrote to standard output.
 * @throws where it does not end with 0; the message holds what it wrote to standard error
 */
export function runProgram(
  command: string,
  args: readonly string[],
  options: Omit<Program, 'command' | 'args'>,
): Buffer {
  const program: Program = { command, args, ...options, env: { ...options.env } }
  const { status, signal, stdout, stderr, problem } =
    process.platform === 'win32' ? runHere(program) : runApart(program)
  if (problem !== undefined) throw new Error(`${command} could not be run: ${problem}`)
  if (status === 0) return Buffer.from(stdout)
  const complaint = Buffer.from(stderr).toString()
  throw Object.assign(new Error(`Command failed: ${[command, ...args].join(' ')}\n${complaint}`), {
    ...{ status, signal, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) },
  })
}

/** Runs a program directly where there are no named pipes. A process is started there without a copy of this one. */
function runHere({ command, args, ...options }: Program): Outcome {
  const { error, ...outcome } = spawnSync(command, args, { ...options, maxBuffer: 1 << 30 })
  return { ...outcome, problem: error?.message }
}

function runApart(program: Program): Outcome {
  pipes ??= startRunner()
  writeMessage(pipes.programs, program)
  const outcome = readMessage<Outcome>(pipes.outcomes)
  if (outcome === undefined) throw new Error('The process that runs programs has ended.')
  return outcome
}

function startRunner(): { programs: number; outcomes: number } {
  const folder = mkdtempSync(join(tmpdir(), 'ganglion-runner-'))
  try {
    const [programs, outcomes] = [join(folder, 'programs'), join(folder, 'outcomes')]
    execFileSync('mkfifo', [programs, outcomes])
    const runner = join(import.meta.dirname, 'program-runner.ts')
    spawn(process.execPath, [runner, programs, outcomes], { stdio: 'ignore' }).unref()
    // Each waits until the other side has opened its end.
    return { programs: openSync(programs, 'w'), outcomes: openSync(outcomes, 'r') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
