import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { writeSynced } from '../../system/durable-file.ts'
import { readIfThere } from '../../system/read-if-there.ts'
import type { Oid } from '../objects/object.ts'
import { unlessMissing } from './stale-lock.ts'

const oidLength = 40

/** The refs that stand together in one file (gitrepository-layout(5)), in its order. */
export function readPackedRefs(gitDir: string): Map<string, Oid> {
  const entries = readLines(gitDir).filter((line) => isEntry(line))
  return new Map(entries.map((line) => [line.slice(oidLength + 1), line.slice(0, oidLength)]))
}

/** Finds one packed ref without parsing the others: each request does this. */
export function findPackedRef(gitDir: string, ref: string): Oid | undefined {
  const text = readText(gitDir)
  const end = text.indexOf(` ${ref}\n`)
  return end < 0 ? undefined : text.slice(end - oidLength, end)
}

/** Takes refs out of the file, durably, if they are in it. The caller holds its lock. */
export async function removePackedRefs(gitDir: string, refs: ReadonlySet<string>): Promise<void> {
  let isRemoved = false
  const lines = readLines(gitDir)
  const kept = lines.filter((line) => {
    // The target of a tag is in a line of its own behind it.
    if (isEntry(line)) isRemoved = refs.has(line.slice(oidLength + 1))
    return !isRemoved || line.startsWith('#')
  })
  if (kept.length === lines.length) return
  const path = join(gitDir, 'packed-refs.new')
  // Only the holder of the lock may have this file, so an existing one is left from a writer that was killed.
  await unlink(path).catch(unlessMissing)
  await writeSynced(path, kept.map((line) => `${line}\n`).join(''))
  await rename(path, join(gitDir, 'packed-refs'))
}

function isEntry(line: string): boolean {
  return !line.startsWith('#') && !line.startsWith('^')
}

function readLines(gitDir: string): string[] {
  return readText(gitDir).split('\n').filter(Boolean)
}

/** The file, with a line end at its end; nothing where there is none. */
function readText(gitDir: string): string {
  const text = readIfThere(join(gitDir, 'packed-refs'))
  return text === undefined ? '' : `${text.trimEnd()}\n`
}
