import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'
import { descriptorsOf, launch, type Order } from './child-program.ts'

/**
 * Small process that starts programs for a large one. `fork` copies the page tables of its caller, which takes milliseconds for
 * each hundred megabytes. Data of the programs does not pass through here: they inherit connections to the large process. This
 * process ends with the large one, after ending its programs.
 */

/** First line of a connection. `id`: unguessable id of the program; `order`: present on the connection that controls it. */
type Head = { id: string; order?: Order; descriptor?: number }
type Call = {
  order?: Order
  control?: Socket
  connections: Map<number, Socket>
  /** Timer that ends the call if not all of its connections arrive. */
  timer: NodeJS.Timeout
  isComplete: boolean
  kill?: (signal: NodeJS.Signals) => void
}

/** Milliseconds within which a connection must send its first line, and a program must have all of its connections. */
const patience = 10_000
/** Maximum bytes of the first line of a connection. */
const maxHead = 1024 * 1024
const lineFeed = 0x0a

const calls = new Map<string, Call>()

/** Kills all programs and exits, because the large process is gone. */
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
    // Nothing follows on a stream until the program has started.
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
    // The program has inherited these two, so only its end must close them.
    for (const descriptor of [0, 1]) connections.get(descriptor)?.destroy()
    // Programs expect blocking streams. Node makes only the standard streams blocking, so the channels are piped.
    for (const [index, channel] of program.channels.entries()) {
      const connection = connections.get(3 + index)
      if (connection !== undefined) connection.pipe(channel).pipe(connection)
    }
    answer({ pid: program.pid })
    answer(await program.ended)
  } catch (error) {
    // If `spawn` finds no free file descriptor, Node leaks those that it has opened before.
    answer({ error: error instanceof Error ? error.message : '', isSpent: hasCode(error, 'EMFILE', 'ENFILE') })
  }
  endCall(id)
}

const folder = mkdtempSync(join(tmpdir(), 'ganglion-git-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('disconnect', endAll)
// Ignores signals: a server that shuts down may need its programs until the end, and this process ends with it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
const path = join(folder, 's')
createServer(takeConnection)
  .on('error', () => process.exit(1))
  .listen(path, () => process.send?.(path))
