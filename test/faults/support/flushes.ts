import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

type Entry = [operation: string, path: string]

/**
 * Returns, from the record of a file system's operations, for each ref that was moved the packs written before it that had not been
 * flushed, and whether the ref itself was flushed afterwards; empty if writes are durable.
 */
export function unflushed(log: string): string[] {
  const entries = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Entry => JSON.parse(line))
  return entries.flatMap(([operation, path], position) => {
    if (operation !== 'rename' || !/\/refs\/[^.]+$/.test(path)) return []
    const [before, after] = [entries.slice(0, position), entries.slice(position + 1)]
    return [...unflushedPacks(before), ...unflushedRef(path, before, after)].map((problem) => `${path}: ${problem}`)
  })
}

function unflushedPacks(before: readonly Entry[]): string[] {
  const renamed = before.flatMap(([operation, path], at) =>
    operation === 'rename' && isPack(path) ? [{ path, at }] : [],
  )
  return renamed.flatMap(({ path, at }) => {
    const name = path.slice(path.lastIndexOf('pack-') + 'pack-'.length)
    const isSynced = before.slice(0, at).some(([operation, other]) => operation === 'fsync' && other.includes(name))
    const isNamed = before.slice(at).some(([operation, other]) => operation === 'fsync' && other === dirname(path))
    return [
      ...(isSynced ? [] : [`${name} was not flushed`]),
      ...(isNamed ? [] : [`the name of ${name} was not flushed`]),
    ]
  })
}

function unflushedRef(path: string, before: readonly Entry[], after: readonly Entry[]): string[] {
  const gitDir = path.slice(0, path.indexOf('/refs/'))
  const owner = before.findLast(([operation, other]) => operation === 'write' && dirname(other) === gitDir)?.[1]
  const isSynced = before.some(([operation, other]) => operation === 'fsync' && other === owner)
  // Before the next write begins: by then the one before it is acknowledged.
  const next = after.findIndex(([operation]) => operation === 'write')
  const own = next < 0 ? after : after.slice(0, next)
  const isNamed = own.some(([operation, other]) => operation === 'fsync' && other === dirname(path))
  return [...(isSynced ? [] : ['its commit was not flushed']), ...(isNamed ? [] : ['its name was not flushed'])]
}

function isPack(path: string): boolean {
  return /\/pack-[0-9a-f]{40}\.(?:pack|idx)$/.test(path)
}
