/**
 * A preload (`node --import`) that breaks the file system for files below a folder: what opens, writes, flushes, renames
 * or links them fails at random, or is written down, or never reaches the disk.
 *
 * `FAILING_FS` is a JSON object of {@link Plan}. Nothing happens until the file `switch` exists.
 */
import fs from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { sep } from 'node:path'

export type Plan = {
  /** Files below a folder of this name are meant. */
  below: string
  switch: string
  /** `fail`: of all operations, `rate` fail with one of `codes`. `forget`: flushes do nothing. Both may keep a `log` of what was done. */
  mode: 'fail' | 'forget' | 'record'
  rate?: number
  codes?: string[]
  seed?: number
  log?: string
}

type Operation = 'open' | 'write' | 'fsync' | 'rename' | 'link'

const plan: Plan = JSON.parse(process.env.FAILING_FS ?? '{}')
const { rate = 0, codes = ['EIO'], log = '' } = plan
const real = { ...fs.promises }
const paths = new WeakMap<FileHandle, string>()
let state = plan.seed ?? 1

/** mulberry32, by Tommy Ettinger: the same seed gives the same faults. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

function concerns(path: unknown): path is string {
  return typeof path === 'string' && path.includes(`${sep}${plan.below}${sep}`) && fs.existsSync(plan.switch)
}

/** Fails, where it is this operation's turn to. */
function meet(operation: Operation, path: unknown): void {
  if (!concerns(path) || plan.mode !== 'fail' || random() >= rate) return
  const fitting = operation === 'open' ? codes : codes.filter((code) => code !== 'EMFILE')
  const code = fitting[Math.floor(random() * fitting.length)] ?? 'EIO'
  throw Object.assign(new Error(`${code}: injected, ${operation} '${path}'`), { code, syscall: operation, path })
}

/** Writes down what has been done. */
function record(operation: Operation, path: unknown): void {
  if (concerns(path) && plan.mode !== 'fail' && log !== '')
    fs.appendFileSync(log, `${JSON.stringify([operation, path])}\n`)
}

async function open(path: string, ...rest: [flags?: string, mode?: number]): Promise<FileHandle> {
  meet('open', path)
  const handle = await real.open(path, ...rest)
  paths.set(handle, path)
  const { writeFile, sync } = handle
  handle.writeFile = async (data, options) => {
    try {
      meet('write', path)
    } catch (error) {
      // A disk that fills up takes the beginning.
      if (typeof data === 'string' || Buffer.isBuffer(data))
        await writeFile.call(handle, data.slice(0, data.length / 2))
      throw error
    }
    await writeFile.call(handle, data, options)
    record('write', path)
  }
  handle.sync = async () => {
    meet('fsync', path)
    if (plan.mode === 'forget' && concerns(path)) return
    await sync.call(handle)
    record('fsync', path)
  }
  return handle
}

async function writeFile(path: string, ...rest: [data: string]): Promise<void> {
  meet('write', path)
  await real.writeFile(path, ...rest)
  record('write', path)
}

async function rename(from: string, to: string): Promise<void> {
  meet('rename', to)
  await real.rename(from, to)
  record('rename', to)
}

async function link(from: string, to: string): Promise<void> {
  meet('link', to)
  await real.link(from, to)
  record('link', to)
}

Object.assign(fs.promises, { open, writeFile, rename, link })
syncBuiltinESMExports()
