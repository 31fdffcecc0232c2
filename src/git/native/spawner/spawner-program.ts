import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, type Order } from './launch.ts'
import {
  connectedDescriptors,
  type FromSpawner,
  maxConnectionHead,
  parseConnectionHead,
  type ToSpawner,
} from './protocol.ts'

/**
 * A small process that starts programs for a large one. `fork` copies the page tables of the process that calls it, which takes
 * milliseconds for each hundred megabytes. What the programs read and write does not pass through here: they inherit
 * connections to the large process. This process ends when the large one does, and ends its programs first.
 */

/** A program that was asked for, or has a connection, or both; or one that runs. */
type Call = {
  order?: Order
  connections: Map<number, Socket>
  /** Ends it if not all of it arrives. */
  timer: NodeJS.Timeout
  isComplete: boolean
  kill?: (signal: NodeJS.Signals) => void
}

/** Milliseconds for a connection to say what it is for, and for a program to get all of its connections. */
const patience = 10_000
const lineFeed = 0x0a

const calls = new Map<string, Call>()

function tell(message: FromSpawner): void {
  if (!process.connected) return
  process.send?.(message, undefined, undefined, (error) => {
    if (error !== null) endAll()
  })
}

/** The large process is gone. */
function endAll(): void {
  for (const { kill } of calls.values()) kill?.('SIGKILL')
  process.exit()
}

function callOf(id: string): Call {
  const begin = () => ({ connections: new Map(), timer: setTimeout(() => forget(id), patience), isComplete: false })
  return calls.getOrInsertComputed(id, begin)
}

function forget(id: string): void {
  const call = calls.get(id)
  calls.delete(id)
  clearTimeout(call?.timer)
  for (const connection of call?.connections.values() ?? []) connection.destroy()
}

function fail(id: string, { message, code }: NodeJS.ErrnoException): void {
  forget(id)
  // Where `spawn` finds no file descriptors, Node never closes those that it had opened before.
  tell({ kind: 'failed', id, message, isSpent: code === 'EMFILE' || code === 'ENFILE' })
}

process.on('message', (message: ToSpawner) => {
  const { kind, id } = message
  if (kind === 'start') {
    callOf(id).order = message.order
    startIfComplete(id)
  } else if (kind === 'kill') {
    calls.get(id)?.kill?.(message.signal)
  } else if (calls.get(id)?.isComplete !== true) {
    fail(id, new Error('a connection to it was cut'))
  }
})

function takeConnection(connection: Socket): void {
  const timer = setTimeout(() => connection.destroy(), patience)
  let head = Buffer.alloc(0)
  const read = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    if (head.length > maxConnectionHead) connection.destroy()
    if (head.at(-1) !== lineFeed) return
    clearTimeout(timer)
    // Nothing but its end follows before the program has started.
    connection.off('data', read).resume()
    const { id, descriptor } = parseConnectionHead(head.toString('latin1', 0, head.length - 1))
    const { connections } = callOf(id)
    connections.set(descriptor, connection)
    connection.once('close', () => {
      connections.delete(descriptor)
      if (connections.size === 0 && calls.get(id)?.order === undefined) forget(id)
    })
    startIfComplete(id)
  }
  connection
    .on('data', read)
    .on('error', () => {})
    .once('close', () => clearTimeout(timer))
}

function startIfComplete(id: string): void {
  const call = calls.get(id)
  if (call?.order === undefined || call.isComplete) return
  const { order, connections } = call
  if (!connectedDescriptors(order).every((descriptor) => connections.has(descriptor))) return
  call.isComplete = true
  clearTimeout(call.timer)
  start(id, call, order).catch((error: Error) => fail(id, error))
}

async function start(id: string, call: Call, order: Order): Promise<void> {
  const { connections } = call
  const stdio = [connections.get(0) ?? 'ignore', connections.get(1) ?? 'ignore'] as const
  const { pid, channels, ended, kill } = await launch(order, ...stdio)
  call.kill = kill
  // The program has these, and its end must be theirs.
  for (const descriptor of [0, 1]) connections.get(descriptor)?.destroy()
  // Programs expect streams that block, which only these two are made to be.
  for (const [index, channel] of channels.entries()) {
    const connection = connections.get(3 + index)
    if (connection !== undefined) connection.pipe(channel).pipe(connection)
  }
  tell({ kind: 'started', id, pid })
  const end = await ended
  forget(id)
  tell({ kind: 'ended', id, end })
}

const folder = mkdtempSync(join(tmpdir(), 'ganglion-git-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('disconnect', endAll)
// A server that shuts down may need its programs until it ends, and then this process ends, too.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
const path = join(folder, 's')
createServer(takeConnection)
  .on('error', () => process.exit(1))
  .listen(path, () => tell({ kind: 'listening', path }))
