import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'
import { descriptorsOf, launch, type Order } from './child-program.ts'

/**
 * A small process that starts programs for a large one. `fork` copies the page tables of the process that calls it, which takes
 * milliseconds for each hundred megabytes. What the programs read and write does not pass through here: they inherit
 * connections to the large process. This process ends when the large one does, and ends its programs first.
 */

/** First line of a connection. `id`, which nobody can guess, names the program; `order` comes on the connection that controls it. */
type Head = { id: string; order?: Order; descriptor?: number }
type Call = {
  order?: Order
  control?: Socket
  connections: Map<number, Socket>
  /** Ends the call if not all of its connections arrive. */
  timer: NodeJS.Timeout
  isComplete: boolean
  kill?: (signal: NodeJS.Signals) => void
}

/** Milliseconds for a connection to send its first line, and for a program to get all of its connections. */
const patience = 10_000
/** Maximum bytes of the first line of a connection. */
const maxHead = 1024 * 1024
const lineFeed = 0x0a

const calls = new Map<string, Call>()

/** Ends all programs, since the large process is gone. */
function endAll(): void {
  for (const { kill } of calls.values()) kill?.('SIGKILL')
  process.exit()
}

function endCall(id: string): void {
  const call = calls.get(id)
  calls.delete(id)
  clearTimeout(call?.timer)
  call?.kill?.('SIGKILL')
  for (const connection of call?.connections.values() ?? []) connection.destroy()
  call?.control?.end()
}

function takeConnection(connection: Socket): void {
  const timer = setTimeout(() => connection.destroy(), patience)
  let head = Buffer.alloc(0)
  const read = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    if (head.length > maxHead) connection.destroy()
    if (head.at(-1) !== lineFeed) return
    clearTimeout(timer)
    // Until the program has started, nothing follows on its streams.
    connection.off('data', read).resume()
    try {
      assign(connection, JSON.parse(head.toString()))
    } catch {
      connection.destroy()
    }
  }
  connection
    .on('data', read)
    .on('error', () => {})
    .once('close', () => clearTimeout(timer))
}

function assign(connection: Socket, { id, order, descriptor }: Head): void {
  const begin = () => ({ connections: new Map(), timer: setTimeout(() => endCall(id), patience), isComplete: false })
  const call: Call = calls.getOrInsertComputed(id, begin)
  if (descriptor !== undefined) call.connections.set(descriptor, connection)
  if (order !== undefined) {
    Object.assign(call, { order, control: connection })
    connection.on('data', (lines) => {
      for (const line of lines.toString().trim().split('\n')) {
        if (line !== 'cancel') call.kill?.(line as NodeJS.Signals)
        else if (!call.isComplete) endCall(id)
      }
    })
  }
  connection.once('close', () => {
    if (descriptor !== undefined) call.connections.delete(descriptor)
    if (order !== undefined || (call.order === undefined && call.connections.size === 0)) endCall(id)
  })
  startIfComplete(id, call)
}

async function startIfComplete(id: string, call: Call): Promise<void> {
  const { order, control, connections } = call
  if (order === undefined || call.isComplete) return
  if (!descriptorsOf(order).every((descriptor) => connections.has(descriptor))) return
  call.isComplete = true
  clearTimeout(call.timer)
  const answer = (message: object) => control?.write(`${JSON.stringify(message)}\n`)
  try {
    const program = await launch(order, connections.get(0) ?? 'ignore', connections.get(1) ?? 'ignore')
    call.kill = program.kill
    if (calls.get(id) !== call) program.kill('SIGKILL')
    // The program has inherited these two, and its end must close them.
    for (const descriptor of [0, 1]) connections.get(descriptor)?.destroy()
    // Programs expect streams that block, which only the other two are not made to be.
    for (const [index, channel] of program.channels.entries()) {
      const connection = connections.get(3 + index)
      if (connection !== undefined) connection.pipe(channel).pipe(connection)
    }
    answer({ pid: program.pid })
    answer(await program.ended)
  } catch (error) {
    // If `spawn` finds no file descriptors, Node never closes those that it had opened before.
    answer({ error: error instanceof Error ? error.message : '', isSpent: hasCode(error, 'EMFILE', 'ENFILE') })
  }
  endCall(id)
}

const folder = mkdtempSync(join(tmpdir(), 'ganglion-git-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('disconnect', endAll)
// A server that shuts down may need its programs until it ends, and then this process ends, too.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
const path = join(folder, 's')
createServer(takeConnection)
  .on('error', () => process.exit(1))
  .listen(path, () => process.send?.(path))
