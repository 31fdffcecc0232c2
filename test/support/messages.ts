import { readSync, writeSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'

export type Program = {
  command: string
  args: readonly string[]
  cwd: string
  env: NodeJS.ProcessEnv
  input: string | Buffer
}

export type Outcome = {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: Uint8Array
  stderr: Uint8Array
  /** Reason why it could not be started. */
  problem: string | undefined
}

const lengthBytes = 4

/** Writes a value to a pipe, and waits until all of it is taken. */
export function writeMessage(pipe: number, value: unknown): void {
  const body = serialize(value)
  const message = Buffer.alloc(lengthBytes + body.length)
  message.writeUInt32LE(body.length)
  body.copy(message, lengthBytes)
  for (let at = 0; at < message.length; ) at += writeSync(pipe, message, at)
}

/** Waits for the next value on a pipe. Undefined at its end. */
export function readMessage<Value>(pipe: number): Value | undefined {
  const length = readBytes(pipe, lengthBytes)
  const body = length && readBytes(pipe, length.readUInt32LE())
  return body && deserialize(body)
}

function readBytes(pipe: number, count: number): Buffer | undefined {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; ) {
    const read = readSync(pipe, bytes, at, count - at, null)
    if (read === 0) return undefined
    at += read
  }
  return bytes
}
