import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { type Outcome, type Program, readMessage, writeMessage } from './messages.ts'

/**
 * A small process that runs programs for a large one, one after the other: `fork` copies the page tables of the process that calls
 * it. Two named pipes lead to it and back. It ends when the large process does.
 */
const [programs = '', outcomes = ''] = process.argv.slice(2)
const input = openSync(programs, 'r')
const output = openSync(outcomes, 'w')

for (let program = readMessage<Program>(input); program !== undefined; program = readMessage<Program>(input)) {
  const { command, args, ...options } = program
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, { ...options, maxBuffer: 1 << 30 })
  writeMessage(output, { status, signal, stdout, stderr, problem: error?.message } satisfies Outcome)
}
